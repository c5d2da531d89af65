/*
 * Requests of clients to sign a user out: the query, and what PostgreSQL says
 * about it.
 */

#include "ngx_svc_oauth_logout.h"
#include "ngx_svc_oauth_key.row.h"
#include "ngx_svc_application.h"
#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_location.h"
#include "ngx_svc_oauth_sid.h"
#include "ngx_svc_session.h"


#define NGX_SVC_OAUTH_LOGOUT_STATE  2048    /* bytes */


static ngx_int_t ngx_svc_oauth_logout_hint(ngx_svc_oauth_logout_t *lo);
static ngx_int_t ngx_svc_oauth_logout_client(ngx_svc_oauth_logout_t *lo);
static ngx_uint_t ngx_svc_oauth_logout_aud(const cJSON *payload,
    ngx_str_t *client);
static ngx_int_t ngx_svc_oauth_logout_verify(ngx_svc_oauth_logout_t *lo,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_logout_unknown(ngx_svc_oauth_logout_t *lo);
static ngx_int_t ngx_svc_oauth_logout_same(ngx_svc_oauth_logout_t *lo,
    const ngx_str_t *text);


#include "ngx_svc_oauth_logout.sql.h"


ngx_int_t
ngx_svc_oauth_logout_parse(ngx_svc_request_t *sr, const ngx_str_t *query,
    ngx_svc_oauth_logout_t **logout)
{
    ngx_int_t                rc;
    ngx_svc_oauth_logout_t  *lo;

    static const char *const  repeatable[] = { NULL };

    lo = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_oauth_logout_t));
    if (lo == NULL) {
        return NGX_ERROR;
    }

    sr->data = lo;
    *logout = lo;
    lo->oauth.sr = sr;

    rc = ngx_svc_form_parse(sr->request->pool, query, &lo->oauth.form,
                            &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_form_unique(&lo->oauth.form, repeatable, &sr->error);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_value(&lo->oauth, "post_logout_redirect_uri",
                                 &lo->redirect_uri);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_value(&lo->oauth, "state", &lo->state);
    }

    if (rc == NGX_OK && lo->state.len > NGX_SVC_OAUTH_LOGOUT_STATE) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "'state' has more than %d bytes.",
                            NGX_SVC_OAUTH_LOGOUT_STATE);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_logout_hint(lo);
    }

    return rc == NGX_OK ? ngx_svc_oauth_logout_client(lo) : rc;
}


/*
 * Takes the hint.  An ID token that has expired is a good hint; a token of
 * another kind is none.
 */

static ngx_int_t
ngx_svc_oauth_logout_hint(ngx_svc_oauth_logout_t *lo)
{
    ngx_int_t       rc;
    ngx_str_t       text;
    ngx_svc_jws_t  *jws;

    static const ngx_str_t  jwt = ngx_string("jwt");

    rc = ngx_svc_oauth_value(&lo->oauth, "id_token_hint", &text);
    if (rc != NGX_OK || text.data == NULL) {
        return rc;
    }

    lo->hinted = 1;

    jws = ngx_pcalloc(lo->oauth.sr->request->pool, sizeof(ngx_svc_jws_t));
    if (jws == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_jws_parse_signed(lo->oauth.sr->request->pool, &text, jws);

    if (rc == NGX_OK && jws->kid.len == NGX_SVC_JWK_KID
        && (jws->typ.data == NULL
            || (jws->typ.len == jwt.len
                && ngx_strncasecmp(jws->typ.data, jwt.data, jwt.len) == 0)))
    {
        lo->hint = jws;
        lo->oauth.token.kid = jws->kid;
    }

    return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_logout_client(ngx_svc_oauth_logout_t *lo)
{
    ngx_int_t        rc;
    ngx_str_t        id, aud;
    ngx_svc_oauth_t  *o;

    o = &lo->oauth;
    ngx_str_null(&aud);

    rc = ngx_svc_oauth_value(o, "client_id", &id);
    if (rc != NGX_OK) {
        return rc;
    }

    if (lo->hint && !ngx_svc_oauth_logout_aud(lo->hint->payload, &aud)) {
        lo->hint = NULL;
    }

    if (lo->hint && id.data
        && (aud.len != id.len || ngx_memcmp(aud.data, id.data, id.len) != 0))
    {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "'id_token_hint' is not of 'client_id'.");
    }

    lo->named = id.data != NULL;

    if (id.data == NULL && lo->hint && ngx_svc_application_id(&aud)) {
        id = aud;
    }

    if (id.data == NULL) {
        lo->hint = NULL;
        return NGX_OK;
    }

    rc = ngx_svc_oauth_client_public(o, &id);

    return rc == NGX_OK && !ngx_svc_oauth_logout_client_is(lo)
           ? ngx_svc_oauth_logout_unknown(lo) : rc;
}


/* Takes the one client that an ID token is for; returns 0 if there is none. */

static ngx_uint_t
ngx_svc_oauth_logout_aud(const cJSON *payload, ngx_str_t *client)
{
    const cJSON  *aud;

    aud = cJSON_GetObjectItemCaseSensitive(payload, "aud");

    if (cJSON_IsArray(aud)) {
        aud = cJSON_GetArraySize(aud) == 1 ? aud->child : NULL;
    }

    if (aud == NULL || !cJSON_IsString(aud)) {
        return 0;
    }

    client->data = (u_char *) aud->valuestring;
    client->len = ngx_strlen(aud->valuestring);

    return 1;
}


ngx_int_t
ngx_svc_oauth_logout_calls(ngx_svc_oauth_logout_t *lo)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = lo->oauth.sr;

    rc = ngx_svc_oauth_client_call(&lo->oauth, NGX_SVC_OAUTH_LOGIN_SYNC);

    if (rc == NGX_OK && lo->hint) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_oauth_key_public, NULL);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_oauth_logout, NULL);
    }

    return rc;
}


ngx_int_t
ngx_svc_oauth_logout_judge(ngx_svc_oauth_logout_t *lo)
{
    ngx_int_t                    rc;
    PGresult                    *res;
    ngx_svc_oauth_t             *o;
    ngx_svc_row_oauth_logout_t   row;

    o = &lo->oauth;

    rc = ngx_svc_oauth_client_known(o, ngx_svc_oauth_client_result(o));

    if (rc == NGX_OK && lo->hint) {
        res = ngx_svc_result(o->sr, &ngx_svc_sql_oauth_key_public);
        rc = ngx_svc_oauth_logout_verify(lo, res);
    }

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    res = ngx_svc_result(o->sr, &ngx_svc_sql_oauth_logout);

    if (rc != NGX_OK || PQntuples(res) == 0) {
        return ngx_svc_oauth_logout_unknown(lo);
    }

    ngx_svc_row_oauth_logout(&row, res, 0);

    if (lo->redirect_uri.data && !row.registered) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "'post_logout_redirect_uri' is not one of the "
                            "client's.");
    }

    lo->session = row.root.len != 0;

    return lo->session && lo->hint && lo->valid
           ? ngx_svc_oauth_logout_same(lo, &row.root) : NGX_OK;
}


/*
 * A client that only the hint names may have been deleted: the hint is not
 * valid then.  A client_id that is unknown is an error.
 */

static ngx_int_t
ngx_svc_oauth_logout_unknown(ngx_svc_oauth_logout_t *lo)
{
    if (lo->named) {
        return ngx_svc_fail(&lo->oauth.sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "There is no client with this 'client_id'.");
    }

    lo->valid = 0;
    ngx_str_null(&lo->oauth.client.digest);

    return NGX_OK;
}


/* Verifies the hint by the key's own algorithm, whatever the token says. */

static ngx_int_t
ngx_svc_oauth_logout_verify(ngx_svc_oauth_logout_t *lo, PGresult *res)
{
    u_char                           thumbprint[NGX_SVC_JWK_THUMBPRINT];
    cJSON                           *jwk;
    EVP_PKEY                        *key;
    ngx_int_t                        rc;
    ngx_svc_jwa_e                    alg;
    ngx_svc_request_t               *sr;
    ngx_svc_row_oauth_key_public_t   row;

    sr = lo->oauth.sr;

    if (PQntuples(res) == 0) {
        return NGX_OK;
    }

    ngx_svc_row_oauth_key_public(&row, res, 0);

    if (ngx_svc_json_parse(sr->request->pool, &row.public, &jwk, &sr->error)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_jwk_signing(jwk, &key, &alg, thumbprint);

    if (rc == NGX_OK) {
        rc = ngx_svc_jws_verify(lo->hint, key, alg);
        EVP_PKEY_free(key);
    }

    lo->valid = rc == NGX_OK;

    return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/*
 * Tells whether the hint is for the browser's session.  text: the session's
 * root_id.
 */

static ngx_int_t
ngx_svc_oauth_logout_same(ngx_svc_oauth_logout_t *lo, const ngx_str_t *text)
{
    u_char      root[NGX_SVC_UUID_LEN], sid[NGX_SVC_OAUTH_SID];
    ngx_str_t   hint;

    if (ngx_svc_uuid_parse(text->data, text->len, root) != NGX_OK
        || ngx_svc_oauth_sid(lo->oauth.tenant.data, root,
                             &lo->oauth.client.id, sid)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    lo->same = ngx_svc_jws_text(lo->hint->payload, "sid", &hint) == NGX_OK
               && hint.len == NGX_SVC_OAUTH_SID
               && ngx_memcmp(hint.data, sid, NGX_SVC_OAUTH_SID) == 0;

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_logout_target(ngx_svc_oauth_logout_t *lo, ngx_uint_t asked,
    ngx_str_t *location)
{
    u_char  *p;

    ngx_str_null(location);

    if (lo->redirect_uri.data == NULL || !ngx_svc_oauth_logout_client_is(lo)
        || !(lo->valid || (asked && !lo->hinted)))
    {
        return NGX_OK;
    }

    p = ngx_pnalloc(lo->oauth.sr->request->pool, lo->redirect_uri.len
                    + sizeof("?state=") + 3 * lo->state.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    location->data = p;
    p = ngx_cpymem(p, lo->redirect_uri.data, lo->redirect_uri.len);
    location->len = lo->redirect_uri.len;

    if (lo->state.data) {
        p = ngx_svc_oauth_location_separator(p, location, '?');
        p = ngx_cpymem(p, "state=", sizeof("state=") - 1);
        p = (u_char *) ngx_escape_uri(p, lo->state.data, lo->state.len,
                                      NGX_ESCAPE_URI_COMPONENT);
        location->len = p - location->data;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_logout_query(ngx_svc_oauth_logout_t *lo, ngx_str_t *query)
{
    u_char               *p;
    size_t                size;
    ngx_uint_t            i;
    ngx_svc_form_pair_t  *pair;

    size = 1;
    pair = lo->oauth.form.pairs;

    for (i = 0; i < lo->oauth.form.n; i++) {
        size += 2 + 3 * (pair[i].name.len + pair[i].value.len);
    }

    p = ngx_pnalloc(lo->oauth.sr->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    query->data = p;

    for (i = 0; i < lo->oauth.form.n; i++) {
        p = ngx_svc_oauth_request_pair(p, (char *) pair[i].name.data,
                                       &pair[i].value);
    }

    query->len = p - query->data;

    /* each pair begins with an "&", which the first one does not need */

    if (query->len) {
        query->data++;
        query->len--;
    }

    return NGX_OK;
}
