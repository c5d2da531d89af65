/*
 * The client data of WebAuthn (Level 3, 5.8.1).
 */

#include "ngx_svc_webauthn_client.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_schema.h"


#define NGX_SVC_WEBAUTHN_T_ANY                                                \
    (NGX_SVC_T_STRING|NGX_SVC_T_BOOLEAN|NGX_SVC_T_INTEGER|NGX_SVC_T_OBJECT    \
     |NGX_SVC_T_ARRAY|NGX_SVC_T_NULL)


typedef struct {
    ngx_svc_value_t  type;
    ngx_svc_value_t  challenge;
    ngx_svc_value_t  origin;
    ngx_svc_value_t  cross_origin;
    ngx_svc_value_t  top_origin;
} ngx_svc_webauthn_client_t;


static ngx_int_t ngx_svc_webauthn_client_read(ngx_pool_t *pool,
    ngx_str_t *text, ngx_svc_webauthn_client_t *client, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_webauthn_client_fail(ngx_svc_error_t *err,
    const char *what);


static const ngx_svc_member_t  ngx_svc_webauthn_client_members[] = {

    { .name = ngx_string("type"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .offset = offsetof(ngx_svc_webauthn_client_t, type) },

    { .name = ngx_string("challenge"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .offset = offsetof(ngx_svc_webauthn_client_t, challenge) },

    { .name = ngx_string("origin"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .offset = offsetof(ngx_svc_webauthn_client_t, origin) },

    { .name = ngx_string("crossOrigin"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_webauthn_client_t, cross_origin) },

    { .name = ngx_string("topOrigin"),
      .type = NGX_SVC_WEBAUTHN_T_ANY,
      .offset = offsetof(ngx_svc_webauthn_client_t, top_origin) },

    ngx_svc_null_member
};


ngx_int_t
ngx_svc_webauthn_client(ngx_pool_t *pool, ngx_str_t *text,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    ngx_svc_webauthn_used_t *used, ngx_svc_error_t *err)
{
    size_t                      len;
    u_char                      challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN];
    ngx_int_t                   rc;
    const char                 *type;
    ngx_svc_webauthn_client_t   client;

    rc = ngx_svc_webauthn_client_read(pool, text, &client, err);
    if (rc != NGX_OK) {
        return rc;
    }

    type = ceremony->purpose == NGX_SVC_WEBAUTHN_REGISTER ? "webauthn.create"
                                                          : "webauthn.get";

    if (ngx_strcmp(client.type.str.data, type) != 0) {
        return ngx_svc_webauthn_client_fail(err, "has another type.");
    }

    if (client.origin.str.len != ceremony->origin.len
        || ngx_memcmp(client.origin.str.data, ceremony->origin.data,
                      ceremony->origin.len)
           != 0)
    {
        return ngx_svc_webauthn_client_fail(err, "has another origin.");
    }

    if (client.cross_origin.integer || client.top_origin.set) {
        return ngx_svc_webauthn_client_fail(err,
                                            "is of a page in another one's.");
    }

    if (client.challenge.str.len != ngx_svc_base64url_len(sizeof(challenge))
        || ngx_svc_base64url_decode(client.challenge.str.data,
                                    client.challenge.str.len, challenge, &len)
           != NGX_OK)
    {
        return ngx_svc_webauthn_client_fail(err, "has another challenge.");
    }

    rc = ngx_svc_webauthn_challenge_verify(ceremony, challenge, used);

    if (rc == NGX_DECLINED) {
        return ngx_svc_webauthn_client_fail(err, "has another challenge.");
    }

    return rc;
}


static ngx_int_t
ngx_svc_webauthn_client_read(ngx_pool_t *pool, ngx_str_t *text,
    ngx_svc_webauthn_client_t *client, ngx_svc_error_t *err)
{
    cJSON            *json;
    ngx_int_t         rc;
    ngx_svc_error_t   inner;

    ngx_memzero(client, sizeof(ngx_svc_webauthn_client_t));
    inner.kind = NGX_SVC_E_NONE;

    /* the messages of these functions speak of a body */

    rc = ngx_svc_json_parse(pool, text, &json, &inner);

    if (rc == NGX_DECLINED) {
        return ngx_svc_webauthn_client_fail(err, "is not good JSON.");
    }

    if (rc == NGX_OK
        && ngx_svc_schema_object(ngx_svc_webauthn_client_members, 0, json,
                                 client, &inner)
           != NGX_OK)
    {
        return ngx_svc_webauthn_client_fail(err,
                                            "lacks a member, or has one of"
                                            " another type.");
    }

    return rc;
}


static ngx_int_t
ngx_svc_webauthn_client_fail(ngx_svc_error_t *err, const char *what)
{
    (void) ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                        "\"credential.response.clientDataJSON\" %s", what);

    return NGX_DECLINED;
}
