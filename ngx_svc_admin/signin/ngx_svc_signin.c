/*
 * What the routes of sign-in share.
 */

#include "ngx_svc_signin.h"


#define NGX_SVC_SIGNIN_ANSWER  1024     /* bytes, at first */


#include "ngx_svc_signin.sql.h"


ngx_int_t
ngx_svc_signin_bind_session(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind(call, sr->token_hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_signin_bind_new_session(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_signin_key_t  *key;

    key = sr->data;

    ngx_svc_pg_bind(call, key->hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_signin_key(ngx_svc_signin_key_t *key,
    const u_char tenant[NGX_SVC_UUID_LEN])
{
    u_char  *secret;

    secret = ngx_cpymem(key->key, tenant, NGX_SVC_UUID_LEN);

    if (ngx_svc_random(secret, NGX_SVC_SESSION_SECRET) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_sha256(secret, NGX_SVC_SESSION_SECRET, key->hash);
}


ngx_int_t
ngx_svc_signin_new_key(ngx_svc_request_t *sr)
{
    ngx_svc_session_t  *session;

    session = sr->session;

    sr->data = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_signin_key_t));

    return sr->data ? ngx_svc_signin_key(sr->data, session->key) : NGX_ERROR;
}


ngx_int_t
ngx_svc_signin_session(ngx_svc_request_t *sr, PGresult *res,
    const u_char key[NGX_SVC_SESSION_KEY])
{
    return ngx_svc_signin_session_of(sr, &res, 1, key);
}


ngx_int_t
ngx_svc_signin_session_of(ngx_svc_request_t *sr, PGresult **results,
    ngx_uint_t n, const u_char key[NGX_SVC_SESSION_KEY])
{
    u_char                 token[NGX_SVC_CSRF_TOKEN];
    ngx_uint_t             i;
    ngx_svc_row_t          columns;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_session_csrf(key, token) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool,
                                    NGX_SVC_SIGNIN_ANSWER)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    for (i = 0; i < n; i++) {

        if (PQntuples(results[i]) == 0) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        ngx_svc_row_init(&columns, results[i]);
        ngx_svc_row_write(&w, &columns, 0);
    }

    ngx_svc_json_plain(&w, "csrfToken", token, NGX_SVC_CSRF_TOKEN);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, sr->route->status ? sr->route->status
                                              : NGX_HTTP_OK, &w, NULL);
}


ngx_int_t
ngx_svc_signin_no_store(ngx_svc_request_t *sr)
{
    static ngx_str_t  no_store = ngx_string("no-store");

    return ngx_svc_add_header(sr->request, "Cache-Control", &no_store);
}


ngx_int_t
ngx_svc_signin_post(ngx_svc_request_t *sr, ngx_svc_password_job_t *job,
    ngx_svc_password_handler_pt handler, void *data)
{
    ngx_int_t  rc;

    job->handler = handler;
    job->data = data;

    rc = ngx_svc_password_post(job);

    if (rc == NGX_OK) {
        sr->request->main->count++;
        return NGX_DONE;
    }

    return rc == NGX_BUSY ? ngx_svc_signin_busy(sr)
                          : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


ngx_int_t
ngx_svc_signin_busy(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "Too many passwords are being checked: try again.");

    return ngx_svc_send_error(sr);
}
