/*
 * What a user has granted, and is not given: what that leaves behind; or what
 * is to be read again before it can be told.
 */

#include "ngx_svc_oauth_granted_refuse.h"
#include "ngx_svc_oauth_grant.h"
#include "ngx_svc_oauth_granted_sql.h"
#include "ngx_svc_oauth_refusal.h"


static ngx_int_t ngx_svc_oauth_granted_spend_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_granted_spent(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_granted_revoke_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_granted_revoked(ngx_svc_request_t *sr);
static ngx_uint_t ngx_svc_oauth_granted_known(ngx_svc_oauth_t *o,
    ngx_int_t *rc);


/* Ends a grant, and with it all its tokens; and tells of it once. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_granted_revoke = {
    .name = "oauth_granted_revoke",
    .text =
        "WITH z AS ("
            "UPDATE svc.oauth_grant k SET revoked_at = now(), reason = $3"
            " FROM (" NGX_SVC_OAUTH_APPLICATION("k.name, k.type", "$2::text")
                ") a"
            " WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.id = $1::text::uuid"
                " AND k.revoked_at IS NULL"
            " RETURNING k.id, k.user_id, k.client_id, a.name, a.type, k.reason"
        "), f AS ("
            NGX_SVC_AUDIT_INTO("actor_type, actor_id, actor_name, ip,"
                               " user_agent, request_id, ")
            NGX_SVC_AUDIT_ROWS(
                "CASE z.type WHEN 'agent' THEN 'agent' ELSE 'application' END,"
                " z.client_id, z.name, $4::text::inet, $5::text, $6::text, "
                NGX_SVC_A_OAUTH_GRANT_REVOKED(NGX_SVC_AUDIT_BOTH),
                "z.id::text", "NULL",
                "jsonb_build_object('reason', z.reason,"
                    " 'clientId', z.client_id, 'userId', z.user_id)",
                "FROM z")
        ")"
        " SELECT FROM z",
    NGX_SVC_PARAMS(ngx_svc_oauth_granted_param(id),
                   ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_granted_param(replayed),
                   { .bind = ngx_svc_oauth_client_bind_from, .n = 0 },
                   { .bind = ngx_svc_oauth_client_bind_from, .n = 1 },
                   { .bind = ngx_svc_oauth_client_bind_from, .n = 2 })
};


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
 * 1: the client is there, and its secret good, as when it was read; 0: *rc is
 * what the reply returns.
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
