/*
 * /v1/mfa/totp: one-time passwords as a second factor.
 */

#include "ngx_svc_base32.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_factor.h"
#include "ngx_svc_totp_secret.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_qr.h"


#define NGX_SVC_TOTP_PENDING  3         /* unconfirmed ones, at most */
#define NGX_SVC_TOTP_NONE                                                     \
    "There is no factor with this id that waits to be confirmed."


typedef struct {
    ngx_svc_value_t   name;
} ngx_svc_totp_body_t;

typedef struct {
    ngx_svc_value_t   code;
} ngx_svc_totp_confirm_t;

/* sr->data, in the request's pool.  It begins with the factor. */

typedef struct {
    ngx_svc_factor_t  factor;
    u_char            id[NGX_SVC_UUID_LEN];
    ngx_str_t         name;
    u_char            secret[NGX_SVC_TOTP_SECRET_LEN];
    ngx_str_t         sealed;
    ngx_str_t         code;
    ngx_str_t         step;                 /* as text */
} ngx_svc_totp_request_t;


static ngx_int_t ngx_svc_totp_code(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_svc_totp_request_t *ngx_svc_totp_create(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_totp_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_totp_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_totp_store(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_totp_stored(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_totp_send(ngx_svc_totp_request_t *totp);
static ngx_int_t ngx_svc_totp_confirm_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_totp_confirm_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_totp_right(ngx_svc_totp_request_t *totp,
    PGresult *res);
static ngx_int_t ngx_svc_totp_confirm(ngx_svc_request_t *sr);
static void ngx_svc_totp_refused(ngx_svc_request_t *sr, PGresult *res);


static const ngx_svc_member_t  ngx_svc_totp_members[] = {

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_FACTOR_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_totp_body_t, name) },

    ngx_svc_null_member
};


static const ngx_svc_member_t  ngx_svc_totp_confirm_members[] = {

    { .name = ngx_string("code"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .check = ngx_svc_totp_code,
      .offset = offsetof(ngx_svc_totp_confirm_t, code) },

    ngx_svc_null_member
};


#include "ngx_svc_totp_enroll.sql.h"


const ngx_svc_route_t  ngx_svc_totp_enroll[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/mfa/totp"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_ENROLL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_SMALL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_totp_members,
      .body_size = sizeof(ngx_svc_totp_body_t),
      .check = ngx_svc_totp_check,
      .statements = { &ngx_svc_sql_factor_read },
      .status = NGX_HTTP_CREATED,
      .reply = ngx_svc_totp_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/mfa/totp/*/confirm"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_ENROLL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_SMALL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_totp_confirm_members,
      .body_size = sizeof(ngx_svc_totp_confirm_t),
      .check = ngx_svc_totp_confirm_check,
      .statements = { &ngx_svc_sql_factor_read, &ngx_svc_sql_totp_pending },
      .reply = ngx_svc_totp_confirm_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_totp_code(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_totp_shaped(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be six digits.", path);
}


static ngx_svc_totp_request_t *
ngx_svc_totp_create(ngx_svc_request_t *sr)
{
    ngx_svc_totp_request_t  *totp;

    totp = (ngx_svc_totp_request_t *)
           ngx_svc_factor_create(sr, sizeof(ngx_svc_totp_request_t));
    if (totp == NULL) {
        return NULL;
    }

    totp->factor.id.data = totp->id;
    totp->factor.id.len = NGX_SVC_UUID_LEN;
    totp->factor.refused = ngx_svc_totp_refused;
    ngx_str_set(&totp->factor.method, "totp");

    return totp;
}


static ngx_int_t
ngx_svc_totp_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_totp_body_t     *members = body;
    ngx_svc_totp_request_t  *totp;

    totp = ngx_svc_totp_create(sr);
    if (totp == NULL) {
        return NGX_ERROR;
    }

    if (members->name.set && !members->name.null) {
        totp->name = members->name.str;

    } else {
        ngx_str_set(&totp->name, "Authenticator");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_totp_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_totp_request_t  *totp;

    totp = sr->data;

    rc = ngx_svc_factor_read(&totp->factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    if (ngx_svc_factor_room(&totp->factor) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_uuid_new(totp->id) != NGX_OK
        || ngx_svc_random(totp->secret, sizeof(totp->secret)) != NGX_OK
        || ngx_svc_totp_secret_seal(sr, &totp->factor.login.row, totp->id,
                               totp->secret, &totp->sealed)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE, ngx_svc_totp_store,
                                 ngx_svc_totp_stored);
}


static ngx_int_t
ngx_svc_totp_store(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_factor_check,
        &ngx_svc_sql_totp_create,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_totp_stored(ngx_svc_request_t *sr)
{
    ngx_svc_row_totp_create_t  row;

    if (!ngx_svc_factor_checked(sr)) {
        return ngx_svc_factor_ended(sr);
    }

    ngx_svc_row_totp_create(&row, ngx_svc_result(sr, &ngx_svc_sql_totp_create),
                            0);

    if (row.id.data) {
        return ngx_svc_totp_send(sr->data);
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LIMIT_EXCEEDED,
                        row.full
                        ? "There are " ngx_value(NGX_SVC_FACTORS) " second "
                          "factors: remove one."
                        : ngx_value(NGX_SVC_TOTP_PENDING) " factors wait to "
                          "be confirmed: remove one, or try again in 15 "
                          "minutes.");

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_totp_send(ngx_svc_totp_request_t *totp)
{
    u_char                  id[NGX_SVC_UUID_TEXT_LEN];
    u_char                  text[ngx_svc_base32_len(NGX_SVC_TOTP_SECRET_LEN)];
    ngx_str_t               uri, svg;
    ngx_svc_request_t      *sr;
    ngx_svc_json_writer_t   w;

    sr = totp->factor.login.sr;

    if (ngx_svc_totp_uri(sr->request->pool, &totp->factor.tenant_name,
                         &totp->factor.email, totp->secret, &uri)
           != NGX_OK
        || ngx_svc_qr_svg(sr->request->pool, &uri, &svg) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool,
                                    512 + uri.len + 2 * svg.len)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) ngx_svc_uuid_text(id, totp->id);
    (void) ngx_svc_base32(text, NGX_SVC_BASE32_RFC4648, totp->secret,
                          NGX_SVC_TOTP_SECRET_LEN);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_plain(&w, "id", id, sizeof(id));
    ngx_svc_json_plain(&w, "secret", text, sizeof(text));
    ngx_svc_json_string(&w, "otpauthUri", uri.data, uri.len);
    ngx_svc_json_string(&w, "qrSvg", svg.data, svg.len);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_CREATED, &w, NULL);
}


static ngx_int_t
ngx_svc_totp_confirm_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_totp_confirm_t  *members = body;
    ngx_svc_totp_request_t  *totp;

    totp = ngx_svc_totp_create(sr);
    if (totp == NULL) {
        return NGX_ERROR;
    }

    totp->code = members->code.str;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_totp_confirm_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_totp_request_t  *totp;

    totp = sr->data;

    rc = ngx_svc_factor_read(&totp->factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    if (ngx_svc_factor_proved(&totp->factor) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    rc = ngx_svc_totp_right(totp,
                            ngx_svc_result(sr, &ngx_svc_sql_totp_pending));

    if (rc == NGX_OK) {
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_totp_confirm,
                                     ngx_svc_factor_added);
    }

    if (rc != NGX_DECLINED) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CODE,
                        "The code is wrong: is the clock of the device right?");

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_totp_right(ngx_svc_totp_request_t *totp, PGresult *res)
{
    u_char                      *p;
    int64_t                      step;
    ngx_int_t                    rc;
    ngx_svc_request_t           *sr;
    ngx_svc_row_totp_pending_t   row;

    sr = totp->factor.login.sr;
    step = 0;
    ngx_svc_row_totp_pending(&row, res, 0);

    rc = ngx_svc_uuid_parse(row.id.data, row.id.len, totp->id);

    if (rc == NGX_OK) {
        rc = ngx_svc_totp_secret_open(sr, &totp->factor.login.row, totp->id,
                                      &row.secret, totp->secret);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_totp_verify(totp->secret, &totp->code, ngx_time(), 0,
                                 &step);
    }

    ngx_explicit_memzero(totp->secret, sizeof(totp->secret));

    if (rc != NGX_OK) {
        return rc;
    }

    p = ngx_pnalloc(sr->request->pool, NGX_INT64_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    totp->step.data = p;
    totp->step.len = ngx_sprintf(p, "%L", step) - p;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_totp_confirm(ngx_svc_request_t *sr)
{
    return ngx_svc_factor_add(sr, &ngx_svc_sql_totp_confirm);
}


/* The factor was confirmed by another request, or is too old by now. */

static void
ngx_svc_totp_refused(ngx_svc_request_t *sr, PGresult *res)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, NGX_SVC_TOTP_NONE);
}
