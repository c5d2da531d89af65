/*
 * GET and POST /oauth/userinfo (OpenID Connect Core 1.0, 5.3).
 *
 * There is one round trip, as for introspection.  The token tells its tenant:
 * an opaque one has it inside, a JWT has its key.  We believe that when the
 * token is found there and its signature is good.  A token that is bound to a
 * key comes with a proof, which is spent then.
 */

#include "ngx_svc_oauth_userinfo.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_oauth_lives_row.h"
#include "ngx_svc_oauth_presented.h"
#include "ngx_svc_oauth_proof.h"
#include "ngx_svc_oauth_userinfo_client.h"
#include "ngx_svc_oauth_userinfo_refusal.h"
#include "ngx_svc_oauth_userinfo_tell.h"


#define ngx_svc_oauth_userinfo_header(r, behind)                              \
    ngx_svc_header_in(r, "Authorization", sizeof("Authorization") - 1, behind)


static ngx_int_t ngx_svc_oauth_userinfo_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_userinfo_take(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_userinfo_presented(ngx_svc_oauth_t *o,
    ngx_str_t *token);
static ngx_int_t ngx_svc_oauth_userinfo_form(ngx_svc_oauth_t *o,
    ngx_str_t *token);
static ngx_uint_t ngx_svc_oauth_userinfo_scheme(const ngx_str_t *value,
    const ngx_str_t *scheme, ngx_str_t *token);
static ngx_int_t ngx_svc_oauth_userinfo_proof(ngx_svc_oauth_t *o,
    const ngx_str_t *token);
static ngx_int_t ngx_svc_oauth_userinfo_calls(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_userinfo_own(ngx_svc_oauth_t *o,
    ngx_uint_t *bound);
static ngx_uint_t ngx_svc_oauth_userinfo_bound(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_userinfo_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_userinfo_lives(ngx_svc_oauth_t *o,
    PGresult *res, ngx_svc_oauth_lives_t *lives,
    ngx_svc_oauth_lives_today_t *today);
static ngx_int_t ngx_svc_oauth_userinfo_check(ngx_svc_oauth_t *o,
    ngx_int_t rc);
static ngx_int_t ngx_svc_oauth_userinfo_keep(ngx_svc_oauth_t *o,
    ngx_uint_t lives);


#include "ngx_svc_oauth_userinfo.sql.h"


const ngx_svc_route_t  ngx_svc_oauth_userinfo[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("[/t/*]/userinfo"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_ANY_ORIGIN,
      .statements = { &ngx_svc_sql_oauth_userinfo_tenant,
                      &ngx_svc_sql_oauth_userinfo },
      .prepare = ngx_svc_oauth_userinfo_prepare,
      .reply = ngx_svc_oauth_userinfo_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("[/t/*]/userinfo"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_ANY_ORIGIN,
      .statements = { &ngx_svc_sql_oauth_userinfo_tenant,
                      &ngx_svc_sql_oauth_userinfo },
      .prepare = ngx_svc_oauth_userinfo_prepare,
      .reply = ngx_svc_oauth_userinfo_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_oauth_userinfo_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    static const ngx_str_t  none = ngx_string("");

    o = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_oauth_t));
    if (o == NULL || ngx_svc_oauth_any_origin(sr) != NGX_OK
        || ngx_svc_oauth_proof_nonce(sr) != NGX_OK)
    {
        return NGX_ERROR;
    }

    o->sr = sr;
    o->issuer = ngx_svc_oauth_issuer(sr, &none);
    sr->data = o;

    if (o->issuer.data == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_userinfo_take(o);

    return rc == NGX_OK ? ngx_svc_oauth_userinfo_calls(o) : rc;
}


static ngx_int_t
ngx_svc_oauth_userinfo_take(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;
    ngx_str_t  token;

    rc = ngx_svc_oauth_userinfo_presented(o, &token);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_bearer_read(o->sr, &token, &o->token);
    }

    if (rc != NGX_OK || o->token.kind == NGX_SVC_OAUTH_BEARER_JWT
        || o->token.kind == NGX_SVC_OAUTH_BEARER_OPAQUE)
    {
        return rc;
    }

    return ngx_svc_oauth_userinfo_refuse(o->sr);
}


/*
 * Takes the token from the header or from a form (RFC 6750, 2.1 and 2.2).  It
 * is refused if both have one.
 */

static ngx_int_t
ngx_svc_oauth_userinfo_presented(ngx_svc_oauth_t *o, ngx_str_t *token)
{
    ngx_int_t         rc;
    ngx_table_elt_t  *header;

    static const ngx_str_t  bearer = ngx_string("Bearer ");
    static const ngx_str_t  dpop = ngx_string("DPoP ");

    header = o->sr->request->headers_in.authorization;

    rc = ngx_svc_oauth_userinfo_form(o, token);

    if (rc != NGX_OK) {
        return rc;
    }

    if (header == NULL && token->data) {
        return NGX_OK;
    }

    if (header == NULL || token->data) {
        return ngx_svc_oauth_userinfo_refuse(o->sr);
    }

    if (ngx_svc_oauth_userinfo_scheme(&header->value, &bearer, token)) {
        return NGX_OK;
    }

    return ngx_svc_oauth_userinfo_scheme(&header->value, &dpop, token)
           ? ngx_svc_oauth_userinfo_proof(o, token)
           : ngx_svc_oauth_userinfo_refuse(o->sr);
}


/*
 * Takes the token from a form; no data: there is none.  A body of another type
 * is ignored.
 */

static ngx_int_t
ngx_svc_oauth_userinfo_form(ngx_svc_oauth_t *o, ngx_str_t *token)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = o->sr;
    ngx_str_null(token);

    if (sr->request->method != NGX_HTTP_POST
        || ngx_svc_oauth_type(sr) != NGX_OK)
    {
        sr->error.kind = NGX_SVC_E_NONE;
        return NGX_OK;
    }

    rc = ngx_svc_form_parse(sr->request->pool, &sr->body, &o->form,
                            &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_value(o, "access_token", token);
    }

    if (rc != NGX_DECLINED) {
        return rc;
    }

    sr->error.kind = NGX_SVC_E_NONE;

    return ngx_svc_oauth_userinfo_refuse(sr);
}


static ngx_uint_t
ngx_svc_oauth_userinfo_scheme(const ngx_str_t *value, const ngx_str_t *scheme,
    ngx_str_t *token)
{
    if (value->len < scheme->len
        || ngx_strncasecmp(value->data, scheme->data, scheme->len) != 0)
    {
        return 0;
    }

    token->data = value->data + scheme->len;
    token->len = value->len - scheme->len;

    while (token->len && *token->data == ' ') {
        token->data++;
        token->len--;
    }

    return 1;
}


static ngx_int_t
ngx_svc_oauth_userinfo_proof(ngx_svc_oauth_t *o, const ngx_str_t *token)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_proof(o, token);

    if (rc == NGX_OK && o->jkt.data == NULL) {
        rc = ngx_svc_fail(&o->sr->error, NGX_SVC_E_DPOP_PROOF,
                          "There is no DPoP header with a proof.");
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_oauth_userinfo_unproven(o->sr);
    }

    return rc;
}


/*
 * Adds the op's calls.  With a proof it writes.  A token that is bound to a key
 * is found only with a proof by that key, another token only without a proof.
 * A forged JWT is refused here, and does not wait for a write.
 */

static ngx_int_t
ngx_svc_oauth_userinfo_calls(ngx_svc_oauth_t *o)
{
    ngx_int_t   rc;
    ngx_uint_t  bound;

    bound = 0;

    if (o->token.own == NULL && o->jkt.data) {
        rc = ngx_svc_oauth_userinfo_own(o, &bound);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    rc = ngx_svc_route_call(o->sr, &ngx_svc_sql_oauth_userinfo_tenant, NULL);

    if (rc == NGX_OK && o->token.own) {
        return ngx_svc_oauth_userinfo_client(o);
    }

    if (rc == NGX_OK && o->jkt.data) {
        rc = ngx_svc_oauth_proof_call_token(o, bound);
    }

    return rc == NGX_OK
           ? ngx_svc_route_call(o->sr, &ngx_svc_sql_oauth_userinfo, NULL) : rc;
}


/*
 * Sets *bound to whether the token is ours and bound to the proof's key, as far
 * as the worker knows.  Returns NGX_OK; NGX_DECLINED with sr->error set: it is
 * forged; or NGX_ERROR.
 */

static ngx_int_t
ngx_svc_oauth_userinfo_own(ngx_svc_oauth_t *o, ngx_uint_t *bound)
{
    ngx_int_t  rc;

    if (o->token.kind == NGX_SVC_OAUTH_BEARER_OPAQUE) {
        return ngx_svc_oauth_proof_known(o, bound);
    }

    rc = ngx_svc_oauth_bearer_verify(&o->token);

    if (rc == NGX_DECLINED) {
        return ngx_svc_oauth_userinfo_refuse(o->sr);
    }

    *bound = (rc == NGX_OK && ngx_svc_oauth_userinfo_bound(o));

    return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/*
 * Returns 1 if a JWT, which has been verified, has not expired and names the
 * proof's key (RFC 9449, 6.1).
 */

static ngx_uint_t
ngx_svc_oauth_userinfo_bound(ngx_svc_oauth_t *o)
{
    u_char        text[NGX_SVC_JWK_KID];
    int64_t       exp;
    const cJSON  *jkt;

    if (o->token.jws == NULL
        || ngx_svc_jws_date(o->token.jws->payload, "exp", &exp) != NGX_OK
        || exp <= ngx_time())
    {
        return 0;
    }

    jkt = cJSON_GetObjectItemCaseSensitive(
              cJSON_GetObjectItemCaseSensitive(o->token.jws->payload, "cnf"),
              "jkt");

    if (!cJSON_IsString(jkt)
        || ngx_strlen(jkt->valuestring) != NGX_SVC_JWK_KID)
    {
        return 0;
    }

    (void) ngx_svc_base64url(text, o->jkt.data, o->jkt.len);

    return ngx_memcmp(text, jkt->valuestring, NGX_SVC_JWK_KID) == 0;
}


ngx_int_t
ngx_svc_oauth_userinfo_rejected(ngx_svc_request_t *sr)
{
    ngx_table_elt_t     *header;
    ngx_http_request_t  *r;

    r = sr->request;
    header = ngx_svc_oauth_userinfo_header(r, NULL);

    if (sr->route->prepare != ngx_svc_oauth_userinfo_prepare) {
        return NGX_DECLINED;
    }

    if (ngx_svc_oauth_any_origin(sr) != NGX_OK
        || ngx_svc_oauth_proof_nonce(sr) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (r->headers_out.status != NGX_HTTP_BAD_REQUEST || header == NULL
        || ngx_svc_oauth_userinfo_header(r, header) == NULL)
    {
        return NGX_OK;
    }

    return ngx_svc_oauth_userinfo_refuse(sr) == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_userinfo_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                     rc;
    PGresult                     *res;
    ngx_svc_oauth_lives_t         lives;
    ngx_svc_oauth_lives_today_t   today;

    static const ngx_str_t  openid = ngx_string("openid");

    res = ngx_svc_result(sr, &ngx_svc_sql_oauth_userinfo);

    rc = ngx_svc_oauth_userinfo_lives(sr->data, res, &lives, &today);

    if (rc != NGX_ERROR) {
        rc = ngx_svc_oauth_userinfo_check(sr->data, rc);
    }

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? ngx_svc_send_error(sr)
                                  : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_pg_array_has(&today.scopes, &openid)
           ? ngx_svc_oauth_userinfo_tell(sr->data, res, &lives, &today)
           : ngx_svc_oauth_userinfo_scope(sr);
}


/*
 * Tells whether the token lives.  Returns NGX_OK; NGX_DECLINED: it is dead, or
 * forged, or not of the location's tenant; or NGX_ERROR.
 */

static ngx_int_t
ngx_svc_oauth_userinfo_lives(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_lives_t *lives, ngx_svc_oauth_lives_today_t *today)
{
    ngx_int_t    rc;
    ngx_str_t    slug;
    ngx_pool_t  *pool;

    pool = o->sr->request->pool;

    if (ngx_svc_oauth_client_pinned(o->sr, &slug) != NGX_OK
        || ngx_svc_oauth_lives_read(pool, res, &o->token, &o->issuer, lives)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_lives(pool, lives, today);

    if (rc == NGX_OK && slug.len
        && (slug.len != lives->clients[0].slug.len
            || ngx_memcmp(slug.data, lives->clients[0].slug.data, slug.len)
               != 0))
    {
        rc = NGX_DECLINED;
    }

    return rc == NGX_OK
           ? ngx_svc_oauth_presented_verify(o, &o->token, &lives->jwk) : rc;
}


/*
 * Refuses a token that does not live, and a proof that is not new.  rc: NGX_OK:
 * the token lives; NGX_DECLINED: it does not.  Returns NGX_OK; NGX_DECLINED
 * with sr->error set; or NGX_ERROR.
 */

static ngx_int_t
ngx_svc_oauth_userinfo_check(ngx_svc_oauth_t *o, ngx_int_t rc)
{
    if (ngx_svc_oauth_userinfo_keep(o, rc == NGX_OK) != NGX_OK) {
        return NGX_ERROR;
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_oauth_userinfo_refuse(o->sr);
    }

    if (rc == NGX_OK && o->jkt.data) {
        rc = ngx_svc_oauth_proof_fresh_token(o);
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_oauth_userinfo_unproven(o->sr);
    }

    return rc;
}


/*
 * Remembers whether an opaque token lives with the proof's key: that decides in
 * which backlog its next request waits.
 */

static ngx_int_t
ngx_svc_oauth_userinfo_keep(ngx_svc_oauth_t *o, ngx_uint_t lives)
{
    if (o->jkt.data == NULL || o->token.kind != NGX_SVC_OAUTH_BEARER_OPAQUE) {
        return NGX_OK;
    }

    return ngx_svc_oauth_proof_keep(o, lives);
}
