/*
 * Refusals of what a user has granted.
 */

#include "ngx_svc_oauth_granted_refuse.h"
#include "ngx_svc_oauth_grant.h"
#include "ngx_svc_oauth_refusal.h"


static ngx_int_t ngx_svc_oauth_granted_spend_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_granted_spent(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_granted_revoke_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_granted_revoked(ngx_svc_request_t *sr);
static ngx_uint_t ngx_svc_oauth_granted_known(ngx_svc_oauth_t *o,
    ngx_int_t *rc);


#include "ngx_svc_oauth_granted_refuse.sql.h"


ngx_int_t
ngx_svc_oauth_granted_refuse(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    if (granted->judged
        && ngx_strcmp(granted->verdict, granted->replayed.data) == 0)
    {
        return ngx_svc_request_again(o->sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_oauth_granted_revoke_calls,
                                     ngx_svc_oauth_granted_revoked);
    }

    if (granted->judged && granted->taken) {
        return ngx_svc_request_again(o->sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_oauth_granted_spend_calls,
                                     ngx_svc_oauth_granted_spent);
    }

    return ngx_svc_oauth_client_row_refuse(o, &granted->client,
                                           granted->verdict);
}


static ngx_int_t
ngx_svc_oauth_granted_spend_calls(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_t          *o;
    ngx_svc_oauth_granted_t  *granted;

    o = sr->data;
    granted = o->data;

    sr->op->committed = NULL;

    return ngx_svc_oauth_client_call_then(o, granted->type->spend);
}


static ngx_int_t
ngx_svc_oauth_granted_spent(ngx_svc_request_t *sr)
{
    PGresult                 *res;
    ngx_int_t                 rc;
    ngx_svc_oauth_t          *o;
    ngx_svc_oauth_granted_t  *granted;

    o = sr->data;
    granted = o->data;

    if (!ngx_svc_oauth_granted_known(o, &rc)) {
        return rc;
    }

    res = ngx_svc_result(sr, granted->type->spend);

    if (PQcmdTuples(res)[0] != '1') {
        return ngx_svc_oauth_granted_again(o);
    }

    return ngx_svc_oauth_client_row_refuse(o, &granted->client,
                                           granted->verdict);
}


static ngx_int_t
ngx_svc_oauth_granted_revoke_calls(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_client_call_then(sr->data,
                                          &ngx_svc_sql_oauth_granted_revoke);
}


static ngx_int_t
ngx_svc_oauth_granted_revoked(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_t          *o;
    ngx_svc_oauth_granted_t  *granted;

    o = sr->data;
    granted = o->data;

    return ngx_svc_oauth_granted_known(o, &rc)
           ? ngx_svc_oauth_client_row_refuse(o, &granted->client,
                                             granted->verdict)
           : rc;
}


/*
 * Returns 1 if the client is still there, and its secret good; 0: *rc is what
 * the reply returns.
 */

static ngx_uint_t
ngx_svc_oauth_granted_known(ngx_svc_oauth_t *o, ngx_int_t *rc)
{
    PGresult  *login;

    login = ngx_svc_oauth_client_result(o);
    *rc = ngx_svc_oauth_client_known(o, login);

    if (*rc == NGX_OK) {
        return 1;
    }

    *rc = *rc == NGX_DECLINED
          ? ngx_svc_oauth_refuse_client(o, login)
          : NGX_HTTP_INTERNAL_SERVER_ERROR;

    return 0;
}


ngx_int_t
ngx_svc_oauth_granted_again(ngx_svc_oauth_t *o)
{
    o->wider = 1;

    return ngx_svc_oauth_grant_again(o);
}
