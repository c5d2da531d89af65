/*
 * Ids in bodies.
 */

#include "ngx_svc_admin_user.h"
#include "ngx_svc_crypto.h"


ngx_uint_t
ngx_svc_admin_id_exact(const ngx_str_t *text)
{
    u_char  id[NGX_SVC_UUID_LEN], same[NGX_SVC_UUID_TEXT_LEN];

    if (ngx_svc_uuid_parse(text->data, text->len, id) != NGX_OK) {
        return 0;
    }

    ngx_svc_uuid_text(same, id);

    return ngx_memcmp(same, text->data, sizeof(same)) == 0;
}


ngx_int_t
ngx_svc_admin_bind_ids(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const cJSON *id, size_t n)
{
    u_char     *p;
    ngx_str_t   text;

    p = ngx_pnalloc(sr->request->pool,
                    sizeof("{}") + n * (NGX_SVC_UUID_TEXT_LEN + 1));
    if (p == NULL) {
        return NGX_ERROR;
    }

    text.data = p;
    *p++ = '{';

    for ( /* void */ ; n; n--, id = id->next) {
        p = ngx_cpymem(p, id->valuestring, NGX_SVC_UUID_TEXT_LEN);

        if (n > 1) {
            *p++ = ',';
        }
    }

    *p++ = '}';
    text.len = p - text.data;

    ngx_svc_pg_bind_str(call, &text);

    return NGX_OK;
}
