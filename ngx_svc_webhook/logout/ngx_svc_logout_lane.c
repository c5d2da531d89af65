/*
 * In the helper: tells applications of sessions that have ended.
 *
 * The transaction that ends a session inserts a row into svc.oauth_logout.
 * The application is somebody else's server: only the status of its answer is
 * used, and any 2xx is a success (2.8), since some answer 204.
 */

#include "ngx_svc_logout_lane.h"
#include "ngx_svc_logout_token.h"

#include "ngx_svc_log_limit.h"


#define NGX_SVC_LOGOUT_ANSWER  16384    /* bytes of an answer that are read */
#define NGX_SVC_LOGOUT_LINGER  500      /* ms for a body */
#define NGX_SVC_LOGOUT_DETAIL  60000    /* ms between lines in the log */

#define ngx_svc_logout_column(member)                                         \
    ngx_svc_lane_column(ngx_svc_logout_t, member)


static ngx_int_t ngx_svc_logout_base(ngx_cycle_t *cycle);
static ngx_int_t ngx_svc_logout_request(ngx_svc_lane_job_t *job);
static ngx_int_t ngx_svc_logout_finish(ngx_svc_lane_job_t *job,
    ngx_svc_pg_op_t *op);
static void ngx_svc_logout_failed(ngx_svc_lane_job_t *job);


static ngx_str_t             ngx_svc_logout_issuer;
static ngx_svc_lane_state_t  ngx_svc_logout_lane_state;


#include "ngx_svc_logout_lane.sql.h"


const ngx_svc_lane_t  ngx_svc_logout_lane = {
    NGX_SVC_LANE_ROWS,
    .on = offsetof(ngx_svc_webhook_conf_t, logout),
    .state = &ngx_svc_logout_lane_state,
    .name = "logout token",
    .waits = "logout tokens wait",
    .again = "a logout token will be sent again",
    .look = 1000,
    .soon = 20,
    .most = 64,
    .take = &ngx_svc_sql_logout_take,
    .ncolumns = sizeof(ngx_svc_logout_t) / sizeof(ngx_str_t),
    .tenant = ngx_svc_logout_column(tenant),
    .attempt = ngx_svc_logout_column(attempt),
    .busy = {
        { ngx_svc_logout_column(client), 4 },
        { ngx_svc_logout_column(tenant), 16 }
    },
    .nbusy = 2,
    .attempts = 3,
    .metrics = {
        [NGX_SVC_LANE_DONE] = NGX_SVC_M_LOGOUT_DELIVERED,
        [NGX_SVC_LANE_RETRIED] = NGX_SVC_M_LOGOUT_RETRIED,
        [NGX_SVC_LANE_ABANDONED] = NGX_SVC_M_LOGOUT_ABANDONED,
        [NGX_SVC_LANE_REFUSED] = NGX_SVC_M_LOGOUT_REFUSED
    },
    .can = ngx_svc_logout_base,
    .request = ngx_svc_logout_request,
    .finish = ngx_svc_logout_finish
};


/* Finds the base URL of the first OAuth location, which issues tokens. */

static ngx_int_t
ngx_svc_logout_base(ngx_cycle_t *cycle)
{
    ngx_svc_main_conf_t       *smcf;
    const ngx_svc_loc_conf_t  *slcf;

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_common_module);
    slcf = ngx_svc_conf_surface(smcf, "/oauth");

    if (slcf == NULL) {
        return NGX_DECLINED;
    }

    ngx_svc_logout_issuer = slcf->base_key;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_logout_request(ngx_svc_lane_job_t *job)
{
    ngx_svc_logout_t    *row;
    ngx_svc_outbound_t  *r;

    static const u_char  type[] = "application/x-www-form-urlencoded";

    row = (ngx_svc_logout_t *) job->row;
    r = &job->request;

    if (row->uri.data == NULL || row->kid.data == NULL) {
        return NGX_DECLINED;
    }

    r->method = "POST";
    r->url = row->uri.data;
    r->agent = "Svc-Logout/1";
    r->limit = NGX_SVC_LOGOUT_ANSWER;
    r->linger = NGX_SVC_LOGOUT_LINGER;

    if (ngx_svc_logout_token(row, &ngx_svc_logout_issuer, job->pool, &r->body)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_outbound_header(r, "Content-Type: ", type,
                                   sizeof(type) - 1);
}


static ngx_int_t
ngx_svc_logout_finish(ngx_svc_lane_job_t *job, ngx_svc_pg_op_t *op)
{
    ngx_uint_t          again;
    ngx_svc_logout_t   *row;
    ngx_svc_pg_call_t  *call;

    row = (ngx_svc_logout_t *) job->row;

    if (job->outcome == NGX_SVC_LANE_ABANDONED
        || job->outcome == NGX_SVC_LANE_REFUSED)
    {
        ngx_svc_logout_failed(job);
    }

    again = job->outcome == NGX_SVC_LANE_RETRIED
            || job->outcome == NGX_SVC_LANE_POSTPONED;

    call = ngx_svc_pg_call(op, again ? &ngx_svc_sql_logout_again
                                     : &ngx_svc_sql_logout_done);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &row->client);
    ngx_svc_pg_bind_str(call, &row->root);

    if (again) {
        ngx_svc_pg_bind_bool(call, job->outcome == NGX_SVC_LANE_RETRIED);
    }

    return NGX_OK;
}


static void
ngx_svc_logout_failed(ngx_svc_lane_job_t *job)
{
    ngx_str_t                  *why;
    ngx_svc_logout_t           *row;
    ngx_svc_outbound_result_t  *result;

    static ngx_svc_log_limit_t  limit;

    if (!ngx_svc_log_limit(&limit, 1, NGX_SVC_LOGOUT_DETAIL)) {
        return;
    }

    row = (ngx_svc_logout_t *) job->row;
    result = &job->request.result;
    why = result->detail.len ? &result->detail : &result->error;

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "the application %V of tenant %V was not told of a logout: "
                  "%V", &row->client, &row->tenant, why);
}
