/*
 * POST /v1/admin/scim-targets/{id}/test.
 *
 * The helper makes the request, since only it has libcurl.  The row of the
 * target has the test that is asked for, and its result; it is polled.
 */

#include "ngx_svc_push_api.h"


#define NGX_SVC_PUSH_TEST_LOOK   200    /* ms between two polls */
#define NGX_SVC_PUSH_TEST_LIMIT  15     /* s */


/* A test that is waited for; in the request's pool. */

typedef struct {
    ngx_svc_request_t  *sr;
    ngx_event_t         event;
    ngx_msec_t          began;
} ngx_svc_push_test_t;


static ngx_int_t ngx_svc_push_test_check(ngx_svc_request_t *sr, void *body);
static void ngx_svc_push_test_cleanup(void *data);
static ngx_int_t ngx_svc_push_test_asked(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_push_test_wait(ngx_svc_push_test_t *test);
static void ngx_svc_push_test_handler(ngx_event_t *ev);
static ngx_int_t ngx_svc_push_test_look(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_push_test_looked(ngx_svc_request_t *sr);


#include "ngx_svc_push_target_test.sql.h"


const ngx_svc_route_t  ngx_svc_push_target_test[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/scim-targets/*/test"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .check = ngx_svc_push_test_check,
      .statements = { &ngx_svc_sql_push_test },
      .reply = ngx_svc_push_test_asked },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_push_test_check(ngx_svc_request_t *sr, void *body)
{
    ngx_http_cleanup_t   *cln;
    ngx_svc_push_test_t  *test;

    cln = ngx_http_cleanup_add(sr->request, sizeof(ngx_svc_push_test_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    test = cln->data;
    ngx_memzero(test, sizeof(ngx_svc_push_test_t));

    test->sr = sr;
    test->event.handler = ngx_svc_push_test_handler;
    test->event.data = test;
    test->event.log = sr->request->connection->log;

    cln->handler = ngx_svc_push_test_cleanup;
    sr->data = test;

    return NGX_OK;
}


/* Ends the wait if the client goes. */

static void
ngx_svc_push_test_cleanup(void *data)
{
    ngx_svc_push_test_t  *test = data;

    if (test->event.timer_set) {
        ngx_del_timer(&test->event);
    }
}


static ngx_int_t
ngx_svc_push_test_asked(ngx_svc_request_t *sr)
{
    ngx_svc_push_test_t  *test;

    test = sr->data;
    test->began = ngx_current_msec;

    return ngx_svc_push_test_wait(test);
}


static ngx_int_t
ngx_svc_push_test_wait(ngx_svc_push_test_t *test)
{
    test->sr->request->main->count++;

    ngx_add_timer(&test->event, NGX_SVC_PUSH_TEST_LOOK);

    return NGX_DONE;
}


static void
ngx_svc_push_test_handler(ngx_event_t *ev)
{
    ngx_connection_t     *c;
    ngx_http_request_t   *r;
    ngx_svc_push_test_t  *test;

    test = ev->data;
    r = test->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_request_again(test->sr,
                                                   NGX_SVC_PG_READ,
                                                   ngx_svc_push_test_look,
                                                   ngx_svc_push_test_looked));

    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_svc_push_test_look(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_push_test_look, NULL);
}


static ngx_int_t
ngx_svc_push_test_looked(ngx_svc_request_t *sr)
{
    PGresult                      *res;
    ngx_svc_push_test_t           *test;
    ngx_svc_row_push_test_look_t   row;

    test = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_push_test_look);

    if (PQntuples(res) == 0) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                            NGX_SVC_PUSH_NONE);
        return ngx_svc_send_error(sr);
    }

    ngx_svc_row_push_test_look(&row, res, 0);

    if (row.done) {
        return ngx_svc_route_row(sr, res);
    }

    if (ngx_current_msec - test->began < NGX_SVC_PUSH_TEST_LIMIT * 1000) {
        return ngx_svc_push_test_wait(test);
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "Nobody has tested the SCIM target within %d seconds: "
                        "try again.", NGX_SVC_PUSH_TEST_LIMIT);

    return ngx_svc_send_error(sr);
}
