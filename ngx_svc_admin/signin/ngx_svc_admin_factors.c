/*
 * /v1/mfa/factors, /v1/mfa/recovery-codes: the caller's own.
 */

#include "ngx_svc_factor.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_notice.h"


#define NGX_SVC_FACTOR_NONE  "There is no factor of yours with this id."


typedef struct {
    ngx_svc_value_t   name;
} ngx_svc_factor_body_t;

/* Of the request's pool: the factor comes first, in sr->data. */

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


#define NGX_SVC_FACTOR_SESSION                                                \
    "(" NGX_SVC_SESSION_ROW("k.user_id", "$1") ") s"

#define NGX_SVC_FACTOR_OWN                                                    \
    NGX_SVC_FACTOR_SESSION " CROSS JOIN LATERAL ("                            \
        NGX_SVC_FACTOR_ROW("k.*", "s.user_id", "$2::uuid") ") f"              \
    " WHERE " NGX_SVC_FACTOR_ALIVE("f")

static const ngx_svc_pg_statement_t  ngx_svc_sql_factors_list = {
    .name = "factors_list",
    .text =
        "SELECT " NGX_SVC_FACTOR_COLUMNS
        " FROM " NGX_SVC_FACTOR_SESSION " CROSS JOIN LATERAL ("
            NGX_SVC_FACTORS_OF("k.*", "s.user_id") ") f"
        " WHERE " NGX_SVC_FACTOR_ALIVE("f")
        " ORDER BY f.created_at, f.id",
    NGX_SVC_PARAMS(ngx_svc_param_session())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_factors_codes = {
    .name = "factors_codes",
    .text =
        "SELECT count(*) AS n FROM " NGX_SVC_FACTOR_SESSION
        " CROSS JOIN LATERAL (SELECT FROM svc.recovery_code k"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.user_id BETWEEN s.user_id AND s.user_id"
            " ORDER BY k.user_id OFFSET 0) c",
    NGX_SVC_PARAMS(ngx_svc_param_session())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_factor_rename = {
    .name = "factor_rename",
    .text =
        "WITH o AS ("
            "SELECT f.* FROM " NGX_SVC_FACTOR_OWN
        "), u AS ("
            "UPDATE svc.factor f SET name = $3"
            " WHERE f.tenant_id = " NGX_SVC_TENANT
                " AND (f.user_id, f.id) = (SELECT o.user_id, o.id FROM o)"
                " AND f.name <> $3"
            " RETURNING f.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_MFA_FACTOR_UPDATED, "u.user_id::text",
                "NULL", "jsonb_build_object('factorId', u.id,"
                    " 'type', u.type, 'name', u.name)", "FROM u")
        ")"
        " SELECT id FROM o",
    NGX_SVC_PARAMS(ngx_svc_param_session(),
                   ngx_svc_param_path_id(0, NGX_SVC_FACTOR_NONE),
                   ngx_svc_param_text(ngx_svc_factor_body_t, name)),
    .missing = NGX_SVC_FACTOR_NONE
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_factor_get = {
    .name = "factor_get",
    .text = "SELECT " NGX_SVC_FACTOR_COLUMNS " FROM " NGX_SVC_FACTOR_OWN,
    NGX_SVC_PARAMS(ngx_svc_param_session(),
                   ngx_svc_param_path_id(0, NGX_SVC_FACTOR_NONE)),
    .missing = NGX_SVC_FACTOR_NONE
};

/* One that is not confirmed has never counted. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_factor_remove = {
    .name = "factor_remove",
    .text =
        "WITH o AS ("
            "SELECT f.*, f.confirmed_at IS NOT NULL AND NOT EXISTS ("
                "SELECT FROM (" NGX_SVC_FACTORS_OF("k.*", "$1") ") o"
                " WHERE o.id <> f.id AND o.confirmed_at IS NOT NULL) AS last"
            " FROM (" NGX_SVC_FACTOR_ROW("k.*", "$1", "$2") ") f"
            " WHERE " NGX_SVC_FACTOR_ALIVE("f")
        "), d AS ("
            "DELETE FROM svc.factor f WHERE f.tenant_id = " NGX_SVC_TENANT
                " AND (f.user_id, f.id) = (SELECT o.user_id, o.id FROM o"
                    " WHERE NOT (o.last AND $3::bool))"
            " RETURNING f.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_MFA_FACTOR_REMOVED, "d.user_id::text",
                "NULL", "jsonb_build_object('factorId', d.id,"
                    " 'type', d.type, 'name', d.name)",
                "FROM d WHERE d.confirmed_at IS NOT NULL")
        ")"
        " SELECT d.id, o.id IS NOT NULL AS last, CASE WHEN d.id IS NULL"
            " THEN set_config('svc.tenant', '', true) END, "
            NGX_SVC_NOTICE_IP ", m.*"
        " FROM (VALUES (1)) v LEFT JOIN o ON true LEFT JOIN d ON true"
        " LEFT JOIN LATERAL ("
            NGX_SVC_NOTICE("$1", "$4", "d.confirmed_at IS NOT NULL")
        ") m ON true",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_factor_param(id),
                   ngx_svc_param_call(ngx_svc_factor_bind_needed),
                   ngx_svc_param_notice())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_factor_codes = {
    .name = "factor_codes",
    .text =
        "WITH u AS ("
            "SELECT u.tenant_id, u.id FROM svc.user_account u"
            " WHERE u.tenant_id = " NGX_SVC_TENANT " AND u.id = $1"
                " AND u.mfa_enrolled"
        "), d AS ("
            "DELETE FROM svc.recovery_code c"
            " WHERE c.tenant_id = " NGX_SVC_TENANT
                " AND c.user_id = (SELECT u.id FROM u)"
        "), c AS ("
            "INSERT INTO svc.recovery_code (tenant_id, user_id, mac,"
                " key_id)"
            " SELECT u.tenant_id, u.id, m.mac, $4"
            " FROM u, unnest($2::text::bytea[]) m (mac)"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_MFA_CODES_CREATED, "u.id::text", "NULL",
                          "'{}'", "FROM u")
        ")"
        " SELECT u.id, " NGX_SVC_NOTICE_IP ", m.*"
        " FROM u LEFT JOIN LATERAL (" NGX_SVC_NOTICE("$1", "$3", "true")
        ") m ON true",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_factor_param(macs),
                   ngx_svc_param_notice(),
                   ngx_svc_factor_param(macs_key))
};


const ngx_svc_route_t  ngx_svc_admin_factors[] = {

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
    int                     i, n;
    PGresult               *res;
    ngx_str_t               left;
    ngx_svc_row_t           columns;
    ngx_svc_json_writer_t   w;

    res = ngx_svc_result(sr, &ngx_svc_sql_factors_codes);
    left = ngx_svc_row_value(res, 0, "n");
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
    ngx_svc_json_integer(&w, "recoveryCodesLeft",
                         ngx_atoi(left.data, left.len));
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
    PGresult                 *res;
    ngx_int_t                 rc;
    ngx_str_t                 id;
    ngx_svc_factor_remove_t  *remove;

    remove = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_factor_get);
    id = ngx_svc_row_value(res, 0, "id");

    rc = ngx_svc_factor_read(&remove->factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    if (ngx_svc_uuid_parse(id.data, id.len, remove->id) != NGX_OK) {
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
    res = ngx_svc_result(sr, &ngx_svc_sql_factor_check);

    if (PQgetisnull(res, 0, 0)) {
        return ngx_svc_factor_ended(sr);
    }

    res = ngx_svc_result(sr, &ngx_svc_sql_factor_remove);

    if (PQgetisnull(res, 0, 0)) {
        if (ngx_svc_row_true(res, 0, "last")) {
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

    res = ngx_svc_result(sr, &ngx_svc_sql_factor_check);

    if (PQgetisnull(res, 0, 0)) {
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
