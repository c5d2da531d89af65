/*
 * What all kinds of credentials have in common.
 */

#include "ngx_svc_auth.h"
#include "ngx_svc_auth.row.h"
#include "ngx_svc_base_url.h"
#include "ngx_svc_bearer.h"
#include "ngx_svc_turn.h"


#define NGX_SVC_TOUCH_SLOTS    64


/*
 * Many requests see the same old time of last use before the statement that
 * writes it anew has ended, so a worker sends one such statement at a time for
 * each slot.  A credential whose slot is busy is written by a later request.
 */

typedef struct {
    ngx_pool_t  *pool;          /* of the op under way, or NULL */
} ngx_svc_touch_t;


static void ngx_svc_auth_touch(ngx_svc_request_t *sr);
static ngx_svc_pg_op_t *ngx_svc_auth_touch_op(ngx_svc_request_t *sr,
    ngx_svc_touch_t *touch);
static void ngx_svc_auth_touched(ngx_svc_pg_op_t *op);


static ngx_svc_touch_t  ngx_svc_touches[NGX_SVC_TOUCH_SLOTS];


/* If there is an Authorization header, the cookie of a session is ignored. */

ngx_int_t
ngx_svc_auth_take(ngx_svc_request_t *sr)
{
    ngx_int_t             rc;
    ngx_uint_t            session;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);
    session = sr->route->flags & NGX_SVC_ROUTE_SESSION;

    if (sr->request->headers_in.authorization) {

        if (session) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                                "This takes a session, and no "
                                "\"Authorization\" header.");
        }

    } else if (smcf->sessions == sr->surface) {
        sr->credential = sr->surface->session;

        rc = sr->credential->take(sr);

        if (rc != NGX_DONE) {
            return rc;
        }

        if (session) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHENTICATED,
                                "There is no session: sign in.");
        }
    }

    sr->credential = &ngx_svc_bearer;

    return sr->credential->take(sr);
}


ngx_int_t
ngx_svc_auth_call(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    if (sr->credential == NULL) {
        return NGX_OK;
    }

    rc = sr->credential->call(sr);

    sr->op->nhidden = sr->op->ncalls - 1;

    return rc;
}


/*
 * Refuses the request by the first result, whatever error was found before: a
 * client without a good credential learns of no other error.
 */

ngx_int_t
ngx_svc_auth_check(ngx_svc_request_t *sr)
{
    PGresult                  *res;
    ngx_svc_row_credential_t   row;

    res = ngx_svc_auth_result(sr);

    /* the statement that only finds a session has no other column */

    if (ngx_svc_auth_tenant(sr->op->results).data == NULL) {
        sr->error.kind = NGX_SVC_E_NONE;
        return sr->credential->refuse(sr, res);
    }

    ngx_svc_row_credential(&row, res, 0, 0);
    ngx_svc_base_url_read(sr, res);

    /*
     * A stream that goes on, or is opened again behind what its client has
     * seen, does not show that a person uses the session.
     */

    if (row.touch && !(sr->session && (sr->stream || sr->resumed))) {
        ngx_svc_auth_touch(sr);
    }

    return NGX_OK;
}


ngx_str_t
ngx_svc_auth_tenant(const ngx_svc_pg_results_t *results)
{
    PGresult  *res;

    res = ngx_svc_pg_result_first(results);

    return ngx_svc_pg_value(PQntuples(res) ? res : NULL, 0, 0);
}


/* The request does not wait for this; if it fails, the next one tries again. */

static void
ngx_svc_auth_touch(ngx_svc_request_t *sr)
{
    ngx_str_t         tenant;
    ngx_svc_touch_t  *touch;
    ngx_svc_pg_op_t  *op;

    tenant = ngx_svc_auth_tenant(sr->op->results);
    touch = &ngx_svc_touches[sr->token_hash[0] % NGX_SVC_TOUCH_SLOTS];

    if (touch->pool || ngx_svc_turn_learn(sr, &tenant) != NGX_OK) {
        return;
    }

    touch->pool = ngx_create_pool(1024, ngx_cycle->log);
    if (touch->pool == NULL) {
        return;
    }

    op = ngx_svc_auth_touch_op(sr, touch);

    if (op == NULL || ngx_svc_pg_submit(op) != NGX_OK) {
        ngx_destroy_pool(touch->pool);
        touch->pool = NULL;
    }
}


static ngx_svc_pg_op_t *
ngx_svc_auth_touch_op(ngx_svc_request_t *sr, ngx_svc_touch_t *touch)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_auth_op(sr, touch->pool, NGX_SVC_PG_SLOW,
                         ngx_svc_auth_touched);
    if (op == NULL) {
        return NULL;
    }

    op->data = touch;

    call = ngx_svc_pg_call(op, sr->credential->touch);
    if (call == NULL) {
        return NULL;
    }

    ngx_svc_pg_bind(call, (u_char *) op->calls[0].values[0],
                    NGX_SVC_SHA256_LEN);

    return op;
}


/* The digest and the tenant's id are copied: they end with the request. */

ngx_svc_pg_op_t *
ngx_svc_auth_op(ngx_svc_request_t *sr, ngx_pool_t *pool,
    ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler)
{
    u_char           *hash;
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_pg_op_create(pool, kind, handler, NULL);
    hash = ngx_pnalloc(pool, NGX_SVC_SHA256_LEN + NGX_SVC_UUID_LEN);
    if (op == NULL || hash == NULL) {
        return NULL;
    }

    ngx_memcpy(hash, sr->token_hash, NGX_SVC_SHA256_LEN);

    if (sr->tenant_known) {
        op->tenant = hash + NGX_SVC_SHA256_LEN;
        ngx_memcpy(hash + NGX_SVC_SHA256_LEN, sr->tenant, NGX_SVC_UUID_LEN);
    }

    return sr->credential->find(sr, op, hash) == NGX_OK ? op : NULL;
}


static void
ngx_svc_auth_touched(ngx_svc_pg_op_t *op)
{
    ngx_str_t         text;
    ngx_svc_touch_t  *touch;

    if (op->status == NGX_SVC_PG_FAILED) {
        text = ngx_svc_pg_message(PQresultErrorMessage(op->error));
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "svc: lastUsedAt of a token was not written: %V", &text);
    }

    touch = op->data;

    ngx_destroy_pool(touch->pool);
    touch->pool = NULL;
}
