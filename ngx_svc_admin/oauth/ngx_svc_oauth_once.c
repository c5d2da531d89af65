/*
 * What is shown once only.
 *
 * That it is, is a row, of the transaction that it is shown to: whether the
 * request is granted or not, it is spent.
 */

#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_assertion.h"
#include "ngx_svc_oauth_client.h"
#include "ngx_svc_oauth_live.h"


static ngx_int_t ngx_svc_oauth_once_add(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement);


/* SQL: who may spend one.  $3: the client, $4: by its id alone. */

#define NGX_SVC_OAUTH_ONCE_CLIENT                                             \
    "t.id = " NGX_SVC_TENANT                                                  \
    " AND EXISTS (SELECT FROM ("                                              \
        NGX_SVC_OAUTH_APPLICATION("k.auth_method", "$3") ") a"                \
        " WHERE (a.auth_method = 'none') = $4::bool)"

#define NGX_SVC_OAUTH_ONCE_PARAMS                                             \
    ngx_svc_oauth_param(once),                                                \
    ngx_svc_oauth_param(once_seconds),                                        \
    ngx_svc_oauth_param(client.id),                                           \
    ngx_svc_oauth_param(client.public)

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_once = {
    .name = "oauth_once",
    .text =
        "WITH i AS ("
            "INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)"
            " SELECT t.id, $1, now() + make_interval(secs => $2::text::float8)"
            " FROM svc.tenant t WHERE " NGX_SVC_OAUTH_ONCE_CLIENT
            " ON CONFLICT DO NOTHING RETURNING digest"
        ")"
        " SELECT CASE WHEN EXISTS (SELECT FROM i) THEN 'new' ELSE 'seen' END",
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_ONCE_PARAMS)
};

/*
 * Of an assertion, $5, and of the proof that came with it: $1, or NULL without
 * one.  The first column is of the proof, the second one of the assertion.
 */

#define NGX_SVC_OAUTH_ONCE_ASSERTION(seen)                                    \
    "WITH i AS ("                                                             \
        "INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)"          \
        " SELECT t.id, d.digest, now() + make_interval(secs => d.secs)"       \
        " FROM svc.tenant t, (VALUES ($1::bytea, $2::text::float8),"          \
            " ($5, " NGX_SVC_OAUTH_ASSERTION_KEPT ")) d (digest, secs)"       \
        " WHERE d.digest IS NOT NULL AND " NGX_SVC_OAUTH_ONCE_CLIENT          \
        " ON CONFLICT DO NOTHING RETURNING digest"                            \
    ")"                                                                       \
    " SELECT CASE WHEN $1 IS NULL"                                            \
            " OR EXISTS (SELECT FROM i WHERE i.digest = $1)"                  \
            " THEN 'new' ELSE 'seen' END,"                                    \
        " CASE WHEN EXISTS (SELECT FROM i WHERE i.digest = $5)"               \
            " THEN 'new' ELSE " seen " END"

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_once_assertion = {
    .name = "oauth_once_assertion",
    .text = NGX_SVC_OAUTH_ONCE_ASSERTION("'seen'"),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_ONCE_PARAMS,
                   ngx_svc_oauth_param(client.once))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_once_only = {
    .name = "oauth_once_only",
    .text = NGX_SVC_OAUTH_ONCE_ASSERTION(
                "'seen' || set_config('svc.tenant', '', true)"),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_ONCE_PARAMS,
                   ngx_svc_oauth_param(client.once))
};


ngx_int_t
ngx_svc_oauth_once_call(ngx_svc_oauth_t *o)
{
    return ngx_svc_oauth_once_add(o, o->client.once.data
                                     ? &ngx_svc_sql_oauth_once_assertion
                                     : &ngx_svc_sql_oauth_once);
}


ngx_int_t
ngx_svc_oauth_once_call_only(ngx_svc_oauth_t *o)
{
    return ngx_svc_oauth_once_add(o, o->client.once.data
                                     ? &ngx_svc_sql_oauth_once_only
                                     : &ngx_svc_sql_oauth_once);
}


static ngx_int_t
ngx_svc_oauth_once_add(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement)
{
    if (!ngx_svc_oauth_once_shown(o) || o->once_spent) {
        return NGX_OK;
    }

    /* another op of the request comes when they are spent */

    o->once_spent = 1;
    o->looks = statement;
    o->sr->op->kind = NGX_SVC_PG_WRITE;

    return ngx_svc_route_call(o->sr, statement, NULL);
}


void
ngx_svc_oauth_once_take(ngx_svc_oauth_t *o)
{
    PGresult  *res, *login;

    if (o->looks == NULL) {
        return;
    }

    login = ngx_svc_oauth_client_result(o);
    res = ngx_svc_result(o->sr, o->looks);

    o->looks = NULL;

    if (PQntuples(login) == 0 || PQgetisnull(login, 0, 0)) {
        return;
    }

    o->proof_seen = (*PQgetvalue(res, 0, 0) == 's');

    if (o->client.once.data && *PQgetvalue(res, 0, 1) == 's') {
        o->assertion_seen = 1;
        ngx_svc_oauth_once_tell(o, "has been used");
    }
}


void
ngx_svc_oauth_once_unspent(ngx_svc_oauth_t *o)
{
    o->once_spent = 0;
    o->looks = NULL;
}


/* What is no clientId is not logged: it is anybody's text. */

void
ngx_svc_oauth_once_tell(ngx_svc_oauth_t *o, const char *why)
{
    ngx_str_t  id;

    static const ngx_str_t  nobody = ngx_string("-");

    id = ngx_svc_application_id(&o->client.id) ? o->client.id : nobody;

    ngx_log_error(NGX_LOG_INFO, o->sr->request->connection->log, 0,
                  "svc: the assertion of the client \"%V\" is refused: it %s",
                  &id, why);
}
