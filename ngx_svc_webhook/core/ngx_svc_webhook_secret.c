/*
 * The secrets that webhooks are signed with, as PostgreSQL has them.
 */

#include "ngx_svc_webhook_secret.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_WEBHOOK_SECRET_OF  "webhook_endpoint"


ngx_int_t
ngx_svc_webhook_secret_seal(const ngx_str_t *endpoint, const u_char *secret,
    u_char *out, size_t *len)
{
    ngx_str_t  text;

    text.data = (u_char *) secret;
    text.len = NGX_SVC_WEBHOOK_SECRET;

    return ngx_svc_sealed_seal(NGX_SVC_WEBHOOK_SECRET_OF, endpoint, &text, out,
                               len);
}


ngx_int_t
ngx_svc_webhook_secret_open(const ngx_str_t *endpoint, const ngx_str_t *column,
    u_char *secret)
{
    size_t     len;
    ngx_int_t  rc;

    len = NGX_SVC_WEBHOOK_SECRET;

    rc = ngx_svc_sealed_open(NGX_SVC_WEBHOOK_SECRET_OF, endpoint, column,
                             secret, &len);

    return rc == NGX_OK && len != NGX_SVC_WEBHOOK_SECRET ? NGX_DECLINED : rc;
}
