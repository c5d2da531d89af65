/*
 * Sessions: the cookie, the statements that find it, and the CSRF token.
 */

#include "ngx_svc_session.h"
#include "ngx_svc_base_url.h"
#include "ngx_svc_bind_client.h"
#include "ngx_svc_cookie.h"
#include "ngx_svc_mac.h"
#include "ngx_svc_origin.h"
#include "ngx_svc_signin.h"


static ngx_int_t ngx_svc_session_take(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_session_csrf_check(ngx_svc_request_t *sr,
    ngx_svc_session_t *session);
static ngx_uint_t ngx_svc_session_csrf_equal(const u_char *key,
    const ngx_str_t *token);
static ngx_int_t ngx_svc_session_call(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_session_find(ngx_svc_request_t *sr,
    ngx_svc_pg_op_t *op, const u_char *hash);
static ngx_int_t ngx_svc_session_bind_key(ngx_svc_request_t *sr,
    ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call, const u_char *hash);
static void ngx_svc_session_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);
static ngx_int_t ngx_svc_session_bind_fresh(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);
static ngx_int_t ngx_svc_session_refuse(ngx_svc_request_t *sr, PGresult *res);
static void ngx_svc_session_name(ngx_svc_request_t *sr, ngx_str_t *name);


#include "ngx_svc_session.sql.h"


const ngx_svc_credential_t  ngx_svc_session_credential = {
    .take = ngx_svc_session_take,
    .call = ngx_svc_session_call,
    .find = ngx_svc_session_find,
    .refuse = ngx_svc_session_refuse,
    .touch = &ngx_svc_sql_session_touch
};


const ngx_str_t  ngx_svc_stages[] = {
    ngx_string("full"),
    ngx_string("mfa"),
    ngx_string("enroll"),
    ngx_string("password")
};


/* The cookies' names, without the "__Host-" that Secure ones have. */

static const ngx_str_t  ngx_svc_session_cookie_name =
    ngx_string("svc_session");
static const ngx_str_t  ngx_svc_session_csrf_name = ngx_string("svc_csrf");

static ngx_svc_macs_t  ngx_svc_session_macs;


ngx_int_t
ngx_svc_session_init_worker(const ngx_svc_keys_t *keys)
{
    return ngx_svc_mac_init(&ngx_svc_session_macs, keys, "csrf");
}


void
ngx_svc_session_exit_worker(void)
{
    ngx_svc_mac_free(&ngx_svc_session_macs);
}


/*
 * A request that fails the CSRF check has the statement of its session, but not
 * those of the route.  The error is sent only if the session is alive.
 */

static ngx_int_t
ngx_svc_session_take(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_session_t  *session;

    session = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_session_t));
    if (session == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_session_cookie(sr, session->key);

    if (rc == NGX_DECLINED) {
        return ngx_svc_session_refuse(sr, NULL);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_sha256(session->key + NGX_SVC_UUID_LEN,
                       NGX_SVC_SESSION_SECRET, sr->token_hash)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    sr->session = session;

    if (sr->request->method != NGX_HTTP_GET
        && sr->request->method != NGX_HTTP_HEAD
        && ngx_svc_session_csrf_check(sr, session) != NGX_OK)
    {
        session->csrf_failed = 1;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_session_cookie(ngx_svc_request_t *sr, u_char key[NGX_SVC_SESSION_KEY])
{
    ngx_int_t  rc;
    ngx_str_t  name, value, dst;

    ngx_svc_session_name(sr, &name);

    rc = ngx_svc_cookie(sr->request, &name, &value);

    if (rc != NGX_OK) {
        return rc;
    }

    if (value.len != NGX_SVC_SESSION_COOKIE) {
        return NGX_DECLINED;
    }

    dst.data = key;

    return ngx_decode_base64url(&dst, &value) == NGX_OK
           && dst.len == NGX_SVC_SESSION_KEY ? NGX_OK : NGX_DECLINED;
}


static void
ngx_svc_session_name(ngx_svc_request_t *sr, ngx_str_t *name)
{
    static const ngx_str_t  host = ngx_string("__Host-svc_session");

    *name = ngx_svc_cookie_secure(sr) ? host : ngx_svc_session_cookie_name;
}


static ngx_int_t
ngx_svc_session_csrf_check(ngx_svc_request_t *sr, ngx_svc_session_t *session)
{
    ngx_table_elt_t  *token;

    if (ngx_svc_origin_check(sr) != NGX_OK) {
        return NGX_DECLINED;
    }

    token = ngx_svc_header_in(sr->request, "X-CSRF-Token",
                              sizeof("X-CSRF-Token") - 1, NULL);

    if (token
        && ngx_svc_header_in(sr->request, "X-CSRF-Token",
                             sizeof("X-CSRF-Token") - 1, token)
           == NULL
        && ngx_svc_session_csrf_equal(session->key, &token->value))
    {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_CSRF,
                        "One \"X-CSRF-Token\" header is needed, with the "
                        "\"csrfToken\" of GET /v1/auth/session.");
}


/* Compares under each key of the file, as sessions outlive a key's rotation. */

static ngx_uint_t
ngx_svc_session_csrf_equal(const u_char *key, const ngx_str_t *token)
{
    u_char      mac[NGX_SVC_MAC_LEN], text[NGX_SVC_CSRF_TOKEN + 2];
    ngx_str_t   src, dst;
    ngx_uint_t  i;

    if (token->len != NGX_SVC_CSRF_TOKEN) {
        return 0;
    }

    for (i = 0; i < ngx_svc_session_macs.n; i++) {

        if (ngx_svc_mac(&ngx_svc_session_macs.keys[i], key,
                        NGX_SVC_SESSION_KEY, mac)
            != NGX_OK)
        {
            return 0;
        }

        src.data = mac;
        src.len = NGX_SVC_MAC_LEN;
        dst.data = text;

        ngx_encode_base64url(&dst, &src);

        if (ngx_svc_equal(text, token->data, NGX_SVC_CSRF_TOKEN)) {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_svc_session_csrf(const u_char key[NGX_SVC_SESSION_KEY],
    u_char token[NGX_SVC_CSRF_TOKEN])
{
    u_char     mac[NGX_SVC_MAC_LEN];
    ngx_str_t  src, dst;

    if (ngx_svc_mac(&ngx_svc_session_macs.keys[0], key, NGX_SVC_SESSION_KEY,
                    mac)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    src.data = mac;
    src.len = NGX_SVC_MAC_LEN;
    dst.data = token;

    ngx_encode_base64url(&dst, &src);

    return NGX_OK;
}


ngx_int_t
ngx_svc_session_renew_csrf(ngx_svc_request_t *sr,
    const u_char key[NGX_SVC_SESSION_KEY])
{
    u_char     token[NGX_SVC_CSRF_TOKEN + 2];
    ngx_str_t  name, old, new;

    static const ngx_str_t  host = ngx_string("__Host-svc_csrf");

    name = ngx_svc_cookie_secure(sr) ? host : ngx_svc_session_csrf_name;

    if (ngx_svc_cookie(sr->request, &name, &old) != NGX_OK) {
        return NGX_OK;
    }

    new.data = token;
    new.len = NGX_SVC_CSRF_TOKEN;

    if (ngx_svc_session_csrf(key, token) != NGX_OK) {
        return NGX_ERROR;
    }

    if (old.len == new.len && ngx_svc_equal(old.data, new.data, new.len)) {
        return NGX_OK;
    }

    return ngx_svc_cookie_set(sr, &ngx_svc_session_csrf_name, &new, 0, 0);
}


static ngx_int_t
ngx_svc_session_call(ngx_svc_request_t *sr)
{
    ngx_uint_t          kind, domain;
    ngx_svc_pg_call_t  *call;

    static const ngx_svc_pg_statement_t *const  statements[][2] = {
        { &ngx_svc_sql_session_read, &ngx_svc_sql_session_read_domain },
        { &ngx_svc_sql_session_write, &ngx_svc_sql_session_write_domain },
        { &ngx_svc_sql_session_caller, &ngx_svc_sql_session_caller_domain }
    };

    /* a sensitive route needs a fresh factor, even if it only reads at first */

    kind = (sr->route->flags & NGX_SVC_ROUTE_CALLER) ? 2
           : sr->op->kind == NGX_SVC_PG_WRITE
             || (sr->route->flags & NGX_SVC_ROUTE_SENSITIVE);
    domain = ngx_svc_base_url_domain(sr);

    call = ngx_svc_pg_call(sr->op, statements[kind][domain]);

    if (call == NULL
        || ngx_svc_session_bind_key(sr, sr->op, call, sr->token_hash) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_session_bind(sr, call);

    if (kind
        && (ngx_svc_session_bind_fresh(sr, call) != NGX_OK
            || ngx_svc_bind_client(sr, call) != NGX_OK))
    {
        return NGX_ERROR;
    }

    if (domain) {
        ngx_svc_base_url_bind(sr, call);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_session_find(ngx_svc_request_t *sr, ngx_svc_pg_op_t *op,
    const u_char *hash)
{
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_pg_call(op, &ngx_svc_sql_session_find);

    return call ? ngx_svc_session_bind_key(sr, op, call, hash) : NGX_ERROR;
}


/* The tenant's id is copied: the op may outlive the request. */

static ngx_int_t
ngx_svc_session_bind_key(ngx_svc_request_t *sr, ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call, const u_char *hash)
{
    u_char             *tenant;
    ngx_svc_session_t  *session;

    session = sr->session;

    tenant = ngx_pnalloc(op->pool, NGX_SVC_UUID_TEXT_LEN);
    if (tenant == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_uuid_text(tenant, session->key);

    ngx_svc_pg_bind(call, hash, NGX_SVC_SHA256_LEN);
    ngx_svc_pg_bind(call, tenant, NGX_SVC_UUID_TEXT_LEN);

    return ngx_svc_pg_bind_int(op, call,
                               ngx_svc_setting(NGX_SVC_SET_SESSION_IDLE));
}


/* A request that fails the CSRF check needs no stage and no permission. */

static void
ngx_svc_session_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    ngx_uint_t            flags;
    const ngx_str_t      *stages;
    ngx_svc_session_t    *session;
    ngx_svc_main_conf_t  *smcf;

    static const ngx_str_t  all = ngx_string("{full,mfa,enroll,password}");
    static const ngx_str_t  pending[] = {
        ngx_string("{full}"),
        ngx_string("{full,mfa," NGX_SVC_SESSION_LOCKED "}"),
        ngx_string("{full,enroll}"),
        ngx_string("{full,mfa,enroll," NGX_SVC_SESSION_LOCKED "}"),
        ngx_string("{full,password}"),
        ngx_string("{full,mfa,password}"),
        ngx_string("{full,enroll,password}"),
        ngx_string("{full,mfa,enroll,password}")
    };

    session = sr->session;
    flags = sr->route->flags;
    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    if ((flags & NGX_SVC_ROUTE_PENDING_PROOF) && smcf->mail) {
        flags |= NGX_SVC_ROUTE_PENDING_ENROLL;
    }

    stages = session->csrf_failed ? &all
                 : &pending[flags / NGX_SVC_ROUTE_PENDING_MFA & 7];

    ngx_svc_pg_bind_str(call, stages);
    ngx_svc_pg_bind_str(call, session->csrf_failed
                              || ((flags & NGX_SVC_ROUTE_SESSION)
                                  && sr->route->permission == 0)
                              ? NULL
                              : ngx_svc_permission_name(sr->route->permission));
}


static ngx_int_t
ngx_svc_session_bind_fresh(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    ngx_svc_session_t  *session;

    session = sr->session;

    ngx_svc_pg_bind_bool(call, !session->csrf_failed
                               && (sr->route->flags & NGX_SVC_ROUTE_SENSITIVE));

    return ngx_svc_pg_bind_int(sr->op, call,
                             ngx_svc_setting(NGX_SVC_SET_MFA_STEP_UP_WINDOW));
}


/*
 * res is that of the statement of the session, with a verdict or without; NULL:
 * the cookie cannot be ours.  The answer that has ended this session may have
 * given the browser newer cookies: only GET /v1/auth/session deletes them.
 */

static ngx_int_t
ngx_svc_session_refuse(ngx_svc_request_t *sr, PGresult *res)
{
    ngx_str_t                     verdict;
    ngx_uint_t                    i;
    ngx_svc_row_session_judged_t  row;

    if (res && PQntuples(res) && PQnfields(res) > 2) {
        ngx_svc_row_session_judged(&row, res, 0, 0);
        verdict = row.verdict;

        for (i = NGX_SVC_STAGE_MFA; i <= NGX_SVC_STAGE_PASSWORD; i++) {
            if (verdict.len == ngx_svc_stages[i].len
                && ngx_strncmp(verdict.data, ngx_svc_stages[i].data,
                               verdict.len)
                   == 0)
            {
                return ngx_svc_session_pending(sr, i);
            }
        }

        if (verdict.len == sizeof("stale") - 1) {
            return ngx_svc_session_pending(sr, NGX_SVC_STAGE_MFA);
        }

        if (verdict.len == sizeof(NGX_SVC_SESSION_LOCKED) - 1
            && ngx_strncmp(verdict.data, NGX_SVC_SESSION_LOCKED, verdict.len)
               == 0)
        {
            return ngx_svc_session_over(sr);
        }

        if (verdict.len && sr->route->permission == NGX_SVC_P_NONE) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                                "The role of the user grants no permission.");
        }

        if (verdict.len) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                       "The role of the user does not grant \"%V\".",
                       ngx_svc_permission_name(sr->route->permission));
        }
    }

    return ngx_svc_session_over(sr);
}


ngx_int_t
ngx_svc_session_over(ngx_svc_request_t *sr)
{
    if ((sr->route->flags & NGX_SVC_ROUTE_FORGET)
        && ngx_svc_session_delete_cookies(sr) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHENTICATED,
                        "The session has ended: sign in again.");
}


ngx_int_t
ngx_svc_session_pending(ngx_svc_request_t *sr, ngx_svc_stage_e stage)
{
    switch (stage) {

    case NGX_SVC_STAGE_ENROLL:
        return ngx_svc_fail(&sr->error, NGX_SVC_E_ENROLLMENT,
                            "A second factor must be enrolled first: see "
                            "POST /v1/mfa/totp.");

    case NGX_SVC_STAGE_PASSWORD:
        return ngx_svc_fail(&sr->error, NGX_SVC_E_PASSWORD_EXPIRED,
                            "The password is too old: set another one by "
                            "POST /v1/auth/password.");

    default: /* NGX_SVC_STAGE_MFA */
        return ngx_svc_fail(&sr->error, NGX_SVC_E_STEP_UP,
                            "A fresh second factor is needed: POST "
                            "/v1/mfa/step-up.");
    }
}


ngx_int_t
ngx_svc_session_set_cookies(ngx_svc_request_t *sr,
    const u_char key[NGX_SVC_SESSION_KEY])
{
    u_char     text[NGX_SVC_SESSION_COOKIE], token[NGX_SVC_CSRF_TOKEN + 2];
    ngx_str_t  src, cookie, csrf;

    src.data = (u_char *) key;
    src.len = NGX_SVC_SESSION_KEY;
    cookie.data = text;

    ngx_encode_base64url(&cookie, &src);

    csrf.data = token;
    csrf.len = NGX_SVC_CSRF_TOKEN;

    if (ngx_svc_session_csrf(key, token) != NGX_OK
        || ngx_svc_cookie_set(sr, &ngx_svc_session_cookie_name, &cookie, 0,
                              NGX_SVC_COOKIE_HTTP_ONLY)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_cookie_set(sr, &ngx_svc_session_csrf_name, &csrf, 0, 0);
}


ngx_int_t
ngx_svc_session_delete_cookies(ngx_svc_request_t *sr)
{
    ngx_str_t  none;

    ngx_str_null(&none);

    if (ngx_svc_cookie_set(sr, &ngx_svc_session_cookie_name, &none, 0,
                           NGX_SVC_COOKIE_HTTP_ONLY|NGX_SVC_COOKIE_DELETE)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_cookie_set(sr, &ngx_svc_session_csrf_name, &none, 0,
                              NGX_SVC_COOKIE_DELETE);
}
