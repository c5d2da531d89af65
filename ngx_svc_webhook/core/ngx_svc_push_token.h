/*
 * The bearer tokens of SCIM targets, as the database holds them.
 */

#ifndef _NGX_SVC_PUSH_TOKEN_H_INCLUDED_
#define _NGX_SVC_PUSH_TOKEN_H_INCLUDED_


#include "ngx_svc_sealed.h"


#define NGX_SVC_PUSH_TOKEN     NGX_SVC_SEALED_TEXT     /* bytes, at most */

/* What they are sealed for, beside the id of the target. */
#define NGX_SVC_PUSH_TOKEN_OF  "scim_target"


/*
 * target: its id as text; column: as PostgreSQL writes a bytea, "\x" and
 * digits.  token has room for NGX_SVC_PUSH_TOKEN bytes, *len is set: the
 * caller wipes them.  NGX_OK; NGX_DECLINED when it is not authentic, or the key
 * file does not have its key any more; NGX_ERROR.
 */
ngx_int_t ngx_svc_push_token_open(const ngx_str_t *target,
    const ngx_str_t *column, u_char *token, size_t *len);


#endif /* _NGX_SVC_PUSH_TOKEN_H_INCLUDED_ */
