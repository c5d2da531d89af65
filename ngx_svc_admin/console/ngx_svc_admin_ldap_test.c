/*
 * POST /v1/admin/ldap/test: tells how far a question to the tenant's directory
 * gets, step by step.
 */

#include "ngx_svc_admin_limit.h"
#include "ngx_svc_email.h"
#include "ngx_svc_ldap_directory.h"
#include "ngx_svc_send.h"


typedef struct {
    ngx_svc_value_t            email;
    ngx_svc_value_t            password;
} ngx_svc_ldap_test_body_t;


/* Allocated from the request's pool. */

typedef struct {
    ngx_svc_request_t         *sr;
    ngx_svc_ldap_test_body_t   body;
    ngx_svc_ldap_directory_t   directory;
    ngx_svc_ldap_t             ldap;
} ngx_svc_ldap_test_t;


static ngx_int_t ngx_svc_ldap_test_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_ldap_test_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_ldap_test_ask(ngx_svc_request_t *sr);
static void ngx_svc_ldap_test_asked(ngx_svc_ldap_t *ldap);
static ngx_int_t ngx_svc_ldap_test_answer(ngx_svc_ldap_test_t *test);
static void ngx_svc_ldap_test_steps(ngx_svc_json_writer_t *w,
    ngx_svc_ldap_t *ldap);


static const ngx_svc_member_t  ngx_svc_ldap_test_members[] = {

    { .name = ngx_string("email"),
      .type = NGX_SVC_T_STRING,
      .min = 3,
      .max = NGX_SVC_EMAIL_MAX,
      .check = ngx_svc_email_form_check,
      .offset = offsetof(ngx_svc_ldap_test_body_t, email) },

    { .name = ngx_string("password"),
      .type = NGX_SVC_T_STRING,
      .min = 1,
      .max = NGX_SVC_LDAP_PASSWORD,
      .offset = offsetof(ngx_svc_ldap_test_body_t, password) },

    ngx_svc_null_member
};


const ngx_svc_route_t  ngx_svc_admin_ldap_test[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/ldap/test"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_EMPTY|NGX_SVC_ROUTE_SMALL,
      .members = ngx_svc_ldap_test_members,
      .body_size = sizeof(ngx_svc_ldap_test_body_t),
      .check = ngx_svc_ldap_test_check,
      .statements = { &ngx_svc_sql_ldap_directory },
      .reply = ngx_svc_ldap_test_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_ldap_test_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_ldap_test_t       *test;
    ngx_svc_ldap_test_body_t  *values = body;

    if (values->password.set && !values->email.set) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"password\" needs \"email\": whose it is.");
    }

    test = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_ldap_test_t));
    if (test == NULL) {
        return NGX_ERROR;
    }

    test->sr = sr;
    test->body = *values;
    sr->data = test;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_ldap_test_reply(ngx_svc_request_t *sr)
{
    ngx_int_t             rc;
    ngx_svc_ldap_test_t  *test;

    test = sr->data;

    rc = ngx_svc_ldap_directory(sr, sr->request->pool,
                                ngx_svc_result(sr,
                                               &ngx_svc_sql_ldap_directory),
                                &test->directory);

    if (rc == NGX_DECLINED) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "The stored \"bindPassword\" cannot be read: set "
                            "it again, or tell the operator.");
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_admin_limit(sr, NGX_SVC_LIMIT_DIRECTORY,
                               test->directory.tenant,
                               "has its directory tested",
                               ngx_svc_ldap_test_ask);
}


static ngx_int_t
ngx_svc_ldap_test_ask(ngx_svc_request_t *sr)
{
    ngx_svc_ldap_t       *ldap;
    ngx_svc_ldap_test_t  *test;

    test = sr->data;
    ldap = &test->ldap;

    ldap->pool = sr->request->pool;
    ldap->directory = &test->directory;
    ldap->email = test->body.email.str;
    ldap->password = test->body.password.str;
    ldap->groups = 1;
    ldap->apart = 1;
    ldap->handler = ngx_svc_ldap_test_asked;
    ldap->data = test;

    switch (ngx_svc_ldap(ldap)) {

    case NGX_OK:
        sr->request->main->count++;
        return NGX_DONE;

    case NGX_DECLINED:
        return ngx_svc_ldap_test_answer(test);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/* Called from an event, which holds a reference to the request. */

static void
ngx_svc_ldap_test_asked(ngx_svc_ldap_t *ldap)
{
    ngx_connection_t     *c;
    ngx_http_request_t   *r;
    ngx_svc_ldap_test_t  *test;

    test = ldap->data;
    r = test->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_ldap_test_answer(test));

    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_svc_ldap_test_answer(ngx_svc_ldap_test_t *test)
{
    ngx_svc_request_t      *sr;
    ngx_svc_json_writer_t   w;

    sr = test->sr;

    if (test->ldap.outcome == NGX_SVC_LDAP_BUSY
        || !test->ldap.steps[NGX_SVC_LDAP_RESOLVE].tried)
    {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE, "%V",
                            &test->ldap.why);
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "steps", '[');
    ngx_svc_ldap_test_steps(&w, &test->ldap);
    ngx_svc_json_close(&w, ']');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static void
ngx_svc_ldap_test_steps(ngx_svc_json_writer_t *w, ngx_svc_ldap_t *ldap)
{
    ngx_uint_t            i;
    ngx_svc_ldap_step_t  *step;

    for (i = 0; i < NGX_SVC_LDAP_STEPS; i++) {
        step = &ldap->steps[i];

        if (!step->tried) {
            continue;
        }

        ngx_svc_json_open(w, NULL, '{');
        ngx_svc_json_plain(w, "step", ngx_svc_ldap_steps[i].data,
                           ngx_svc_ldap_steps[i].len);
        ngx_svc_json_boolean(w, "ok", step->ok);
        ngx_svc_json_integer(w, "ms", step->ms);
        ngx_svc_json_string(w, "detail", step->detail.data, step->detail.len);
        ngx_svc_json_close(w, '}');
    }
}
