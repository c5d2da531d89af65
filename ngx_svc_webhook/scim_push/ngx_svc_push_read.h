/*
 * Outbound SCIM: resources of a target, which may be of any form.
 */

#ifndef _NGX_SVC_PUSH_READ_H_INCLUDED_
#define _NGX_SVC_PUSH_READ_H_INCLUDED_


#include "ngx_svc_push.h"

#include <cjson/cJSON.h>


#define NGX_SVC_PUSH_ID  1024           /* bytes of a remote id, at most */


typedef enum {
    NGX_SVC_PUSH_BY_NAME = 0,           /* userName, in any case */
    NGX_SVC_PUSH_BY_ID                  /* externalId */
} ngx_svc_push_by_e;


/* A member, whose name may be in any case (RFC 7643, 2.1), or NULL. */
const cJSON *ngx_svc_push_read_member(const cJSON *resource, const char *name);

/* The text of a member; NGX_DECLINED: it is none, and text is empty. */
ngx_int_t ngx_svc_push_read_text(const cJSON *resource, const char *name,
    ngx_str_t *text);

/*
 * Whether a member is this text, in any case unless exact; one that is no text
 * is like an empty one.
 */
ngx_uint_t ngx_svc_push_read_is(const cJSON *resource, const char *name,
    const ngx_str_t *value, ngx_uint_t exact);

/*
 * The id of a resource, which points into it.  NGX_DECLINED: there is none that
 * can be in a URL.
 */
ngx_int_t ngx_svc_push_read_id(const cJSON *resource, ngx_str_t *id);

/* 1, 0, or -1 when it does not say so with a boolean. */
ngx_int_t ngx_svc_push_read_active(const cJSON *resource);

/* The resources of a list; NULL: it has none. */
const cJSON *ngx_svc_push_read_list(const cJSON *list);

/*
 * How many resources of a list are the user's, whatever the target has been
 * asked for; and one of them.
 */
ngx_uint_t ngx_svc_push_read_find(const cJSON *list,
    const ngx_svc_push_want_t *want, ngx_svc_push_by_e by,
    const cJSON **resource);


#endif /* _NGX_SVC_PUSH_READ_H_INCLUDED_ */
