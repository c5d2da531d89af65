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

#define NGX_SVC_PUSH_BODY  1024         /* bytes of a body, a first guess */

#define ngx_svc_push_plain(w, key, text)                                      \
    ngx_svc_json_plain(w, key, (u_char *) text, sizeof(text) - 1)


/* An attribute whose value is a text. */

typedef struct {
    const char   *parent;               /* the member it is in, or NULL */
    const char   *name;
    const char   *path;                 /* path in PATCH's operations */
    size_t        offset;               /* in ngx_svc_push_want_t */
} ngx_svc_push_attribute_t;


/*
 * The last one has no name.  New attributes are added at the end:
 * svc.scim_item.sent has a bit for each, by its place here.
 */
extern const ngx_svc_push_attribute_t  ngx_svc_push_attributes[];


/* Returns the value that is wanted; empty: the attribute is not set. */
const ngx_str_t *ngx_svc_push_value(const ngx_svc_push_want_t *want,
    const ngx_svc_push_attribute_t *attribute);

/* The bit of an attribute. */
#define ngx_svc_push_bit(attribute)                                           \
    ((ngx_uint_t) 1 << ((attribute) - ngx_svc_push_attributes))

/* Returns the bits of the attributes that have a value. */
ngx_uint_t ngx_svc_push_bits(const ngx_svc_push_want_t *want);

/*
 * Returns whether an attribute was set from here, so that it is removed when
 * it is not set any more.  All other attributes of a target are left alone.
 */
ngx_uint_t ngx_svc_push_ours(const ngx_svc_push_want_t *want,
    const ngx_svc_push_attribute_t *attribute);

/*
 * Compares two attributes' names in any case (RFC 7643, 2.1); NUL-terminated.
 */
ngx_uint_t ngx_svc_push_same(const char *one, const char *two);

/* Writes the whole name as one text, unless the user has no name. */
void ngx_svc_push_attribute_formatted(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_push_want_t *want);

/* Writes the e-mail address as an element of "emails". */
void ngx_svc_push_attribute_email(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want);

/*
 * Sets body to what was written, in the writer's pool.  NGX_ERROR: no memory.
 */
ngx_int_t ngx_svc_push_attribute_end(ngx_svc_json_writer_t *w,
    ngx_str_t *body);


#endif /* _NGX_SVC_PUSH_ATTRIBUTE_H_INCLUDED_ */
