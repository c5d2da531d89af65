/*
 * The claim "sid", by which a client knows a session.
 */

#include "ngx_svc_oauth_sid.h"
#include "ngx_svc_base64.h"


#define NGX_SVC_OAUTH_SID_CLIENT  64        /* bytes: a clientId is shorter */


ngx_int_t
ngx_svc_oauth_sid(const u_char tenant[NGX_SVC_UUID_LEN],
    const u_char root[NGX_SVC_UUID_LEN], const ngx_str_t *client, u_char *sid)
{
    u_char  *p, hash[NGX_SVC_SHA256_LEN];
    u_char   text[ngx_svc_base64url_len(NGX_SVC_SHA256_LEN)];
    u_char   session[2 * NGX_SVC_UUID_LEN + NGX_SVC_OAUTH_SID_CLIENT];

    if (client->len > NGX_SVC_OAUTH_SID_CLIENT) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(session, tenant, NGX_SVC_UUID_LEN);
    p = ngx_cpymem(p, root, NGX_SVC_UUID_LEN);
    p = ngx_cpymem(p, client->data, client->len);

    if (ngx_svc_sha256(session, p - session, hash) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(text, hash, NGX_SVC_SHA256_LEN);
    ngx_memcpy(sid, text, NGX_SVC_OAUTH_SID);

    return NGX_OK;
}
