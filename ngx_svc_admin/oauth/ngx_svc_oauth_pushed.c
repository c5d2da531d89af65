/*
 * Authorization requests that were pushed: their stored parameters.
 *
 * A request_uri goes through the browser, as a link does that anybody may read.
 * The first browser that opens it gets a cookie, and the request_uri is good in
 * no other one.  In that one it is good for an hour, since a user who signs in
 * comes back to it.  The transaction that gives the client a code spends it; so
 * does an error that the client gets.
 */

#include "ngx_svc_oauth_pushed.h"
#include "ngx_svc_oauth_pushed.row.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_cookie.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_oauth_request_uri.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_OAUTH_PUSHED_BROWSER  32        /* random bytes of the cookie */
#define NGX_SVC_OAUTH_PUSHED_COOKIE   43        /* their length in base64url */
#define NGX_SVC_OAUTH_PUSHED_OPEN     3600      /* seconds */


static ngx_int_t ngx_svc_oauth_pushed_browser(ngx_svc_oauth_request_t *ar,
    ngx_uint_t opens);
static ngx_int_t ngx_svc_oauth_pushed_cookie(ngx_svc_oauth_request_t *ar,
    ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_pushed_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_pushed_take(ngx_svc_oauth_request_t *ar,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_pushed_jkt(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *text);
static ngx_int_t ngx_svc_oauth_pushed_fresh(ngx_svc_oauth_request_t *ar,
    const ngx_svc_row_pushed_t *row);
static ngx_int_t ngx_svc_oauth_pushed_spend_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_pushed_spent(ngx_svc_request_t *sr);


#include "ngx_svc_oauth_pushed.sql.h"


ngx_int_t
ngx_svc_oauth_pushed(ngx_svc_oauth_request_t *ar, ngx_uint_t opens,
    ngx_int_t (*then)(ngx_svc_oauth_request_t *ar))
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = ar->oauth.sr;

    if (!opens) {
        ngx_str_null(&ar->decided);
    }

    ar->then = then;
    sr->reply = ngx_svc_oauth_pushed_reply;

    rc = ngx_svc_oauth_pushed_browser(ar, opens);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_client_call(&ar->oauth, NGX_SVC_OAUTH_LOGIN_ASYNC);
    }

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, opens ? &ngx_svc_sql_oauth_par_open
                                          : &ngx_svc_sql_oauth_par_read, NULL)
           : rc;
}


/*
 * Sets ar->browser.  A browser has one cookie for all its requests, so that
 * they may be in several tabs.  The cookie is set before the request is looked
 * for: the browser gets it with an error, too.
 */

static ngx_int_t
ngx_svc_oauth_pushed_browser(ngx_svc_oauth_request_t *ar, ngx_uint_t opens)
{
    ngx_str_t           value, name;
    ngx_svc_request_t  *sr;

    static const ngx_str_t  plain = ngx_string("svc_par");
    static const ngx_str_t  host = ngx_string("__Host-svc_par");

    sr = ar->oauth.sr;
    name = ngx_svc_cookie_secure(sr) ? host : plain;

    if (ngx_svc_cookie(sr->request, &name, &value) != NGX_OK
        || value.len != NGX_SVC_OAUTH_PUSHED_COOKIE)
    {
        if (!opens) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                                NGX_SVC_OAUTH_REQUEST_URI_WRONG);
        }

        if (ngx_svc_oauth_pushed_cookie(ar, &value) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    ar->browser.len = NGX_SVC_SHA256_LEN;
    ar->browser.data = ngx_pnalloc(sr->request->pool, NGX_SVC_SHA256_LEN);

    if (ar->browser.data == NULL
        || ngx_svc_sha256(value.data, value.len, ar->browser.data) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return opens ? ngx_svc_cookie_set(sr, &plain, &value,
                                      NGX_SVC_OAUTH_PUSHED_OPEN,
                                      NGX_SVC_COOKIE_HTTP_ONLY)
                 : NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_pushed_cookie(ngx_svc_oauth_request_t *ar, ngx_str_t *value)
{
    u_char  bytes[NGX_SVC_OAUTH_PUSHED_BROWSER];

    value->len = NGX_SVC_OAUTH_PUSHED_COOKIE;
    value->data = ngx_pnalloc(ar->oauth.sr->request->pool, value->len);

    if (value->data == NULL || ngx_svc_random(bytes, sizeof(bytes)) != NGX_OK)
    {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(value->data, bytes, sizeof(bytes));

    ngx_explicit_memzero(bytes, sizeof(bytes));

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_pushed_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    PGresult                 *res;
    ngx_svc_oauth_request_t  *ar;

    static const ngx_svc_pg_statement_t *const  statements[] = {
        &ngx_svc_sql_oauth_par_open,
        &ngx_svc_sql_oauth_par_read,
        NULL
    };

    ar = sr->data;
    res = ngx_svc_result_of(sr, statements);

    rc = ngx_svc_oauth_client_known(&ar->oauth,
                                    ngx_svc_oauth_client_result(&ar->oauth));

    if (rc == NGX_DECLINED) {
        (void) ngx_svc_oauth_client_refuse(&ar->oauth);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_pushed_take(ar, res);
    }

    switch (rc) {

    case NGX_OK:
        return ar->then(ar);

    case NGX_DECLINED:
        return ngx_svc_send_error(sr);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/*
 * Takes the stored parameters.  A request that is spent is refused, unless the
 * address has what the user has decided on the page: that is sealed, and is
 * answered again when the browser loads the address anew.
 */

static ngx_int_t
ngx_svc_oauth_pushed_take(ngx_svc_oauth_request_t *ar, PGresult *res)
{
    ngx_int_t              rc;
    ngx_svc_request_t     *sr;
    ngx_svc_row_pushed_t   row;

    sr = ar->oauth.sr;

    ngx_svc_row_pushed(&row, res, 0, 0);
    ar->spent = row.used & 1;

    if (PQntuples(res) == 0 || (ar->spent && ar->decided.data == NULL)) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            NGX_SVC_OAUTH_REQUEST_URI_WRONG);
    }

    rc = ngx_svc_form_parse(sr->request->pool, &row.params, &ar->oauth.form,
                            &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_request_form(ar);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_pushed_fresh(ar, &row);
    }

    return rc == NGX_OK ? ngx_svc_oauth_pushed_jkt(ar, &row.jkt) : rc;
}


/* Takes the stored key: the key of a DPoP proof is in no parameter. */

static ngx_int_t
ngx_svc_oauth_pushed_jkt(ngx_svc_oauth_request_t *ar, const ngx_str_t *text)
{
    if (text->data == NULL) {
        return NGX_OK;
    }

    ar->jkt.len = NGX_SVC_SHA256_LEN;
    ar->jkt.data = ngx_pnalloc(ar->oauth.sr->request->pool, ar->jkt.len);

    return ar->jkt.data
           && ngx_svc_hex_bytea(text, ar->jkt.data, &ar->jkt.len) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


/*
 * A sign-in is new if it is newer than the opening of the request: "auth_after"
 * of the address does not count, because anybody can change it.  But if it is
 * there, a new sign-in is needed, which makes the request stricter.
 */

static ngx_int_t
ngx_svc_oauth_pushed_fresh(ngx_svc_oauth_request_t *ar,
    const ngx_svc_row_pushed_t *row)
{
    time_t  max, age;

    static const ngx_str_t  no = { 1, (u_char *) "\0" };

    if (ar->since.data) {
        ar->prompt &= ~NGX_SVC_OAUTH_PROMPT_CREATE;
    }

    /* this request leads to the page that signs users up, and nowhere else */

    if (ar->prompt & NGX_SVC_OAUTH_PROMPT_CREATE) {
        return NGX_OK;
    }

    ar->again = no;

    age = ngx_atotm(row->age.data, row->age.len);
    max = ar->max_age.data ? ngx_atotm(ar->max_age.data, ar->max_age.len)
                           : NGX_MAX_TIME_T_VALUE;

    if (ar->since.data == NULL && max > age
        && !(ar->prompt & NGX_SVC_OAUTH_PROMPT_LOGIN))
    {
        return NGX_OK;
    }

    ngx_str_null(&ar->max_age);

    return ngx_svc_oauth_bytes(ar->oauth.sr, &ar->auth_after, row->opened.data,
                               row->opened.len);
}


ngx_int_t
ngx_svc_oauth_pushed_spend(ngx_svc_oauth_request_t *ar, const ngx_str_t *slug,
    ngx_int_t (*then)(ngx_svc_oauth_request_t *ar))
{
    ngx_svc_request_t  *sr;

    sr = ar->oauth.sr;

    if (ngx_svc_oauth_copy(sr, &ar->slug, slug) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* the round trip that spends it may set an error of its own */

    ar->error = sr->error;
    sr->error.kind = NGX_SVC_E_NONE;
    ar->then = then;

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_oauth_pushed_spend_calls,
                                 ngx_svc_oauth_pushed_spent);
}


static ngx_int_t
ngx_svc_oauth_pushed_spend_calls(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_client_tenant(sr->data);

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_oauth_par_spend, NULL) : rc;
}


static ngx_int_t
ngx_svc_oauth_pushed_spent(ngx_svc_request_t *sr)
{
    PGresult                 *res;
    ngx_svc_oauth_request_t  *ar;

    ar = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_oauth_par_spend);

    if (PQcmdTuples(res)[0] != '1') {
        return ngx_svc_oauth_pushed_refuse(ar);
    }

    sr->error = ar->error;

    return ar->then(ar);
}


ngx_int_t
ngx_svc_oauth_pushed_refuse(ngx_svc_oauth_request_t *ar)
{
    (void) ngx_svc_fail(&ar->oauth.sr->error, NGX_SVC_E_INVALID_REQUEST,
                        NGX_SVC_OAUTH_REQUEST_URI_WRONG);

    return ngx_svc_send_error(ar->oauth.sr);
}
