/*
 * POST /oauth/par: authorization requests that clients push (RFC 9126).
 *
 * A client that has authenticated is told here whatever is wrong with its
 * request and has nothing to do with a user.  The stored parameters are checked
 * once more when the browser brings the request_uri: the client may be allowed
 * less by then.
 */

#include "ngx_svc_oauth_asserted.h"
#include "ngx_svc_login_policy.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_request.h"
#include "ngx_svc_session.h"
#include "ngx_svc_oauth_client_take.h"
#include "ngx_svc_oauth_hint.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_outcome.h"
#include "ngx_svc_oauth_proof.h"
#include "ngx_svc_oauth_pushed.h"
#include "ngx_svc_oauth_refusal.h"
#include "ngx_svc_oauth_request_uri.h"


#define NGX_SVC_OAUTH_PAR_MAX  16384        /* bytes of a query, as stored */


static ngx_int_t ngx_svc_oauth_par_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_par_client(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_par_check(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_par_jkt(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_par_params(ngx_svc_oauth_request_t *ar);
static ngx_uint_t ngx_svc_oauth_par_kept(const ngx_str_t *name);
static ngx_int_t ngx_svc_oauth_par_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_par_bind_create(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_oauth_par_reply(ngx_svc_request_t *sr);
static ngx_uint_t ngx_svc_oauth_par_known(PGresult *res);
static ngx_int_t ngx_svc_oauth_par_send(ngx_svc_oauth_request_t *ar);


#include "ngx_svc_oauth_par.sql.h"


const ngx_svc_route_t  ngx_svc_oauth_par[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("[/t/*]/par"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_par_prepare,
      .reply = ngx_svc_oauth_par_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_oauth_par_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_request_t  *ar;

    ar = ngx_svc_oauth_request_new(sr);

    if (ar == NULL || ngx_svc_oauth_proof_nonce(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_begin_form(&ar->oauth);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_par_client(ar);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_par_check(ar);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_proof(&ar->oauth, NULL);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_par_jkt(ar);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_caller(&ar->oauth);
    }

    return rc == NGX_OK
           ? ngx_svc_oauth_asserted_calls(&ar->oauth, ngx_svc_oauth_par_calls)
           : rc;
}


/*
 * Takes the client, and refuses a request_uri: a request that was pushed cannot
 * be pushed again (RFC 9126, 2.1).
 */

static ngx_int_t
ngx_svc_oauth_par_client(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t  rc;
    ngx_str_t  uri;

    rc = ngx_svc_oauth_value(&ar->oauth, "request_uri", &uri);

    if (rc == NGX_OK && uri.data) {
        return ngx_svc_fail(&ar->oauth.sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "'request_uri' cannot be pushed.");
    }

    return rc == NGX_OK ? ngx_svc_oauth_client_take(&ar->oauth) : rc;
}


/*
 * Checks the parameters.  Most of what is wrong with them is told when the
 * client is known: see ar->fault.
 */

static ngx_int_t
ngx_svc_oauth_par_check(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_request_form(ar);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_par_params(ar);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_hint_parse(ar);
    }

    if (rc == NGX_AGAIN) {
        ngx_str_null(&ar->hint);
        rc = NGX_OK;
    }

    return rc == NGX_OK
           ? ngx_svc_oauth_request_uri_new(ar->oauth.sr->request->pool,
                                           &ar->request_uri, &ar->pushed)
           : rc;
}


/*
 * Takes the key of a DPoP proof for the one that "dpop_jkt" would name (RFC
 * 9449, 10.1).
 */

static ngx_int_t
ngx_svc_oauth_par_jkt(ngx_svc_oauth_request_t *ar)
{
    if (ar->oauth.jkt.data == NULL) {
        return NGX_OK;
    }

    if (ar->jkt.len && !ngx_svc_same(&ar->jkt, &ar->oauth.jkt)) {
        return ngx_svc_fail(&ar->oauth.sr->error, NGX_SVC_E_DPOP_PROOF,
                            "'dpop_jkt' is not the key of the DPoP proof.");
    }

    ar->jkt = ar->oauth.jkt;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_par_params(ngx_svc_oauth_request_t *ar)
{
    u_char               *p;
    size_t                size;
    ngx_uint_t            i;
    ngx_svc_form_pair_t  *pair;

    size = 1;
    pair = ar->oauth.form.pairs;

    for (i = 0; i < ar->oauth.form.n; i++) {
        size += 2 + 3 * (pair[i].name.len + pair[i].value.len);
    }

    p = ngx_pnalloc(ar->oauth.sr->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ar->params.data = p;

    for (i = 0; i < ar->oauth.form.n; i++) {
        if (ngx_svc_oauth_par_kept(&pair[i].name)) {
            p = ngx_svc_oauth_request_pair(p, (char *) pair[i].name.data,
                                           &pair[i].value);
        }
    }

    ar->params.len = p - ar->params.data;

    return ar->params.len <= NGX_SVC_OAUTH_PAR_MAX
           ? NGX_OK
           : ngx_svc_fail(&ar->oauth.sr->error, NGX_SVC_E_INVALID_REQUEST,
                          "The parameters have more than %d bytes, as they "
                          "would be in an address.", NGX_SVC_OAUTH_PAR_MAX);
}


/*
 * Returns 1 if a parameter is stored.  Those by which the client authenticates
 * are not, nor those that only we write.
 */

static ngx_uint_t
ngx_svc_oauth_par_kept(const ngx_str_t *name)
{
    const char *const  *not;

    static const char *const  names[] = {
        "client_id", "client_secret", "client_assertion",
        "client_assertion_type", NGX_SVC_OAUTH_AUTH_AFTER,
        NGX_SVC_OAUTH_DECIDED, NULL
    };

    for (not = names; *not; not++) {
        if (ngx_strcmp(name->data, *not) == 0) {
            return 0;
        }
    }

    return 1;
}


static ngx_int_t
ngx_svc_oauth_par_calls(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    o = sr->data;

    rc = ngx_svc_oauth_client_call(o, NGX_SVC_OAUTH_LOGIN_ASYNC);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_once_call_only(o);
    }

    return rc == NGX_OK ? ngx_svc_route_call(sr, &ngx_svc_sql_oauth_par, NULL)
                        : rc;
}


static ngx_int_t
ngx_svc_oauth_par_bind_create(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_oauth_request_t  *ar;

    ar = sr->data;

    ngx_svc_pg_bind_bool(call, (ar->prompt & NGX_SVC_OAUTH_PROMPT_CREATE) != 0);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_par_reply(ngx_svc_request_t *sr)
{
    PGresult                 *login, *res;
    ngx_int_t                 rc;
    ngx_svc_oauth_request_t  *ar;

    ar = sr->data;
    login = ngx_svc_oauth_client_result(&ar->oauth);
    res = ngx_svc_result(sr, &ngx_svc_sql_oauth_par);

    rc = ngx_svc_oauth_client_known(&ar->oauth, login);

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (rc == NGX_OK) {
        ngx_svc_oauth_once_take(&ar->oauth);
    }

    if (rc != NGX_OK || !ngx_svc_oauth_par_known(res)) {
        return ngx_svc_oauth_refuse_client(&ar->oauth, login);
    }

    switch (ngx_svc_oauth_outcome(ar, login, res)) {

    case NGX_SVC_OAUTH_FAILED:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;

    case NGX_SVC_OAUTH_DONE:
        return ngx_svc_oauth_par_send(ar);

    default:
        return ngx_svc_send_error(sr);
    }
}


/*
 * Returns 0 if the client is to be refused.  Without a row it has been deleted
 * since, or its assertion was presented before.
 */

static ngx_uint_t
ngx_svc_oauth_par_known(PGresult *res)
{
    ngx_svc_row_oauth_par_t  row;

    static const ngx_str_t  client = ngx_string("client");

    if (PQntuples(res) == 0) {
        return 0;
    }

    ngx_svc_row_oauth_par(&row, res, 0);

    return row.verdict.data == NULL || !ngx_svc_same(&row.verdict, &client);
}


/*
 * Answers with the request_uri.  A request whose proof was used before has been
 * stored, too, but nobody learns its request_uri.
 */

static ngx_int_t
ngx_svc_oauth_par_send(ngx_svc_oauth_request_t *ar)
{
    ngx_svc_request_t      *sr;
    ngx_svc_json_writer_t   w;

    sr = ar->oauth.sr;

    if (ar->oauth.proof_seen) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_DPOP_PROOF,
                            "The DPoP proof has been used.");
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool,
                                 64 + ar->request_uri.len)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_string(&w, "request_uri", ar->request_uri.data,
                        ar->request_uri.len);
    ngx_svc_json_integer(&w, "expires_in", NGX_SVC_OAUTH_PUSHED_SECONDS);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_CREATED, &w, NULL);
}
