/*
 * Outbound SCIM: the attributes of a user that are pushed.
 */

#ifndef _NGX_SVC_PUSH_ATTRIBUTE_H_INCLUDED_
#define _NGX_SVC_PUSH_ATTRIBUTE_H_INCLUDED_


#include "ngx_svc_push.h"

#include "ngx_svc_json_write.h"


#define NGX_SVC_PUSH_CORE  "urn:ietf:params:scim:schemas:core:2.0:User"
#define NGX_SVC_PUSH_ENTERPRISE                                               \
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

#define NGX_SVC_PUSH_BODY  1024         /* bytes, a first guess */

#define ngx_svc_push_plain(w, key, text)                                      \
    ngx_svc_json_plain(w, key, (u_char *) text, sizeof(text) - 1)


/* An attribute that is a text. */

typedef struct {
    const char   *parent;               /* or NULL */
    const char   *name;
    const char   *path;                 /* for operations */
    size_t        offset;               /* in ngx_svc_push_want_t */
} ngx_svc_push_attribute_t;


/*
 * The last one has no name.  New ones come behind the others: by their places
 * svc.scim_item.sent knows them.
 */
extern const ngx_svc_push_attribute_t  ngx_svc_push_attributes[];


/* What is wanted of an attribute; empty: it is not set. */
const ngx_str_t *ngx_svc_push_value(const ngx_svc_push_want_t *want,
    const ngx_svc_push_attribute_t *attribute);

/* The bit of an attribute, and those that are wanted. */
#define ngx_svc_push_bit(attribute)                                           \
    ((ngx_uint_t) 1 << ((attribute) - ngx_svc_push_attributes))
ngx_uint_t ngx_svc_push_bits(const ngx_svc_push_want_t *want);

/*
 * Whether an attribute is from here, and so goes when it is not set any more;
 * what else a target has is its own.
 */
ngx_uint_t ngx_svc_push_ours(const ngx_svc_push_want_t *want,
    const ngx_svc_push_attribute_t *attribute);

/* Whether two names are one (RFC 7643, 2.1); NUL-terminated. */
ngx_uint_t ngx_svc_push_same(const char *one, const char *two);

/* Write the whole name, unless there is none; and the address. */
void ngx_svc_push_attribute_formatted(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_push_want_t *want);
void ngx_svc_push_attribute_email(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want);

/* What was written, of the writer's pool; NGX_ERROR: memory. */
ngx_int_t ngx_svc_push_attribute_end(ngx_svc_json_writer_t *w,
    ngx_str_t *body);


#endif /* _NGX_SVC_PUSH_ATTRIBUTE_H_INCLUDED_ */
