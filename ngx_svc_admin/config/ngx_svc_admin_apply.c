/*
 * POST /v1/admin/config/apply.
 *
 * One round trip reads, and then the plan is made; the next one writes if the
 * revision is still the one that was read, and else all begins again.
 */

#include "ngx_svc_admin_apply.h"
#include "ngx_svc_admin_tenant.h"


#define NGX_SVC_ADMIN_APPLY_SIZE      4096  /* first guess, in bytes */
#define NGX_SVC_ADMIN_APPLY_ATTEMPTS  100
#define NGX_SVC_ADMIN_APPLY_TIME      30000 /* ms, for all attempts */
#define NGX_SVC_ADMIN_APPLY_AT_ONCE   5     /* attempts without pause */
#define NGX_SVC_ADMIN_APPLY_PAUSE     2     /* ms for each attempt, at most */

#define NGX_SVC_ADMIN_APPLY_GROUP     "group_password_policy_group_fkey"
#define NGX_SVC_ADMIN_APPLY_DEADLOCK  "40P01"   /* SQLSTATE */


/*
 * Allocated from the request's pool; "pool" is that of one attempt.  config
 * comes first.
 */

typedef struct {
    ngx_svc_admin_config_t   config;
    ngx_pool_t              *pool;
    ngx_str_t                match;         /* If-Match; no data: none */
    ngx_str_t                revision;      /* the new revision */
    ngx_uint_t               attempts;
    ngx_msec_t               start;
    ngx_svc_json_writer_t    answer;
    ngx_svc_request_t       *sr;
    ngx_event_t              timer;
} ngx_svc_admin_apply_t;


static ngx_int_t ngx_svc_admin_apply_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_apply_reply(ngx_svc_request_t *sr);
static ngx_svc_admin_apply_t *ngx_svc_admin_apply_create(
    ngx_svc_request_t *sr);
static void ngx_svc_admin_apply_gone(void *data);
static void ngx_svc_admin_apply_destroy(void *data);
static ngx_int_t ngx_svc_admin_apply_decide(ngx_svc_admin_apply_t *apply);
static ngx_uint_t ngx_svc_admin_apply_matches(ngx_str_t *versions,
    ngx_str_t *revision);
static ngx_int_t ngx_svc_admin_apply_answer(ngx_svc_admin_apply_t *apply);
static ngx_int_t ngx_svc_admin_apply_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_apply_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_apply_refused(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_apply_later(ngx_svc_admin_apply_t *apply);
static void ngx_svc_admin_apply_timer(ngx_event_t *ev);
static ngx_int_t ngx_svc_admin_apply_again(ngx_svc_admin_apply_t *apply);
static ngx_int_t ngx_svc_admin_apply_read(ngx_svc_request_t *sr);


const ngx_svc_route_t  ngx_svc_admin_apply[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/config/apply"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_CALLER|NGX_SVC_ROUTE_SENSITIVE,
      .check = ngx_svc_admin_apply_check,
      .statements = { &ngx_svc_sql_admin_bundle },
      .reply = ngx_svc_admin_apply_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_apply_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_apply_t  *apply;

    apply = ngx_svc_admin_apply_create(sr);

    if (apply == NULL || ngx_svc_if_match(sr, &apply->match) != NGX_OK) {
        return NGX_ERROR;
    }

    sr->data = apply;

    return ngx_svc_admin_config_take(sr, &apply->config);
}


static ngx_svc_admin_apply_t *
ngx_svc_admin_apply_create(ngx_svc_request_t *sr)
{
    ngx_pool_cleanup_t     *pcln;
    ngx_http_cleanup_t     *cln;
    ngx_svc_admin_apply_t  *apply;

    apply = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_apply_t));
    cln = ngx_http_cleanup_add(sr->request, 0);
    pcln = ngx_pool_cleanup_add(sr->request->pool, 0);

    if (apply == NULL || cln == NULL || pcln == NULL) {
        return NULL;
    }

    apply->pool = ngx_create_pool(4096, ngx_cycle->log);
    if (apply->pool == NULL) {
        return NULL;
    }

    apply->sr = sr;
    apply->start = ngx_current_msec;

    apply->timer.handler = ngx_svc_admin_apply_timer;
    apply->timer.data = apply;
    apply->timer.log = ngx_cycle->log;

    cln->handler = ngx_svc_admin_apply_gone;
    cln->data = apply;

    pcln->handler = ngx_svc_admin_apply_destroy;
    pcln->data = apply->pool;

    return apply;
}


static void
ngx_svc_admin_apply_gone(void *data)
{
    ngx_svc_admin_apply_t  *apply = data;

    if (apply->timer.timer_set) {
        ngx_del_timer(&apply->timer);
    }
}


static void
ngx_svc_admin_apply_destroy(void *data)
{
    ngx_destroy_pool(data);
}


static ngx_int_t
ngx_svc_admin_apply_reply(ngx_svc_request_t *sr)
{
    ngx_int_t               rc;
    ngx_svc_admin_apply_t  *apply;

    apply = sr->data;

    rc = ngx_svc_admin_config_plan(sr, apply->pool, &apply->config);

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_apply_decide(apply);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK || ngx_svc_admin_apply_answer(apply) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ngx_svc_admin_plan_done(&apply->config.plan) == 0) {
        return ngx_svc_send(sr, NGX_HTTP_OK, &apply->answer, NULL);
    }

    sr->op->pool = apply->pool;
    sr->refused = ngx_svc_admin_apply_refused;

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_apply_write,
                                 ngx_svc_admin_apply_written);
}


/*
 * Returns NGX_DECLINED with sr->error set when the plan is not to be applied.
 */

static ngx_int_t
ngx_svc_admin_apply_decide(ngx_svc_admin_apply_t *apply)
{
    ngx_uint_t             state;
    ngx_svc_admin_plan_t  *plan;

    plan = &apply->config.plan;

    if (!ngx_svc_admin_apply_matches(&apply->match,
                                     &apply->config.live.revision))
    {
        return ngx_svc_fail(&apply->sr->error, NGX_SVC_E_PRECONDITION, "%s",
                            NGX_SVC_PRECONDITION);
    }

    state = 0;

    return ngx_svc_admin_plan_check(plan, plan->prune, &state,
                                    &apply->sr->error);
}


/* versions: as ngx_svc_if_match() gives them. */

static ngx_uint_t
ngx_svc_admin_apply_matches(ngx_str_t *versions, ngx_str_t *revision)
{
    u_char  *p, *start, *end;

    if (versions->data == NULL) {
        return 1;
    }

    end = versions->data + versions->len;

    for (p = versions->data + 1; p < end; p++) {

        for (start = p; *p != ',' && *p != '}'; p++) { /* void */ }

        if ((size_t) (p - start) == revision->len
            && ngx_memcmp(start, revision->data, revision->len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


/*
 * Makes the answer while the plan is still there; the new revision is known, as
 * each change adds 1 to it.
 */

static ngx_int_t
ngx_svc_admin_apply_answer(ngx_svc_admin_apply_t *apply)
{
    u_char                *p;
    ngx_svc_admin_plan_t  *plan;

    plan = &apply->config.plan;

    p = ngx_pnalloc(apply->pool, NGX_INT64_LEN);

    if (p == NULL
        || ngx_svc_json_writer_init(&apply->answer, apply->pool,
                                    NGX_SVC_ADMIN_APPLY_SIZE)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    apply->revision.data = p;
    apply->revision.len = ngx_sprintf(p, "%O",
                              ngx_atoof(apply->config.live.revision.data,
                                        apply->config.live.revision.len)
                              + (ngx_svc_admin_plan_done(plan) > 0))
                          - p;

    ngx_svc_admin_plan_write(&apply->answer, plan, apply->config.detail,
                             &apply->revision);

    return apply->answer.failed ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_admin_apply_write(ngx_svc_request_t *sr)
{
    ngx_svc_admin_apply_t  *apply;

    apply = sr->data;

    sr->op->committed = ngx_svc_admin_tenant_committed;

    return ngx_svc_admin_apply_call(sr, apply->pool, &apply->config.plan,
                                    &apply->revision);
}


static ngx_int_t
ngx_svc_admin_apply_written(ngx_svc_request_t *sr)
{
    ngx_str_t               role;
    ngx_svc_admin_apply_t  *apply;

    apply = sr->data;

    switch (ngx_svc_admin_apply_result(sr, &role)) {

    case NGX_SVC_ADMIN_APPLIED:
        return ngx_svc_send(sr, NGX_HTTP_OK, &apply->answer, NULL);

    case NGX_SVC_ADMIN_APPLY_IN_USE:
        (void) ngx_svc_admin_plan_role_in_use(&role, &sr->error);
        return ngx_svc_send_error(sr);

    default: /* NGX_SVC_ADMIN_APPLY_MOVED */
        return ngx_svc_admin_apply_later(apply);
    }
}


/*
 * PostgreSQL has raised an error.  In the next attempt a group that is gone is
 * found to be unknown; after a deadlock one of the two goes on.
 */

static ngx_int_t
ngx_svc_admin_apply_refused(ngx_svc_request_t *sr)
{
    const char  *name, *state;

    name = PQresultErrorField(sr->op->error, PG_DIAG_CONSTRAINT_NAME);
    state = PQresultErrorField(sr->op->error, PG_DIAG_SQLSTATE);

    if ((name && ngx_strcmp(name, NGX_SVC_ADMIN_APPLY_GROUP) == 0)
        || (state && ngx_strcmp(state, NGX_SVC_ADMIN_APPLY_DEADLOCK) == 0))
    {
        return ngx_svc_admin_apply_later(sr->data);
    }

    return NGX_DECLINED;
}


/*
 * When several attempts begin again together one of them gets through: a random
 * pause keeps the others out of each other's way.
 */

static ngx_int_t
ngx_svc_admin_apply_later(ngx_svc_admin_apply_t *apply)
{
    ngx_msec_t  pause;

    apply->attempts++;

    if (apply->attempts == NGX_SVC_ADMIN_APPLY_ATTEMPTS
        || ngx_current_msec - apply->start >= NGX_SVC_ADMIN_APPLY_TIME)
    {
        (void) ngx_svc_fail(&apply->sr->error, NGX_SVC_E_UNAVAILABLE,
                            "The configuration was changed by others each "
                            "time: nothing was done, try again.");
        return ngx_svc_send_error(apply->sr);
    }

    if (apply->attempts < NGX_SVC_ADMIN_APPLY_AT_ONCE) {
        return ngx_svc_admin_apply_again(apply);
    }

    pause = 1 + ngx_random() % (apply->attempts * NGX_SVC_ADMIN_APPLY_PAUSE);

    ngx_add_timer(&apply->timer, pause);

    apply->sr->request->main->count++;

    return NGX_DONE;
}


static void
ngx_svc_admin_apply_timer(ngx_event_t *ev)
{
    ngx_connection_t       *c;
    ngx_http_request_t     *r;
    ngx_svc_admin_apply_t  *apply;

    apply = ev->data;
    r = apply->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_admin_apply_again(apply));

    ngx_http_run_posted_requests(c);
}


/* Begins again with the same candidate, which is in the request's pool. */

static ngx_int_t
ngx_svc_admin_apply_again(ngx_svc_admin_apply_t *apply)
{
    ngx_svc_request_t  *sr;

    sr = apply->sr;

    ngx_reset_pool(apply->pool);

    sr->op->pool = apply->pool;
    sr->refused = NULL;

    return ngx_svc_request_again(sr, NGX_SVC_PG_READ,
                                 ngx_svc_admin_apply_read,
                                 ngx_svc_admin_apply_reply);
}


static ngx_int_t
ngx_svc_admin_apply_read(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_bundle, NULL);
}
