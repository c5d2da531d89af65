/*
 * Requests that wait for the keys that their client publishes.
 */

#include "ngx_svc_oauth_published.h"
#include "ngx_svc_oauth_client.h"
#include "ngx_svc_oauth_client_keys.h"
#include "ngx_svc_oauth_client_keys.row.h"
#include "ngx_svc_oauth_fragments.row.h"
#include "ngx_svc_oauth_jwks.h"


static ngx_int_t ngx_svc_oauth_published_ask(ngx_svc_oauth_t *o);


ngx_int_t
ngx_svc_oauth_published(ngx_svc_oauth_t *o,
    ngx_int_t (*calls)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr))
{
    if (ngx_svc_oauth_published_ask(o) == NGX_ERROR) {
        return NGX_ERROR;
    }

    return ngx_svc_published_wait(&ngx_svc_oauth_jwks_kind, &o->client.id,
                                  o->sr, NGX_SVC_PG_READ, calls, reply);
}


/* Asks for them, unless that was done just now. */

static ngx_int_t
ngx_svc_oauth_published_ask(ngx_svc_oauth_t *o)
{
    u_char                           tenant[NGX_SVC_UUID_LEN];
    ngx_svc_row_login_found_t        login;
    ngx_svc_row_oauth_client_keys_t  row;

    ngx_svc_row_oauth_client_keys(&row,
        ngx_svc_result(o->sr, &ngx_svc_sql_oauth_client_keys), 0);

    if (!row.askable) {
        return NGX_DECLINED;
    }

    ngx_svc_row_login_found(&login, ngx_svc_oauth_client_result(o), 0, 0);

    return ngx_svc_uuid_parse(login.tenant.data, login.tenant.len, tenant)
           == NGX_OK
           ? ngx_svc_published_refresh(&ngx_svc_oauth_jwks_kind, tenant,
                                       &o->client.id)
           : NGX_ERROR;
}
