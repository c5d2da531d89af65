/*
 * The grant type refresh_token (RFC 6749, 6).
 *
 * Each use of a token gives a successor.  A client that presents the token
 * again within a short while gets the same successor: answers get lost, and
 * tabs refresh at the same time.  Later, or when the successor has been used,
 * somebody else has the token, too, and its grant is revoked.
 *
 * A client with the FAPI 2.0 profile keeps its refresh token (Security Profile,
 * 5.3.2.1-9).
 */

#include "ngx_svc_oauth_granted.h"
#include "ngx_svc_oauth_token.h"


static ngx_int_t ngx_svc_oauth_refresh_check(ngx_svc_oauth_t *o);


#include "ngx_svc_oauth_refresh.sql.h"


static const ngx_svc_oauth_granted_type_t  ngx_svc_oauth_refresh_type = {
    .give = { &ngx_svc_sql_oauth_refresh, &ngx_svc_sql_oauth_refresh_agent },
    .told = &ngx_svc_sql_oauth_refresh_told,
    .again = { &ngx_svc_sql_oauth_refresh_again,
               &ngx_svc_sql_oauth_refresh_again_agent },
    .kept = { &ngx_svc_sql_oauth_refresh_kept,
              &ngx_svc_sql_oauth_refresh_kept_agent },
    .refreshes = 1,
    .unknown = "refresh",
    .group = "refresh_group",
    .unasked = "refresh_unasked",
    .replayed = ngx_string("refresh_reused")
};

const ngx_svc_oauth_grant_t  ngx_svc_oauth_refresh = {
    .name = ngx_string("refresh_token"),
    .metric = NGX_SVC_M_TOKEN_REFRESH,
    .login = NGX_SVC_OAUTH_LOGIN_SYNC,
    .check = ngx_svc_oauth_refresh_check,
    .first = &ngx_svc_sql_oauth_refresh_read,
    .statement = &ngx_svc_sql_oauth_granted_client,
    .wider = &ngx_svc_sql_oauth_refresh_read_wider,
    .wider_alone = 1,
    .decide = ngx_svc_oauth_granted_decide,
    .id_token = ngx_svc_oauth_granted_id_token,
    .more = ngx_svc_oauth_granted_more
};


static ngx_int_t
ngx_svc_oauth_refresh_check(ngx_svc_oauth_t *o)
{
    ngx_int_t                 rc;
    ngx_str_t                 token;
    ngx_svc_main_conf_t      *smcf;
    ngx_svc_oauth_granted_t  *granted;

    smcf = ngx_http_get_module_main_conf(o->sr->request,
                                         ngx_http_svc_common_module);

    granted = ngx_svc_oauth_granted_new(o, &ngx_svc_oauth_refresh_type);
    if (granted == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_granted_presented(o, "refresh_token", &token);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_resource(o));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_scope(o));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_refresh_token_successors(&smcf->keys, &token,
                                                    granted->digest.data,
                                                    &granted->tokens);
    }

    o->wider = ngx_svc_oauth_client_row_wider(o);

    return rc == NGX_OK
           ? ngx_svc_oauth_refresh_token_digests(o->sr->request->pool,
                                                 &granted->tokens,
                                                 &granted->digests)
           : rc;
}
