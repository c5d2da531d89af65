/*
 * What a client is told of a session: the claim "sid" of ID tokens and of
 * logout tokens (OpenID Connect Front-Channel Logout 1.0, 3; Back-Channel
 * Logout 1.0, 2.4).
 */

#ifndef _NGX_SVC_OAUTH_SID_H_INCLUDED_
#define _NGX_SVC_OAUTH_SID_H_INCLUDED_


#include "ngx_svc_crypto.h"


#define NGX_SVC_OAUTH_SID  22       /* characters of base64url */


/*
 * Of a tenant, the root of a session and a client: another one for each client,
 * so that two of them cannot tell that their sessions are one, and no other one
 * when a key file changes, or a client would miss the logout.  Both ids are
 * bytes; sid has room for NGX_SVC_OAUTH_SID characters.  NGX_OK, or NGX_ERROR
 * when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_oauth_sid(
    const u_char tenant[NGX_SVC_UUID_LEN],
    const u_char root[NGX_SVC_UUID_LEN], const ngx_str_t *client, u_char *sid);


#endif /* _NGX_SVC_OAUTH_SID_H_INCLUDED_ */
