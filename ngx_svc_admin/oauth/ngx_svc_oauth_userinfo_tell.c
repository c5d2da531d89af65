/*
 * What /oauth/userinfo tells about a user.
 *
 * Most claims come with the token's row.  For groups and roles, which few
 * clients ask for, there is another round trip.
 */

#include "ngx_svc_oauth_userinfo_tell.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_claims_kept.h"
#include "ngx_svc_oauth_userinfo_refusal.h"


/* o->data, once the token is known to live. */

typedef struct {
    ngx_svc_oauth_claims_t  claims;
    ngx_svc_pg_array_t      chain;      /* the actors */
} ngx_svc_oauth_userinfo_t;


static ngx_int_t ngx_svc_oauth_userinfo_named(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_lives_t *lives, ngx_svc_oauth_claims_t *claims);
static ngx_int_t ngx_svc_oauth_userinfo_more(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_userinfo_told(ngx_svc_request_t *sr);


#include "ngx_svc_oauth_userinfo_tell.sql.h"


ngx_int_t
ngx_svc_oauth_userinfo_tell(ngx_svc_oauth_t *o, PGresult *res,
    const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_today_t *today)
{
    ngx_svc_oauth_userinfo_t  *told;

    told = ngx_pcalloc(o->sr->request->pool, sizeof(ngx_svc_oauth_userinfo_t));
    if (told == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    told->chain = lives->chain;
    told->claims.wanted = ngx_svc_oauth_claims_of(&today->scopes);
    told->claims.user = res;

    if (ngx_svc_oauth_userinfo_named(o, lives, &told->claims) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!(told->claims.wanted
          & (NGX_SVC_OAUTH_CLAIM_GROUPS|NGX_SVC_OAUTH_CLAIM_ROLES)))
    {
        return ngx_svc_oauth_claims_send(o->sr, &told->claims, &told->chain);
    }

    o->data = told;

    if (ngx_svc_oauth_claims_about(o, &lives->user_id) != NGX_OK
        || ngx_svc_oauth_copy(o->sr, &o->client.id, &lives->client_id)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(o->sr, NGX_SVC_PG_READ,
                                 ngx_svc_oauth_userinfo_more,
                                 ngx_svc_oauth_userinfo_told);
}


/* Adds the claims that the client asked for by their names. */

static ngx_int_t
ngx_svc_oauth_userinfo_named(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_lives_t *lives, ngx_svc_oauth_claims_t *claims)
{
    ngx_str_t           text, scope;
    ngx_uint_t          i, bit;
    ngx_svc_pg_array_t  named;

    text = ngx_svc_row_value(claims->user, 0, "named");

    if (ngx_svc_pg_array_read(o->sr->request->pool, &text, &named) != NGX_OK) {
        return NGX_ERROR;
    }

    if (named.n < 2) {
        return NGX_OK;
    }

    claims->acr = ngx_svc_oauth_acr(&named.elts[--named.n]);
    claims->auth_time = named.elts[--named.n];

    for (i = 0; i < named.n; i++) {
        bit = ngx_svc_oauth_claims_kept(&named.elts[i],
                                        NGX_SVC_OAUTH_IN_USERINFO, &scope);

        if (bit && ngx_svc_oauth_lives_keeps(lives, &scope)) {
            claims->wanted |= bit;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_userinfo_more(ngx_svc_request_t *sr)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_t           *o;
    ngx_svc_oauth_userinfo_t  *told;

    o = sr->data;
    told = o->data;

    rc = ngx_svc_route_call(sr, &ngx_svc_sql_oauth_userinfo_tenant, NULL);

    return rc == NGX_OK ? ngx_svc_oauth_claims_calls(o, &told->claims) : rc;
}


/* The user may have been deleted between the two round trips. */

static ngx_int_t
ngx_svc_oauth_userinfo_told(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_t           *o;
    ngx_svc_oauth_userinfo_t  *told;

    o = sr->data;
    told = o->data;

    ngx_svc_oauth_claims_take(o, &told->claims);

    if (PQntuples(told->claims.user) == 0) {
        return ngx_svc_oauth_userinfo_refuse(sr) == NGX_ERROR
               ? NGX_HTTP_INTERNAL_SERVER_ERROR : ngx_svc_send_error(sr);
    }

    return ngx_svc_oauth_claims_send(sr, &told->claims, &told->chain);
}
