/*
 * /v1/mfa/factors, /v1/mfa/recovery-codes: the caller's own.
 */

#include "ngx_svc_bidi.h"
#include "ngx_svc_factor.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_notice.h"


#define NGX_SVC_FACTOR_NONE  "There is no factor of yours with this id."


typedef struct {
    ngx_svc_value_t   name;
} ngx_svc_factor_body_t;

/* sr->data of a removal, of the request's pool; the factor comes first. */

typedef struct {
    ngx_svc_factor_t  factor;
    u_char            id[NGX_SVC_UUID_LEN];
    ngx_uint_t        needed;               /* one, by the access policy */
} ngx_svc_factor_remove_t;


static ngx_int_t ngx_svc_factors_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_factor_remove_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_factor_remove_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_factor_bind_needed(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_factor_remove(ngx_svc_request_t *sr);
static void ngx_svc_factors_committed(const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_factor_removed(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_factor_codes_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_factor_codes_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_factor_codes_store(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_factor_codes_stored(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_factor_members[] = {

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_FACTOR_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_factor_body_t, name) },

    ngx_svc_null_member
};


#include "ngx_svc_factor_routes.sql.h"


const ngx_svc_route_t  ngx_svc_factor_routes[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/mfa/factors"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_ENROLL
               |NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_factors_list, &ngx_svc_sql_factors_codes },
      .reply = ngx_svc_factors_reply },

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/mfa/factors/*"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_factor_members,
      .body_size = sizeof(ngx_svc_factor_body_t),
      .statements = { &ngx_svc_sql_factor_rename, &ngx_svc_sql_factor_get } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/mfa/factors/*"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_NO_STORE,
      .check = ngx_svc_factor_remove_check,
      .statements = { &ngx_svc_sql_factor_read, &ngx_svc_sql_factor_get },
      .reply = ngx_svc_factor_remove_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/mfa/recovery-codes"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_NO_STORE,
      .check = ngx_svc_factor_codes_check,
      .statements = { &ngx_svc_sql_factor_read },
      .reply = ngx_svc_factor_codes_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_factors_reply(ngx_svc_request_t *sr)
{
    int                           i, n;
    PGresult                     *res;
    ngx_svc_row_t                 columns;
    ngx_svc_json_writer_t         w;
    ngx_svc_row_factors_codes_t   left;

    ngx_svc_row_factors_codes(&left,
                          ngx_svc_result(sr, &ngx_svc_sql_factors_codes), 0);
    res = ngx_svc_result(sr, &ngx_svc_sql_factors_list);
    n = PQntuples(res);

    if (ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 64 + n * 256)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_row_init(&columns, res);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "factors", '[');

    for (i = 0; i < n; i++) {
        ngx_svc_row_object(&w, &columns, i);
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_json_integer(&w, "recoveryCodesLeft", left.codes);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_factor_remove_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_factor_remove_t  *remove;

    remove = (ngx_svc_factor_remove_t *)
             ngx_svc_factor_create(sr, sizeof(ngx_svc_factor_remove_t));
    if (remove == NULL) {
        return NGX_ERROR;
    }

    remove->factor.id.data = remove->id;
    remove->factor.id.len = NGX_SVC_UUID_LEN;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_factor_remove_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                  rc;
    ngx_svc_factor_remove_t   *remove;
    ngx_svc_row_factor_get_t   row;

    remove = sr->data;
    ngx_svc_row_factor_get(&row, ngx_svc_result(sr, &ngx_svc_sql_factor_get),
                           0);

    rc = ngx_svc_factor_read(&remove->factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    if (ngx_svc_uuid_parse(row.id.data, row.id.len, remove->id) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    remove->needed = (remove->factor.login.action == NGX_SVC_ACCESS_MFA);

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE, ngx_svc_factor_remove,
                                 ngx_svc_factor_removed);
}


static ngx_int_t
ngx_svc_factor_bind_needed(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_factor_remove_t  *remove;

    remove = sr->data;

    ngx_svc_pg_bind_bool(call, remove->needed);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_factor_remove(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_factor_check,
        &ngx_svc_sql_factor_remove,
        &ngx_svc_sql_signin_rotate,
        NULL
    };

    login = sr->data;
    sr->op->committed = ngx_svc_factors_committed;

    return ngx_svc_signin_key(&login->session, login->row.tenant) == NGX_OK
           ? ngx_svc_login_calls(sr, list) : NGX_ERROR;
}


static void
ngx_svc_factors_committed(const ngx_svc_pg_results_t *results)
{
    static const ngx_svc_pg_statement_t *const  stores[] = {
        &ngx_svc_sql_factor_remove,
        &ngx_svc_sql_factor_codes,
        NULL
    };

    ngx_svc_notice_changed(results, ngx_svc_pg_result_of(results, stores));
}


static ngx_int_t
ngx_svc_factor_removed(ngx_svc_request_t *sr)
{
    PGresult         *res;
    ngx_svc_login_t  *login;

    login = sr->data;

    if (!ngx_svc_factor_checked(sr)) {
        return ngx_svc_factor_ended(sr);
    }

    res = ngx_svc_result(sr, &ngx_svc_sql_factor_remove);

    if (PQgetisnull(res, 0, 0)) {
        if (ngx_svc_row_true(res, 0, "way")) {
            (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LAST_FACTOR,
                                NGX_SVC_WAY_IN_LAST);

        } else if (ngx_svc_row_true(res, 0, "last")) {
            (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LAST_FACTOR,
                                "The access policy wants a second factor of "
                                "you: add another one first.");

        } else {
            (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                                NGX_SVC_FACTOR_NONE);
        }

        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_session_set_cookies(sr, login->session.key) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}


static ngx_int_t
ngx_svc_factor_codes_check(ngx_svc_request_t *sr, void *body)
{
    return ngx_svc_factor_create(sr, sizeof(ngx_svc_factor_t)) ? NGX_OK
                                                               : NGX_ERROR;
}


static ngx_int_t
ngx_svc_factor_codes_reply(ngx_svc_request_t *sr)
{
    ngx_int_t          rc;
    ngx_svc_factor_t  *factor;

    factor = sr->data;

    rc = ngx_svc_factor_read(factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    if (ngx_svc_factor_codes(factor) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_factor_codes_store,
                                 ngx_svc_factor_codes_stored);
}


static ngx_int_t
ngx_svc_factor_codes_store(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_factor_check,
        &ngx_svc_sql_factor_codes,
        NULL
    };

    sr->op->committed = ngx_svc_factors_committed;

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_factor_codes_stored(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_svc_json_writer_t   w;

    if (!ngx_svc_factor_checked(sr)) {
        return ngx_svc_factor_ended(sr);
    }

    res = ngx_svc_result(sr, &ngx_svc_sql_factor_codes);

    if (PQntuples(res) == 0) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "There is no second factor that codes could "
                            "stand in for: add one first.");
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 256) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_factor_write_codes(&w, sr->data);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_CREATED, &w, NULL);
}
