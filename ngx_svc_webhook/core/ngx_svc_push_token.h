/*
 * The bearer tokens of SCIM targets, as PostgreSQL has them.
 */

#ifndef _NGX_SVC_PUSH_TOKEN_H_INCLUDED_
#define _NGX_SVC_PUSH_TOKEN_H_INCLUDED_


#include "ngx_svc_sealed.h"


#define NGX_SVC_PUSH_TOKEN     NGX_SVC_SEALED_TEXT     /* bytes, at most */

/* A token is sealed for this and for the id of its target. */
#define NGX_SVC_PUSH_TOKEN_OF  "scim_target"


/*
 * Opens a token.  target: its id as text; column: a bytea as PostgreSQL writes
 * it, "\x" and digits.  token has room for NGX_SVC_PUSH_TOKEN bytes, *len is
 * set; the caller must wipe the token.  NGX_OK; NGX_DECLINED: it is not
 * authentic, or its key is not in the file any more; NGX_ERROR: OpenSSL fails.
 */
ngx_int_t ngx_svc_push_token_open(const ngx_str_t *target,
    const ngx_str_t *column, u_char *token, size_t *len);


#endif /* _NGX_SVC_PUSH_TOKEN_H_INCLUDED_ */
