/*
 * /v1/admin/access-policy/simulate: the sign-ins of the last days under the
 * policy in force, and under a candidate.
 */

#include "ngx_svc_admin_access.h"
#include "ngx_svc_access_cache.h"
#include "ngx_svc_access_eval.h"
#include "ngx_svc_access_lockout.h"
#include "ngx_svc_admin_simulate.row.h"


#define NGX_SVC_ADMIN_SIMULATE_DAYS  30
#define NGX_SVC_ADMIN_SIMULATE_IPS   1000
#define NGX_SVC_ADMIN_SIMULATE_ROW   256    /* bytes, first guess */


typedef struct {
    ngx_svc_access_result_t         current;
    ngx_svc_access_result_t         candidate;
    ngx_uint_t                      changed;
} ngx_svc_admin_simulated_t;

typedef struct {
    ngx_svc_access_policy_t        *candidate;
    const ngx_svc_access_policy_t  *current;
    int                             n;          /* addresses */
    int64_t                         sign_ins;
    ngx_uint_t                      summary[NGX_SVC_ACCESS_DENY + 1];
    ngx_uint_t                      nchanged;
    ngx_svc_admin_simulated_t      *rows;
} ngx_svc_admin_simulate_t;


static ngx_int_t ngx_svc_admin_simulate_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_simulate_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_simulate_body(ngx_svc_request_t *sr,
    ngx_svc_access_policy_t **policy);
static ngx_int_t ngx_svc_admin_simulate_rows(ngx_svc_admin_simulate_t *sim,
    PGresult *res);
static ngx_int_t ngx_svc_admin_simulate_evaluate(
    ngx_svc_admin_simulate_t *sim, ngx_svc_admin_simulated_t *row,
    const ngx_svc_row_admin_simulate_sign_ins_t *sign_in);
static void ngx_svc_admin_simulate_sample(ngx_svc_json_writer_t *w,
    ngx_svc_admin_simulate_t *sim, PGresult *period, PGresult *res);
static void ngx_svc_admin_simulate_summary(ngx_svc_json_writer_t *w,
    ngx_svc_admin_simulate_t *sim);
static void ngx_svc_admin_simulate_results(ngx_svc_json_writer_t *w,
    ngx_svc_admin_simulate_t *sim, PGresult *res);
static void ngx_svc_admin_simulate_row(ngx_svc_json_writer_t *w,
    ngx_svc_admin_simulate_t *sim, const ngx_svc_row_t *columns, int row);
static void ngx_svc_admin_simulate_result(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_access_policy_t *policy,
    ngx_svc_access_result_t result);
static void ngx_svc_admin_simulate_lockout(ngx_svc_json_writer_t *w,
    const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_caller_t *caller);


#include "ngx_svc_admin_simulate.sql.h"


const ngx_svc_route_t  ngx_svc_admin_simulate[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/access-policy/simulate"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SLOW_POOL,
      .check = ngx_svc_admin_simulate_check,
      .statements = { &ngx_svc_sql_admin_simulate_policy,
                      &ngx_svc_sql_admin_simulate_sign_ins },
      .reply = ngx_svc_admin_simulate_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_simulate_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_simulate_t  *sim;

    sim = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_simulate_t));
    if (sim == NULL) {
        return NGX_ERROR;
    }

    sr->data = sim;

    return ngx_svc_admin_simulate_body(sr, &sim->candidate);
}


/* Reads the candidate: as a PUT takes it, or wrapped in a member. */

static ngx_int_t
ngx_svc_admin_simulate_body(ngx_svc_request_t *sr,
    ngx_svc_access_policy_t **policy)
{
    cJSON       *json;
    ngx_uint_t   i;

    static const char *const  wrappers[] = { "policy", "accessPolicy" };

    for (i = 0; i < 2; i++) {
        json = cJSON_GetObjectItemCaseSensitive(sr->json, wrappers[i]);

        if (json == NULL) {
            continue;
        }

        if (!cJSON_IsObject(json)) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must be an object.", wrappers[i]);
        }

        return ngx_svc_access_parse(sr->request->pool, ngx_svc_zones(), json,
                                    wrappers[i],
                                    NGX_SVC_S_STRICT|NGX_SVC_S_READ_BACK,
                                    policy, &sr->error);
    }

    return ngx_svc_access_parse(sr->request->pool, ngx_svc_zones(), sr->json,
                                "", NGX_SVC_S_STRICT|NGX_SVC_S_READ_BACK,
                                policy, &sr->error);
}


static ngx_int_t
ngx_svc_admin_simulate_reply(ngx_svc_request_t *sr)
{
    PGresult                             *policy, *res;
    ngx_svc_json_writer_t                 w;
    ngx_svc_access_caller_t               caller;
    ngx_svc_admin_simulate_t             *sim;
    ngx_svc_row_admin_simulate_policy_t   row;

    sim = sr->data;
    policy = ngx_svc_result(sr, &ngx_svc_sql_admin_simulate_policy);
    res = ngx_svc_result(sr, &ngx_svc_sql_admin_simulate_sign_ins);

    sim->n = ngx_min(PQntuples(res), NGX_SVC_ADMIN_SIMULATE_IPS);
    ngx_svc_row_admin_simulate_policy(&row, policy, 0);
    sim->current = ngx_svc_admin_access_in_force(sr, &row.access_in_force);

    if (sim->current == NULL) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INTERNAL,
                            "The access policy in force cannot be read any "
                            "more, as the error log says: put another one in "
                            "its place.");
        return ngx_svc_send_error(sr);
    }

    sim->rows = ngx_palloc(sr->request->pool,
                           sim->n * sizeof(ngx_svc_admin_simulated_t) + 1);

    if (sim->rows == NULL
        || ngx_svc_admin_simulate_rows(sim, res) != NGX_OK
        || ngx_svc_access_caller(sr, &caller) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool,
                                    512 + sim->n * NGX_SVC_ADMIN_SIMULATE_ROW)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    ngx_svc_admin_simulate_sample(&w, sim, policy, res);
    ngx_svc_admin_simulate_summary(&w, sim);
    ngx_svc_admin_simulate_results(&w, sim, res);
    ngx_svc_admin_simulate_lockout(&w, sim->candidate, &caller);

    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_admin_simulate_rows(ngx_svc_admin_simulate_t *sim, PGresult *res)
{
    int                                    i;
    ngx_svc_row_admin_simulate_sign_ins_t  row;

    for (i = 0; i < sim->n; i++) {
        ngx_svc_row_admin_simulate_sign_ins(&row, res, i);

        if (ngx_svc_admin_simulate_evaluate(sim, &sim->rows[i], &row)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        sim->sign_ins += row.sign_ins;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_simulate_evaluate(ngx_svc_admin_simulate_t *sim,
    ngx_svc_admin_simulated_t *row,
    const ngx_svc_row_admin_simulate_sign_ins_t *sign_in)
{
    time_t                    at;
    ngx_svc_addr_t            addr;
    ngx_svc_access_country_t  code;

    at = sign_in->epoch;

    if (at == NGX_ERROR
        || ngx_svc_addr_parse(sign_in->ip.data, sign_in->ip.len, &addr)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_memzero(&code, sizeof(ngx_svc_access_country_t));

    if (sign_in->country.len == 2) {
        ngx_memcpy(code.code, sign_in->country.data, 2);
    }

    row->current = ngx_svc_access_evaluate(sim->current, &addr, code, at);
    row->candidate = ngx_svc_access_evaluate(sim->candidate, &addr, code, at);
    row->changed = row->current.action != row->candidate.action;

    sim->summary[row->candidate.action]++;
    sim->nchanged += row->changed;

    return NGX_OK;
}


static void
ngx_svc_admin_simulate_sample(ngx_svc_json_writer_t *w,
    ngx_svc_admin_simulate_t *sim, PGresult *period, PGresult *res)
{
    ngx_svc_row_t  columns;

    ngx_svc_row_init(&columns, period);

    ngx_svc_json_open(w, "sample", '{');
    ngx_svc_json_integer(w, "signIns", sim->sign_ins);
    ngx_svc_json_integer(w, "distinctIps", sim->n);
    ngx_svc_row_write(w, &columns, 0);
    ngx_svc_json_boolean(w, "truncated", PQntuples(res) > sim->n);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_simulate_summary(ngx_svc_json_writer_t *w,
    ngx_svc_admin_simulate_t *sim)
{
    ngx_svc_json_open(w, "summary", '{');
    ngx_svc_json_integer(w, "allow", sim->summary[NGX_SVC_ACCESS_ALLOW]);
    ngx_svc_json_integer(w, "mfa", sim->summary[NGX_SVC_ACCESS_MFA]);
    ngx_svc_json_integer(w, "deny", sim->summary[NGX_SVC_ACCESS_DENY]);
    ngx_svc_json_integer(w, "changed", sim->nchanged);
    ngx_svc_json_integer(w, "unchanged", sim->n - sim->nchanged);
    ngx_svc_json_close(w, '}');
}


/* Addresses whose result changes come first. */

static void
ngx_svc_admin_simulate_results(ngx_svc_json_writer_t *w,
    ngx_svc_admin_simulate_t *sim, PGresult *res)
{
    int            i;
    ngx_uint_t     changed;
    ngx_svc_row_t  columns;

    ngx_svc_row_init(&columns, res);

    ngx_svc_json_open(w, "results", '[');

    changed = 1;

    do {
        for (i = 0; i < sim->n; i++) {
            if (sim->rows[i].changed == changed) {
                ngx_svc_admin_simulate_row(w, sim, &columns, i);
            }
        }
    } while (changed--);

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_admin_simulate_row(ngx_svc_json_writer_t *w,
    ngx_svc_admin_simulate_t *sim, const ngx_svc_row_t *columns, int row)
{
    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_row_write(w, columns, row);
    ngx_svc_admin_simulate_result(w, "current", sim->current,
                                  sim->rows[row].current);
    ngx_svc_admin_simulate_result(w, "candidate", sim->candidate,
                                  sim->rows[row].candidate);
    ngx_svc_json_boolean(w, "changed", sim->rows[row].changed);

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_simulate_result(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_access_policy_t *policy, ngx_svc_access_result_t result)
{
    const ngx_str_t  *action, *name;

    action = ngx_svc_access_action(result.action);
    name = ngx_svc_access_rule_name(policy, result.rule);

    ngx_svc_json_open(w, key, '{');
    ngx_svc_json_plain(w, "action", action->data, action->len);

    if (name) {
        ngx_svc_json_string(w, "rule", name->data, name->len);

    } else {
        ngx_svc_json_null(w, "rule");
    }

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_simulate_lockout(ngx_svc_json_writer_t *w,
    const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_caller_t *caller)
{
    ngx_int_t                rule;
    ngx_svc_access_result_t  result;

    result = ngx_svc_access_evaluate(policy, &caller->addr, caller->country,
                                     caller->now);

    ngx_svc_json_open(w, "lockout", '{');
    ngx_svc_json_boolean(w, "wouldLockOutCaller",
                         result.action == NGX_SVC_ACCESS_DENY);
    ngx_svc_json_boolean(w, "denyAll",
                         ngx_svc_access_denies_all(policy, &rule));
    ngx_svc_json_close(w, '}');
}
