/*
 * Outbound SCIM: reads resources of a target, which may have any form.
 */

#ifndef _NGX_SVC_PUSH_READ_H_INCLUDED_
#define _NGX_SVC_PUSH_READ_H_INCLUDED_


#include "ngx_svc_push.h"

#include <cjson/cJSON.h>


#define NGX_SVC_PUSH_ID  1024           /* bytes of an id there, at most */


typedef enum {
    NGX_SVC_PUSH_BY_NAME = 0,           /* userName, in any case */
    NGX_SVC_PUSH_BY_ID                  /* externalId */
} ngx_svc_push_by_e;


/* Returns a member, whose name may be in any case (RFC 7643, 2.1), or NULL. */
const cJSON *ngx_svc_push_read_member(const cJSON *resource, const char *name);

/*
 * Sets text to that of a member.  NGX_DECLINED: it is no text; text is empty.
 */
ngx_int_t ngx_svc_push_read_text(const cJSON *resource, const char *name,
    ngx_str_t *text);

/*
 * Returns whether a member is this text, in any case unless exact.  A member
 * that is no text counts as empty.
 */
ngx_uint_t ngx_svc_push_read_is(const cJSON *resource, const char *name,
    const ngx_str_t *value, ngx_uint_t exact);

/*
 * Sets id to the id of a resource, of whose memory it is.  NGX_DECLINED: there
 * is none that can be in a URL.
 */
ngx_int_t ngx_svc_push_read_id(const cJSON *resource, ngx_str_t *id);

/* Returns 1, 0, or -1: "active" is no boolean. */
ngx_int_t ngx_svc_push_read_active(const cJSON *resource);

/* Returns the resources of a list; NULL: there are none. */
const cJSON *ngx_svc_push_read_list(const cJSON *list);

/*
 * Returns how many resources of a list are the user's, whatever the target was
 * asked for, and sets *resource to one of them.
 */
ngx_uint_t ngx_svc_push_read_find(const cJSON *list,
    const ngx_svc_push_want_t *want, ngx_svc_push_by_e by,
    const cJSON **resource);


#endif /* _NGX_SVC_PUSH_READ_H_INCLUDED_ */
