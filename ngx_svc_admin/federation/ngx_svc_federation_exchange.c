/*
 * What a flow's code stands for.
 */

#include "ngx_svc_federation_exchange.h"
#include "ngx_svc_apple_secret.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_ask.h"
#include "ngx_svc_federation_attributes.h"
#include "ngx_svc_federation_fetch.h"
#include "ngx_svc_federation_github.h"
#include "ngx_svc_federation_keep.h"
#include "ngx_svc_federation_keys.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_federation_read.h"
#include "ngx_svc_federation_userinfo.h"
#include "ngx_svc_id_token.h"


#define NGX_SVC_FEDERATION_TOKENS  (64 * 1024)  /* bytes of an answer */


static ngx_int_t ngx_svc_federation_exchange_secret(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_exchange_body(
    ngx_svc_federation_flow_t *flow, ngx_uint_t post);
static u_char *ngx_svc_federation_exchange_field(u_char *p, const char *name,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_federation_exchange_basic(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_exchanged(ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_exchange_end(
    ngx_svc_federation_flow_t *flow, ngx_int_t rc);
static ngx_int_t ngx_svc_federation_exchange_tokens(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_exchange_check(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_exchange_over(
    ngx_svc_federation_flow_t *flow, ngx_int_t rc);
static void ngx_svc_federation_exchange_text(const cJSON *json,
    const char *name, ngx_str_t *text);


ngx_int_t
ngx_svc_federation_exchange(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t                 rc;
    ngx_uint_t                post;
    ngx_svc_fetch_t          *fetch;
    ngx_svc_oidc_metadata_t   m;

    static const ngx_str_t  type =
        ngx_string("Content-Type: application/x-www-form-urlencoded");
    static const ngx_str_t  accept = ngx_string("Accept: application/json");

    if (ngx_svc_federation_document(flow, &m) != NGX_OK) {
        return ngx_svc_federation_declined(flow->login.sr, NGX_ERROR);
    }

    flow->step = NGX_SVC_FEDERATION_AT_TOKENS;

    rc = flow->connection.settings.provider->apple
         ? ngx_svc_federation_exchange_secret(flow) : NGX_OK;

    if (rc != NGX_OK) {
        return ngx_svc_federation_declined(flow->login.sr, rc);
    }

    ngx_svc_federation_fetch_new(flow);

    fetch = &flow->fetch;
    fetch->url = m.token_endpoint;
    fetch->post = 1;
    fetch->headers[fetch->nheaders++] = type;
    fetch->headers[fetch->nheaders++] = accept;

    post = flow->connection.settings.provider->post
           || flow->connection.secret.data == NULL || (m.post && !m.basic);

    if (ngx_svc_federation_exchange_body(flow, post) != NGX_OK
        || (!post && ngx_svc_federation_exchange_basic(flow) != NGX_OK))
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_federation_fetch(flow, NGX_SVC_FEDERATION_TOKENS,
                                    ngx_svc_federation_exchanged);
}


/* What is stored for Apple is a key: it signs a secret for this call. */

static ngx_int_t
ngx_svc_federation_exchange_secret(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t                         rc;
    ngx_str_t                         secret;
    ngx_pool_t                       *pool;
    ngx_svc_apple_secret_t            apple;
    ngx_svc_federation_connection_t  *connection;

    pool = flow->login.sr->request->pool;
    connection = &flow->connection;

    apple.team_id = connection->team_id;
    apple.key_id = connection->key_id;
    apple.client_id = connection->client_id;
    apple.pem = connection->secret;
    ngx_str_null(&secret);

    rc = apple.pem.len ? ngx_svc_apple_secret(pool, &apple, ngx_time(),
                                              &secret)
                       : NGX_DECLINED;

    if (rc == NGX_DECLINED) {
        return ngx_svc_federation_fail(flow, "the client's secret is no key "
                                       "of Apple's");
    }

    if (rc != NGX_OK) {
        return rc;
    }

    connection->secret = secret;

    return ngx_svc_wipe_later(pool, secret.data, secret.len);
}


/* post: 1: the client's id, and its secret if it has one, are in the body. */

static ngx_int_t
ngx_svc_federation_exchange_body(ngx_svc_federation_flow_t *flow,
    ngx_uint_t post)
{
    u_char      *p;
    ngx_str_t    redirect, *id, *secret;
    ngx_pool_t  *pool;

    static const char  grant[] = "grant_type=authorization_code";

    pool = flow->login.sr->request->pool;
    redirect = ngx_svc_federation_flow_redirect(flow);
    id = &flow->connection.client_id;
    secret = &flow->connection.secret;

    p = ngx_pnalloc(pool, sizeof(grant)
                          + sizeof("&code=&redirect_uri=&code_verifier="
                                   "&client_id=&client_secret=")
                          + 3 * (flow->code.len + redirect.len
                                 + flow->verifier.len + id->len
                                 + secret->len));
    if (p == NULL || redirect.data == NULL) {
        return NGX_ERROR;
    }

    flow->fetch.body.data = p;

    p = ngx_cpymem(p, grant, sizeof(grant) - 1);
    p = ngx_svc_federation_exchange_field(p, "&code=", &flow->code);
    p = ngx_svc_federation_exchange_field(p, "&redirect_uri=", &redirect);

    if (!flow->connection.settings.provider->no_pkce) {
        p = ngx_svc_federation_exchange_field(p, "&code_verifier=",
                                              &flow->verifier);
    }

    if (post) {
        p = ngx_svc_federation_exchange_field(p, "&client_id=", id);

        if (secret->data) {
            p = ngx_svc_federation_exchange_field(p, "&client_secret=",
                                                  secret);
        }
    }

    flow->fetch.body.len = p - flow->fetch.body.data;

    return ngx_svc_wipe_later(pool, flow->fetch.body.data,
                              flow->fetch.body.len);
}


static u_char *
ngx_svc_federation_exchange_field(u_char *p, const char *name,
    const ngx_str_t *value)
{
    p = ngx_cpymem(p, name, ngx_strlen(name));

    return (u_char *) ngx_escape_uri(p, value->data, value->len,
                                     NGX_ESCAPE_URI_COMPONENT);
}


/* client_secret_basic (RFC 6749, 2.3.1): both are encoded as in a form. */

static ngx_int_t
ngx_svc_federation_exchange_basic(ngx_svc_federation_flow_t *flow)
{
    u_char      *p;
    size_t       len;
    ngx_str_t    text, encoded, *id, *secret, *header;
    ngx_pool_t  *pool;

    static const char  name[] = "Authorization: Basic ";

    pool = flow->login.sr->request->pool;
    id = &flow->connection.client_id;
    secret = &flow->connection.secret;

    len = 3 * (id->len + secret->len) + 1;
    text.data = ngx_pnalloc(pool, len);
    p = ngx_pnalloc(pool, sizeof(name) + ngx_base64_encoded_length(len));

    if (text.data == NULL || p == NULL) {
        return NGX_ERROR;
    }

    header = &flow->fetch.headers[flow->fetch.nheaders++];
    header->data = p;
    encoded.data = ngx_cpymem(p, name, sizeof(name) - 1);

    p = ngx_svc_federation_exchange_field(text.data, "", id);
    p = ngx_svc_federation_exchange_field(p, ":", secret);
    text.len = p - text.data;

    ngx_encode_base64(&encoded, &text);
    header->len = encoded.data + encoded.len - header->data;

    return ngx_svc_wipe_later(pool, text.data, text.len) == NGX_OK
           ? ngx_svc_wipe_later(pool, header->data, header->len) : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_exchanged(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t  rc;

    rc = ngx_svc_federation_exchange_tokens(flow);

    if (rc == NGX_OK && !flow->connection.settings.provider->oauth) {
        flow->step = NGX_SVC_FEDERATION_AT_ID_TOKEN;
        rc = ngx_svc_federation_exchange_check(flow);
    }

    if (rc == NGX_AGAIN) {
        rc = ngx_svc_federation_keys(flow, "ID token",
                                     ngx_svc_federation_exchange_check,
                                     ngx_svc_federation_exchange_over);
    }

    return rc == NGX_DONE ? NGX_DONE
                          : ngx_svc_federation_exchange_over(flow, rc);
}


/* What is mapped, and is not in the ID token, may be at userinfo. */

static ngx_int_t
ngx_svc_federation_exchange_over(ngx_svc_federation_flow_t *flow, ngx_int_t rc)
{
    ngx_svc_oidc_metadata_t  m;

    if (rc == NGX_OK) {
        flow->step = NGX_SVC_FEDERATION_AT_CLAIMS;
    }

    if (rc == NGX_OK && flow->connection.settings.provider->oauth) {
        return ngx_svc_federation_github(flow);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_attributes(flow, flow->claims);
    }

    if (rc == NGX_AGAIN && ngx_svc_federation_document(flow, &m) == NGX_OK
        && m.userinfo_endpoint.len && flow->access_token.len)
    {
        return ngx_svc_federation_userinfo(flow, &m.userinfo_endpoint,
                                           ngx_svc_federation_exchange_end);
    }

    return ngx_svc_federation_exchange_end(flow, rc == NGX_AGAIN ? NGX_OK
                                                                 : rc);
}


static ngx_int_t
ngx_svc_federation_exchange_end(ngx_svc_federation_flow_t *flow, ngx_int_t rc)
{
    if (rc != NGX_OK) {
        return ngx_svc_federation_declined(flow->login.sr, rc);
    }

    return flow->posted && flow->purpose != NGX_SVC_FEDERATION_TEST
           ? ngx_svc_federation_keep(flow) : ngx_svc_federation_read(flow);
}


/*
 * The refresh token is of no use here: it is kept nowhere.  GitHub's errors
 * have the status of a success.  What the parser has copied is wiped with the
 * pool, as the answer is.
 */

static ngx_int_t
ngx_svc_federation_exchange_tokens(ngx_svc_federation_flow_t *flow)
{
    cJSON        *json;
    ngx_int_t     rc;
    const cJSON  *member;

    rc = ngx_svc_federation_fetched(flow, "the token endpoint", &json);

    if (rc != NGX_OK) {
        return rc;
    }

    cJSON_ArrayForEach(member, json) {
        if (cJSON_IsString(member)
            && ngx_svc_wipe_later(flow->login.sr->request->pool,
                                  (u_char *) member->valuestring,
                                  ngx_strlen(member->valuestring))
               != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    ngx_svc_federation_exchange_text(json, "id_token", &flow->id_token);
    ngx_svc_federation_exchange_text(json, "access_token",
                                     &flow->access_token);

    if (flow->connection.settings.provider->oauth) {
        return flow->access_token.len
               ? NGX_OK
               : ngx_svc_federation_fetch_status(flow, "the token endpoint",
                                                 json);
    }

    return flow->id_token.len
           ? NGX_OK : ngx_svc_federation_fail(flow, "there is no ID token");
}


static void
ngx_svc_federation_exchange_text(const cJSON *json, const char *name,
    ngx_str_t *text)
{
    const cJSON  *member;

    member = cJSON_GetObjectItemCaseSensitive(json, name);

    if (cJSON_IsString(member)) {
        text->data = (u_char *) member->valuestring;
        text->len = ngx_strlen(text->data);
    }
}


static ngx_int_t
ngx_svc_federation_exchange_check(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t                     rc;
    ngx_pool_t                   *pool;
    ngx_svc_id_token_t            token;
    ngx_svc_oidc_metadata_t       m;
    ngx_svc_id_token_expected_t   expected;

    pool = flow->login.sr->request->pool;

    if (ngx_svc_federation_document(flow, &m) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_memzero(&expected, sizeof(ngx_svc_id_token_expected_t));

    ngx_svc_provider_expect(&flow->connection.settings, &expected);

    expected.issuer = m.issuer;
    expected.client_id = flow->connection.client_id;
    expected.nonce = flow->nonce;
    expected.access_token = flow->access_token;
    expected.now = ngx_time();
    expected.asked = flow->asked;
    expected.undated = !flow->connection.settings.provider->many
                       || !m.auth_time;

    rc = ngx_svc_id_token_check(pool, &flow->id_token,
                                &flow->connection.jwks, &expected, &token);

    if (rc == NGX_OK) {
        flow->sub = token.sub;
        flow->claims = token.claims;

        return ngx_svc_federation_proof(flow, &token);
    }

    if (rc == NGX_AGAIN) {
        flow->keys.lacks = token.why;
    }

    return rc == NGX_DECLINED
           ? ngx_svc_federation_fail(flow, "the ID token %s", token.why) : rc;
}
