/*
 * Requests whose op has failed: what the client is told, and what is logged.
 */

#include "ngx_svc_request_failed.h"
#include "ngx_svc_auth.h"
#include "ngx_svc_header.h"
#include "ngx_svc_send.h"


#define NGX_SVC_REQUEST_CANCELED  "57014"   /* SQLSTATE: statement_timeout */


static ngx_int_t ngx_svc_request_internal(ngx_svc_request_t *sr,
    const char *state);
static void ngx_svc_request_say(ngx_svc_request_t *sr, ngx_uint_t level,
    const char *state);


ngx_int_t
ngx_svc_request_failed(ngx_svc_request_t *sr)
{
    ngx_int_t    rc;
    const char  *name, *state;
    PGresult    *error;

    if (sr->refused) {
        rc = sr->refused(sr);

        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    error = sr->op->error;

    name = PQresultErrorField(error, PG_DIAG_CONSTRAINT_NAME);
    state = PQresultErrorField(error, PG_DIAG_SQLSTATE);

    sr->error.kind = NGX_SVC_E_NONE;

    if (name && ngx_svc_constraint(sr, name) == NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_pg_op_transient(sr->op)) {
        ngx_svc_request_say(sr, NGX_LOG_INFO, state);

        if (sr->slow && ngx_strcmp(state, NGX_SVC_REQUEST_CANCELED) == 0) {
            return ngx_svc_send_unavailable(sr, sr->slow);
        }

        return ngx_svc_send_unavailable(sr,
                       "The database could not do it now: nothing was done, "
                       "try again.");
    }

    return ngx_svc_request_internal(sr, state);
}


static ngx_int_t
ngx_svc_request_internal(ngx_svc_request_t *sr, const char *state)
{
    ngx_str_t  id;

    id = ngx_svc_request_id(sr->request);

    ngx_svc_request_say(sr, NGX_LOG_ERR, state);

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INTERNAL,
                        "The server failed to answer; its error log knows "
                        "the request as %V.", &id);

    return ngx_svc_send_error(sr);
}


/*
 * Logs an error of PostgreSQL.  What may work later is logged at level info for
 * each request: many have the same error, which is logged at a higher level
 * once in a while.  The detail line of PostgreSQL's message is left out, since
 * it would hold a client's data.
 */

static void
ngx_svc_request_say(ngx_svc_request_t *sr, ngx_uint_t level,
    const char *state)
{
    char        *message;
    ngx_str_t    id, tenant, text;
    PGresult    *credential;

    ngx_str_set(&tenant, "-");

    credential = ngx_svc_auth_result(sr);

    if (!(sr->route->flags & NGX_SVC_ROUTE_PUBLIC)
        && PQresultStatus(credential) == PGRES_TUPLES_OK
        && PQntuples(credential))
    {
        tenant = ngx_svc_auth_tenant(sr->op->results);
    }

    id = ngx_svc_request_id(sr->request);
    state = state ? state : "";
    message = PQresultErrorField(sr->op->error, PG_DIAG_MESSAGE_PRIMARY);
    text = ngx_svc_pg_message(message ? message : "");

    if (level == NGX_LOG_INFO) {
        ngx_svc_pg_log(NGX_LOG_ERR, state, &text);
    }

    ngx_log_error(level, sr->request->connection->log, 0,
                  "svc: PostgreSQL: %s %V, tenant: %V, request id: %V",
                  state, &text, &tenant, &id);
}
