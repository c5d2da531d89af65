/*
 * Authorization requests: the query.
 */

#include "ngx_svc_oauth_request_check.h"
#include "ngx_svc_oauth_request_uri.h"
#include "ngx_svc_application_redirect.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_session.h"


static ngx_uint_t ngx_svc_oauth_request_repeats(const char *name,
    const ngx_str_t *since);
static ngx_int_t ngx_svc_oauth_request_client(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_request_pushed(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_request_pushed_query(
    ngx_svc_oauth_request_t *ar, const ngx_str_t *since, ngx_str_t *query);


ngx_int_t
ngx_svc_oauth_request_parse(ngx_svc_request_t *sr, const ngx_str_t *query,
    ngx_svc_oauth_request_t **request)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_request_t  *ar;

    ar = ngx_svc_oauth_request_new(sr);
    if (ar == NULL) {
        return NGX_ERROR;
    }

    *request = ar;

    rc = ngx_svc_form_parse(sr->request->pool, query, &ar->oauth.form,
                            &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_request_client(ar);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_request_pushed(ar);
    }

    return rc == NGX_OK && ar->pushed.data == NULL
           ? ngx_svc_oauth_request_form(ar) : rc;
}


ngx_svc_oauth_request_t *
ngx_svc_oauth_request_new(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_request_t  *ar;

    static const ngx_str_t  none = ngx_string("");
    static const ngx_str_t  no = { 1, (u_char *) "\0" };

    ar = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_oauth_request_t));
    if (ar == NULL) {
        return NULL;
    }

    sr->data = ar;

    ar->oauth.sr = sr;
    ar->oauth.issuer = ngx_svc_oauth_issuer(sr, &none);
    ar->again = no;
    ar->ask = no;
    ar->acr_needed = no;

    return ar->oauth.issuer.data ? ar : NULL;
}


static ngx_int_t
ngx_svc_oauth_request_client(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t  rc;
    ngx_str_t  id;

    rc = ngx_svc_oauth_needed(&ar->oauth, "client_id", &id);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_client_public(&ar->oauth, &id);
    }

    if (rc == NGX_OK && ar->oauth.client.digest.len == 0) {
        rc = ngx_svc_oauth_client_refuse(&ar->oauth);
    }

    (void) ngx_svc_form_nth(&ar->oauth.form, NGX_SVC_OAUTH_DECIDED, 0,
                            &ar->decided);
    return rc;
}


/*
 * Takes a request_uri of ours.  A request with another one goes on, and its
 * client hears that it is not taken.
 */

static ngx_int_t
ngx_svc_oauth_request_pushed(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t  rc;
    ngx_str_t  uri, more;

    if (ngx_svc_form_nth(&ar->oauth.form, "request_uri", 0, &uri) != NGX_OK) {
        return NGX_OK;
    }

    rc = ngx_svc_oauth_request_uri_ours(ar->oauth.sr->request->pool, &uri,
                                        &ar->pushed);

    if (rc == NGX_DECLINED) {
        return NGX_OK;
    }

    if (rc != NGX_OK) {
        return rc;
    }

    ar->request_uri = uri;

    (void) ngx_svc_form_nth(&ar->oauth.form, NGX_SVC_OAUTH_AUTH_AFTER, 0,
                            &ar->since);

    return ngx_svc_form_nth(&ar->oauth.form, "request_uri", 1, &more) == NGX_OK
           ? ngx_svc_fail(&ar->oauth.sr->error, NGX_SVC_E_INVALID_REQUEST,
                          "The parameter 'request_uri' comes twice.")
           : NGX_OK;
}


ngx_int_t
ngx_svc_oauth_request_form(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_needed(&ar->oauth, "redirect_uri", &ar->redirect_uri);

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_application_redirect_loopback(&ar->redirect_uri,
                                              &ar->before, &ar->behind)
        != NGX_OK)
    {
        ngx_str_null(&ar->before);
        ngx_str_null(&ar->behind);
    }

    return ngx_svc_oauth_request_check(ar);
}


/* A cookie that cannot be one of ours counts as no cookie. */

ngx_int_t
ngx_svc_oauth_request_session(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = ar->oauth.sr;

    rc = ngx_svc_session_credential.take(sr);

    if (rc == NGX_DONE || rc == NGX_DECLINED) {
        sr->error.kind = NGX_SVC_E_NONE;
        return NGX_OK;
    }

    if (rc != NGX_OK) {
        return rc;
    }

    sr->credential = &ngx_svc_session_credential;

    return ngx_svc_oauth_request_digest(ar);
}


void
ngx_svc_oauth_request_seen(ngx_svc_oauth_request_t *ar)
{
    ngx_svc_request_t  *sr;

    sr = ar->oauth.sr;

    if (sr->credential && ngx_svc_auth_check(sr) != NGX_OK) {
        sr->error.kind = NGX_SVC_E_NONE;
    }
}


ngx_int_t
ngx_svc_oauth_request_digest(ngx_svc_oauth_request_t *ar)
{
    return ngx_svc_oauth_bytes(ar->oauth.sr, &ar->digest,
                               ar->oauth.sr->token_hash, NGX_SVC_SHA256_LEN);
}


ngx_int_t
ngx_svc_oauth_request_code(ngx_svc_oauth_request_t *ar)
{
    u_char  *p, bytes[NGX_SVC_OAUTH_SECRET];

    p = ngx_pnalloc(ar->oauth.sr->request->pool,
                    NGX_SVC_OAUTH_CODE + NGX_SVC_SHA256_LEN);

    if (p == NULL || ngx_svc_random(bytes, NGX_SVC_OAUTH_SECRET) != NGX_OK) {
        return NGX_ERROR;
    }

    ar->code.data = p;
    ar->code.len = NGX_SVC_OAUTH_CODE;
    ar->code_digest.data = ngx_svc_base64url(p, bytes, NGX_SVC_OAUTH_SECRET);
    ar->code_digest.len = NGX_SVC_SHA256_LEN;

    ngx_explicit_memzero(bytes, NGX_SVC_OAUTH_SECRET);

    return ngx_svc_sha256(ar->code.data, ar->code.len, ar->code_digest.data);
}


ngx_uint_t
ngx_svc_oauth_request_fresh(const ngx_svc_oauth_request_t *ar)
{
    return (ar->prompt & NGX_SVC_OAUTH_PROMPT_LOGIN) || ar->max_age.data
           || ar->auth_after.data || ar->acr.data;
}


ngx_int_t
ngx_svc_oauth_request_query(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *since, ngx_str_t *query)
{
    u_char               *p;
    size_t                size;
    ngx_uint_t            i;
    ngx_svc_form_pair_t  *pair;

    static const ngx_str_t  consent = ngx_string("consent");

    if (ar->pushed.data) {
        return ngx_svc_oauth_request_pushed_query(ar, since, query);
    }

    size = sizeof("&prompt=consent&auth_after=") + since->len;
    pair = ar->oauth.form.pairs;

    for (i = 0; i < ar->oauth.form.n; i++) {
        size += 2 + 3 * (pair[i].name.len + pair[i].value.len);
    }

    p = ngx_pnalloc(ar->oauth.sr->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    query->data = p;

    for (i = 0; i < ar->oauth.form.n; i++) {
        if (ngx_svc_oauth_request_repeats((char *) pair[i].name.data, since)) {
            p = ngx_svc_oauth_request_pair(p, (char *) pair[i].name.data,
                                           &pair[i].value);
        }
    }

    if (since->data && (ar->prompt & NGX_SVC_OAUTH_PROMPT_CONSENT)) {
        p = ngx_svc_oauth_request_pair(p, "prompt", &consent);
    }

    if (since->data) {
        p = ngx_svc_oauth_request_pair(p, NGX_SVC_OAUTH_AUTH_AFTER, since);
    }

    query->len = p - query->data;

    /* each pair begins with an "&", which the first one does not need */

    if (query->len) {
        query->data++;
        query->len--;
    }

    return NGX_OK;
}


/* Tells whether an address repeats a parameter: a new sign-in replaces some. */

static ngx_uint_t
ngx_svc_oauth_request_repeats(const char *name, const ngx_str_t *since)
{
    if (ngx_strcmp(name, NGX_SVC_OAUTH_DECIDED) == 0) {
        return 0;
    }

    return since->data == NULL
           || (ngx_strcmp(name, "prompt") != 0
               && ngx_strcmp(name, "max_age") != 0
               && ngx_strcmp(name, NGX_SVC_OAUTH_AUTH_AFTER) != 0);
}


/* The address does not have the parameters: nobody may read them on the way. */

static ngx_int_t
ngx_svc_oauth_request_pushed_query(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *since, ngx_str_t *query)
{
    u_char     *p;
    ngx_str_t   after;

    after = since->data ? *since : ar->since;

    p = ngx_pnalloc(ar->oauth.sr->request->pool,
                    sizeof("&client_id=&request_uri=&auth_after=")
                    + 3 * (ar->oauth.client.id.len + ar->request_uri.len
                           + after.len));
    if (p == NULL) {
        return NGX_ERROR;
    }

    query->data = p + 1;

    p = ngx_svc_oauth_request_pair(p, "client_id", &ar->oauth.client.id);
    p = ngx_svc_oauth_request_pair(p, "request_uri", &ar->request_uri);

    if (after.data) {
        p = ngx_svc_oauth_request_pair(p, NGX_SVC_OAUTH_AUTH_AFTER, &after);
    }

    query->len = p - query->data;

    return NGX_OK;
}


u_char *
ngx_svc_oauth_request_pair(u_char *p, const char *name,
    const ngx_str_t *value)
{
    *p++ = '&';
    p = (u_char *) ngx_escape_uri(p, (u_char *) name, ngx_strlen(name),
                                  NGX_ESCAPE_URI_COMPONENT);
    *p++ = '=';

    return (u_char *) ngx_escape_uri(p, value->data, value->len,
                                     NGX_ESCAPE_URI_COMPONENT);
}
