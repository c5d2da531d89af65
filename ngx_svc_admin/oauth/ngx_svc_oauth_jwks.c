/*
 * Keys that clients publish: what fetches and stores them.
 */

#include "ngx_svc_oauth_jwks.h"
#include "ngx_svc_application_keys.h"
#include "ngx_svc_application.h"
#include "ngx_svc_pg_task.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_OAUTH_JWKS_TAKEN    16          /* clients in a round */
#define NGX_SVC_OAUTH_JWKS_LIMIT    262144      /* bytes of an answer */
#define NGX_SVC_OAUTH_JWKS_TIME     8000        /* ms */


static ngx_int_t ngx_svc_oauth_jwks_claimed(ngx_svc_published_t *jwks,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_jwks_set(ngx_svc_published_t *jwks,
    const ngx_str_t *uri, const ngx_str_t *asked_at);
static ngx_int_t ngx_svc_oauth_jwks_answered(ngx_svc_published_t *jwks);
static ngx_int_t ngx_svc_oauth_jwks_store(ngx_svc_published_t *jwks,
    ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_oauth_jwks_take_bind(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call);
static void ngx_svc_oauth_jwks_taken(ngx_svc_pg_op_t *op);


#include "ngx_svc_oauth_jwks.sql.h"


static ngx_svc_pg_task_t  ngx_svc_oauth_jwks_take = {
    .statement = &ngx_svc_sql_oauth_jwks_take,
    .bind = ngx_svc_oauth_jwks_take_bind,
    .done = ngx_svc_oauth_jwks_taken,
    .pool = NGX_SVC_PG_SLOW,
    .period = 5000,
    .pause = 500,
    .full = NGX_SVC_OAUTH_JWKS_TAKEN,
    .failed = "keys that clients publish cannot be looked for"
};

const ngx_svc_published_kind_t  ngx_svc_oauth_jwks_kind = {
    .claim = &ngx_svc_sql_oauth_jwks_claim,
    .claimed = ngx_svc_oauth_jwks_claimed,
    .answered = ngx_svc_oauth_jwks_answered,
    .store = ngx_svc_oauth_jwks_store,
    .accept = ngx_string("Accept: application/jwk-set+json, application/json"),
    .time = NGX_SVC_OAUTH_JWKS_TIME,
    .failed = "keys that a client publishes cannot be fetched"
};


void
ngx_svc_oauth_jwks_init_worker(ngx_cycle_t *cycle)
{
    ngx_svc_pg_task_init(&ngx_svc_oauth_jwks_take, cycle);
}


void
ngx_svc_oauth_jwks_exit_worker(void)
{
    ngx_svc_pg_task_exit(&ngx_svc_oauth_jwks_take);
}


void
ngx_svc_oauth_jwks_committed(const ngx_svc_pg_results_t *results,
    const ngx_str_t *client_id)
{
    u_char     id[NGX_SVC_UUID_LEN];
    ngx_str_t  tenant;

    ngx_svc_request_committed(results);

    if (client_id->data == NULL
        || ngx_svc_committed_tenant(results, &tenant) != NGX_OK
        || ngx_svc_uuid_parse(tenant.data, tenant.len, id) != NGX_OK)
    {
        return;
    }

    (void) ngx_svc_published_refresh(&ngx_svc_oauth_jwks_kind, id, client_id);
}


static ngx_int_t
ngx_svc_oauth_jwks_claimed(ngx_svc_published_t *jwks, PGresult *res)
{
    ngx_svc_row_oauth_jwks_claim_t  row;

    ngx_svc_row_oauth_jwks_claim(&row, res, 0);

    return ngx_svc_oauth_jwks_set(jwks, &row.jwks_uri, &row.asked_at);
}


static ngx_int_t
ngx_svc_oauth_jwks_set(ngx_svc_published_t *jwks, const ngx_str_t *uri,
    const ngx_str_t *asked_at)
{
    jwks->fetch.limit = NGX_SVC_OAUTH_JWKS_LIMIT;

    return ngx_svc_published_copy(jwks, &jwks->fetch.url, uri) == NGX_OK
           ? ngx_svc_published_copy(jwks, &jwks->asked_at, asked_at)
           : NGX_ERROR;
}


static ngx_int_t
ngx_svc_oauth_jwks_answered(ngx_svc_published_t *jwks)
{
    ngx_int_t    rc;
    const char  *why;

    rc = ngx_svc_application_keys_keep(jwks->pool, &jwks->fetch.answer,
                                       &jwks->text, &why);

    if (rc == NGX_DECLINED) {
        ngx_str_null(&jwks->text);
        jwks->error.data = (u_char *) why;
        jwks->error.len = ngx_strlen(why);
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_jwks_store(ngx_svc_published_t *jwks, ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_pg_call(op, &ngx_svc_sql_admin_application_lock);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &jwks->id);

    call = ngx_svc_pg_call(op, jwks->text.data
                               ? &ngx_svc_sql_oauth_jwks_store
                               : &ngx_svc_sql_oauth_jwks_failed);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &jwks->id);
    ngx_svc_pg_bind_str(call, &jwks->asked_at);

    if (jwks->text.data == NULL) {
        ngx_svc_pg_bind_str(call, &jwks->error);
        return NGX_OK;
    }

    ngx_svc_pg_bind_str(call, &jwks->text);

    return ngx_svc_pg_bind_int(op, call, ngx_svc_published_age(jwks));
}


/* A node that cannot fetch leaves them to others. */

static ngx_int_t
ngx_svc_oauth_jwks_take_bind(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call)
{
    return ngx_svc_fetch_ready() ? NGX_OK : NGX_ERROR;
}


static void
ngx_svc_oauth_jwks_taken(ngx_svc_pg_op_t *op)
{
    int                             i;
    PGresult                       *res;
    ngx_svc_published_t            *jwks;
    ngx_svc_row_oauth_jwks_take_t   row;

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_oauth_jwks_take);

    for (i = 0; i < PQntuples(res); i++) {
        ngx_svc_row_oauth_jwks_take(&row, res, i);

        jwks = ngx_svc_published_create(&ngx_svc_oauth_jwks_kind, &row.tenant,
                                        &row.client_id);

        if (jwks) {
            ngx_svc_published_fetch(jwks,
                ngx_svc_oauth_jwks_set(jwks, &row.jwks_uri, &row.asked_at));
        }
    }
}
