/*
 * WebAuthn: the answers of browsers (Level 3, 5.1), and how they are verified
 * (7.1 and 7.2).
 */

#include "ngx_svc_webauthn.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_schema.h"
#include "ngx_svc_webauthn_authdata.h"
#include "ngx_svc_webauthn_client.h"


#define NGX_SVC_WEBAUTHN_TRANSPORTS  16     /* words, at most */


/* The members of both answers, and two of them decoded. */

typedef struct {
    ngx_str_t        id_bytes;
    ngx_str_t        client_bytes;
    ngx_svc_value_t  id;
    ngx_svc_value_t  raw_id;
    ngx_svc_value_t  type;
    ngx_svc_value_t  response;
    ngx_svc_value_t  client;
    ngx_svc_value_t  object;            /* of a registration */
    ngx_svc_value_t  transports;
    ngx_svc_value_t  authdata;          /* of an authentication */
    ngx_svc_value_t  signature;
    ngx_svc_value_t  user;
} ngx_svc_webauthn_response_t;


static ngx_int_t ngx_svc_webauthn_read(ngx_pool_t *pool,
    const ngx_svc_member_t *table, cJSON *credential,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    ngx_svc_webauthn_response_t *response, ngx_svc_webauthn_used_t *used,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_webauthn_members_read(const ngx_svc_member_t *table,
    cJSON *credential, ngx_svc_webauthn_response_t *response,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_webauthn_decode(ngx_pool_t *pool,
    const ngx_svc_value_t *value, const char *name, ngx_str_t *bytes,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_webauthn_registered(ngx_pool_t *pool,
    const ngx_str_t *object, const ngx_str_t *rp_id,
    ngx_svc_passkey_t *passkey, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_webauthn_signed(ngx_pool_t *pool,
    const ngx_svc_webauthn_response_t *response, const ngx_str_t *rp_id,
    ngx_svc_webauthn_assertion_t *assertion, ngx_svc_error_t *err);


/* A member that is a string in base64url. */

#define ngx_svc_webauthn_bytes(title, field, how, bytes)                      \
    { .name = ngx_string(title),                                              \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = how,                                                           \
      .min = 1,                                                               \
      .max = ngx_svc_base64url_len(bytes),                                    \
      .offset = offsetof(ngx_svc_webauthn_response_t, field) }

#define ngx_svc_webauthn_members(of_response)                                 \
    ngx_svc_webauthn_bytes("id", id, NGX_SVC_M_REQUIRED,                      \
                           NGX_SVC_PASSKEY_ID_MAX),                           \
    ngx_svc_webauthn_bytes("rawId", raw_id, NGX_SVC_M_REQUIRED,               \
                           NGX_SVC_PASSKEY_ID_MAX),                           \
                                                                              \
    { .name = ngx_string("type"),                                             \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .offset = offsetof(ngx_svc_webauthn_response_t, type) },                \
                                                                              \
    { .name = ngx_string("response"),                                         \
      .type = NGX_SVC_T_OBJECT,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .members = of_response,                                                 \
      .offset = offsetof(ngx_svc_webauthn_response_t, response) },            \
                                                                              \
    ngx_svc_null_member


static const ngx_svc_member_t  ngx_svc_webauthn_attestation_members[] = {

    ngx_svc_webauthn_bytes("clientDataJSON", client, NGX_SVC_M_REQUIRED,
                           NGX_SVC_WEBAUTHN_CLIENT_MAX),
    ngx_svc_webauthn_bytes("attestationObject", object, NGX_SVC_M_REQUIRED,
                           NGX_SVC_WEBAUTHN_OBJECT_MAX),

    { .name = ngx_string("transports"),
      .type = NGX_SVC_T_ARRAY,
      .max = NGX_SVC_WEBAUTHN_TRANSPORTS,
      .offset = offsetof(ngx_svc_webauthn_response_t, transports) },

    ngx_svc_null_member
};

static const ngx_svc_member_t  ngx_svc_webauthn_registration_members[] = {
    ngx_svc_webauthn_members(ngx_svc_webauthn_attestation_members)
};


static const ngx_svc_member_t  ngx_svc_webauthn_assertion_members[] = {

    ngx_svc_webauthn_bytes("clientDataJSON", client, NGX_SVC_M_REQUIRED,
                           NGX_SVC_WEBAUTHN_CLIENT_MAX),
    ngx_svc_webauthn_bytes("authenticatorData", authdata, NGX_SVC_M_REQUIRED,
                           NGX_SVC_WEBAUTHN_AUTHDATA_MAX),
    ngx_svc_webauthn_bytes("signature", signature, NGX_SVC_M_REQUIRED,
                           NGX_SVC_WEBAUTHN_SIGNATURE_MAX),

    /* null and "" mean that there is none */

    { .name = ngx_string("userHandle"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .max = ngx_svc_base64url_len(NGX_SVC_WEBAUTHN_USER_LEN),
      .offset = offsetof(ngx_svc_webauthn_response_t, user) },

    ngx_svc_null_member
};

static const ngx_svc_member_t  ngx_svc_webauthn_authentication_members[] = {
    ngx_svc_webauthn_members(ngx_svc_webauthn_assertion_members)
};


ngx_int_t
ngx_svc_webauthn_register(ngx_pool_t *pool, cJSON *credential,
    const ngx_svc_webauthn_ceremony_t *ceremony, ngx_svc_passkey_t *passkey,
    ngx_svc_webauthn_used_t *used, ngx_svc_error_t *err)
{
    ngx_int_t                    rc;
    ngx_str_t                    object;
    ngx_svc_webauthn_response_t  response;

    rc = ngx_svc_webauthn_read(pool, ngx_svc_webauthn_registration_members,
                               credential, ceremony, &response, used, err);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_webauthn_decode(pool, &response.object,
                                 "response.attestationObject", &object, err);
    if (rc != NGX_OK) {
        return rc;
    }

    ngx_memzero(passkey, sizeof(ngx_svc_passkey_t));

    passkey->id = response.id_bytes;
    passkey->transports =
                         ngx_svc_passkey_transports(response.transports.json);

    return ngx_svc_webauthn_registered(pool, &object, &ceremony->rp_id,
                                       passkey, err);
}


ngx_int_t
ngx_svc_webauthn_claim(ngx_pool_t *pool, cJSON *credential, ngx_str_t *id,
    ngx_str_t *user, ngx_svc_error_t *err)
{
    ngx_int_t                    rc;
    ngx_svc_webauthn_response_t  response;

    ngx_str_null(user);

    rc = ngx_svc_webauthn_members_read(ngx_svc_webauthn_authentication_members,
                                       credential, &response, err);

    if (rc == NGX_OK) {
        rc = ngx_svc_webauthn_decode(pool, &response.raw_id, "rawId", id, err);
    }

    return rc == NGX_OK
           ? ngx_svc_webauthn_decode(pool, &response.user,
                                     "response.userHandle", user, err)
           : rc;
}


ngx_int_t
ngx_svc_webauthn_assertion(ngx_pool_t *pool, cJSON *credential,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    ngx_svc_webauthn_assertion_t *assertion, ngx_svc_error_t *err)
{
    ngx_int_t                    rc;
    ngx_svc_webauthn_response_t  response;

    ngx_memzero(assertion, sizeof(ngx_svc_webauthn_assertion_t));

    rc = ngx_svc_webauthn_read(pool, ngx_svc_webauthn_authentication_members,
                               credential, ceremony, &response,
                               &assertion->used, err);
    if (rc != NGX_OK) {
        return rc;
    }

    assertion->id = response.id_bytes;

    if (ngx_svc_sha256(response.client_bytes.data, response.client_bytes.len,
                       assertion->data.client_hash)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_webauthn_signed(pool, &response, &ceremony->rp_id,
                                   assertion, err);
}


ngx_int_t
ngx_svc_webauthn_verify(ngx_svc_webauthn_assertion_t *assertion,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    const ngx_svc_passkey_t *passkey)
{
    ngx_int_t  rc;

    if (assertion->id.len != passkey->id.len
        || ngx_memcmp(assertion->id.data, passkey->id.data, passkey->id.len)
           != 0)
    {
        return NGX_DECLINED;
    }

    rc = ngx_svc_webauthn_key_verify(passkey, &ceremony->rp_id,
                                     &assertion->data);

    if (rc != NGX_OK || assertion->be != passkey->be) {
        return rc == NGX_OK ? NGX_DECLINED : rc;
    }

    /* only a verified signature tells whose counter this is */

    if ((assertion->sign_count || passkey->sign_count)
        && assertion->sign_count <= passkey->sign_count)
    {
        assertion->cloned = 1;
        return NGX_DECLINED;
    }

    return NGX_OK;
}


/* Reads the common part of both answers. */

static ngx_int_t
ngx_svc_webauthn_read(ngx_pool_t *pool, const ngx_svc_member_t *table,
    cJSON *credential, const ngx_svc_webauthn_ceremony_t *ceremony,
    ngx_svc_webauthn_response_t *response, ngx_svc_webauthn_used_t *used,
    ngx_svc_error_t *err)
{
    ngx_int_t  rc;

    if (ngx_svc_webauthn_members_read(table, credential, response, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    rc = ngx_svc_webauthn_decode(pool, &response->raw_id, "rawId",
                                 &response->id_bytes, err);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_webauthn_decode(pool, &response->client,
                                 "response.clientDataJSON",
                                 &response->client_bytes, err);
    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_svc_webauthn_client(pool, &response->client_bytes, ceremony,
                                   used, err);
}


static ngx_int_t
ngx_svc_webauthn_members_read(const ngx_svc_member_t *table, cJSON *credential,
    ngx_svc_webauthn_response_t *response, ngx_svc_error_t *err)
{
    ngx_memzero(response, sizeof(ngx_svc_webauthn_response_t));

    if (ngx_svc_schema_nested_flags(table, 0, "credential", credential,
                                    response, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (ngx_strcmp(response->type.str.data, "public-key") != 0) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "\"credential.type\" must be \"public-key\".");
    }

    if (response->id.str.len != response->raw_id.str.len
        || ngx_strcmp(response->id.str.data, response->raw_id.str.data) != 0)
    {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "\"credential.id\" and \"credential.rawId\" must"
                            " be the same.");
    }

    return NGX_OK;
}


/* Leaves *bytes alone when there is no value. */

static ngx_int_t
ngx_svc_webauthn_decode(ngx_pool_t *pool, const ngx_svc_value_t *value,
    const char *name, ngx_str_t *bytes, ngx_svc_error_t *err)
{
    if (value->str.len == 0) {
        return NGX_OK;
    }

    bytes->data = ngx_pnalloc(pool, value->str.len);
    if (bytes->data == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_base64url_decode(value->str.data, value->str.len, bytes->data,
                                 &bytes->len)
        != NGX_OK)
    {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "\"credential.%s\" must be base64url without"
                            " padding.", name);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webauthn_registered(ngx_pool_t *pool, const ngx_str_t *object,
    const ngx_str_t *rp_id, ngx_svc_passkey_t *passkey, ngx_svc_error_t *err)
{
    ngx_int_t                    rc;
    ngx_str_t                    data;
    ngx_svc_webauthn_authdata_t  authdata;

    if (ngx_svc_webauthn_attestation(object, &data, err) != NGX_OK) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_webauthn_authdata(&data, rp_id, 1, &authdata, err);
    if (rc != NGX_OK) {
        return rc;
    }

    if (authdata.id.len != passkey->id.len
        || ngx_memcmp(authdata.id.data, passkey->id.data, passkey->id.len)
           != 0)
    {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "\"credential.id\" is not the one in"
                            " \"credential.response.attestationObject\".");
    }

    passkey->sign_count = authdata.sign_count;
    passkey->be = authdata.be;
    passkey->bs = authdata.bs;

    ngx_memcpy(passkey->aaguid, authdata.aaguid, NGX_SVC_PASSKEY_AAGUID_LEN);

    return ngx_svc_webauthn_key(pool, &data, passkey, err);
}


static ngx_int_t
ngx_svc_webauthn_signed(ngx_pool_t *pool,
    const ngx_svc_webauthn_response_t *response, const ngx_str_t *rp_id,
    ngx_svc_webauthn_assertion_t *assertion, ngx_svc_error_t *err)
{
    ngx_int_t                    rc;
    ngx_svc_webauthn_authdata_t  authdata;

    rc = ngx_svc_webauthn_decode(pool, &response->authdata,
                                 "response.authenticatorData",
                                 &assertion->data.authdata, err);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_webauthn_decode(pool, &response->signature,
                                 "response.signature",
                                 &assertion->data.signature, err);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_webauthn_decode(pool, &response->user,
                                 "response.userHandle", &assertion->user, err);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_webauthn_authdata(&assertion->data.authdata, rp_id, 0,
                                   &authdata, err);

    assertion->sign_count = authdata.sign_count;
    assertion->be = authdata.be;
    assertion->bs = authdata.bs;

    return rc;
}
