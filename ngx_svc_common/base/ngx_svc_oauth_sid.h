/*
 * The claim "sid" of ID tokens and logout tokens, by which a client knows a
 * session (OpenID Connect Front-Channel Logout 1.0, 3; Back-Channel Logout 1.0,
 * 2.4).
 */

#ifndef _NGX_SVC_OAUTH_SID_H_INCLUDED_
#define _NGX_SVC_OAUTH_SID_H_INCLUDED_


#include "ngx_svc_crypto.h"


#define NGX_SVC_OAUTH_SID  22       /* characters of base64url */


/*
 * Makes the "sid" from a tenant, the root of a session, which is the id of its
 * first row, and a client.  It differs for each client, so that two clients
 * cannot tell that they have the same session.  It does not depend on a key
 * file, since a client would miss the logout if the file changed.  Both ids are
 * bytes; sid has room for NGX_SVC_OAUTH_SID characters.  Returns NGX_OK, or
 * NGX_ERROR when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_oauth_sid(
    const u_char tenant[NGX_SVC_UUID_LEN],
    const u_char root[NGX_SVC_UUID_LEN], const ngx_str_t *client, u_char *sid);


#endif /* _NGX_SVC_OAUTH_SID_H_INCLUDED_ */
