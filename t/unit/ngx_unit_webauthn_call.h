/*
 * For unit tests of WebAuthn: a registration and an authentication, made from
 * the parts of their answers.
 */

#ifndef _NGX_UNIT_WEBAUTHN_CALL_H_INCLUDED_
#define _NGX_UNIT_WEBAUTHN_CALL_H_INCLUDED_


#include "ngx_unit.h"
#include "ngx_unit_webauthn.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_json.h"


#define TEXT_MAX    (64 * 1024)
#define BYTES_MAX   2048

#define ES256       (&ngx_unit_webauthn[0])

#define CREDENTIAL                                                            \
    "{\"id\":\"%s\",\"rawId\":\"%s\",\"type\":\"public-key\",\"response\":{"
#define CREATE                                                                \
    CREDENTIAL "\"clientDataJSON\":\"%s\",\"attestationObject\":\"%s\","      \
    "\"transports\":[\"internal\",\"hybrid\"]}}"
#define GET                                                                   \
    CREDENTIAL "\"clientDataJSON\":\"%s\",\"authenticatorData\":\"%s\","      \
    "\"signature\":\"%s\",\"userHandle\":\"dXV1\"}}"


static char                          text[TEXT_MAX];
static ngx_svc_error_t               err;
static ngx_svc_passkey_t             passkey;
static ngx_svc_webauthn_used_t       used;
static ngx_svc_webauthn_ceremony_t   ceremony;
static ngx_svc_webauthn_assertion_t  assertion;


static inline cJSON *
json_of(ngx_pool_t *pool, const char *format, ...)
{
    cJSON      *json;
    va_list     args;
    ngx_str_t   str;

    va_start(args, format);
    str.len = (size_t) vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    assert_true(str.len < sizeof(text));

    str.data = (u_char *) text;
    err.kind = NGX_SVC_E_NONE;
    err.len = 0;

    assert_int_equal(ngx_svc_json_parse(pool, &str, &json, &err), NGX_OK);

    return json;
}


static inline ngx_int_t
create(ngx_pool_t *pool, const ngx_unit_webauthn_t *v, const char *client,
    const char *object)
{
    ngx_unit_webauthn_ceremony(&ceremony, NGX_SVC_WEBAUTHN_REGISTER);

    return ngx_svc_webauthn_register(pool, json_of(pool, CREATE, v->id, v->id,
                                                   client, object),
                                     &ceremony, &passkey, &used, &err);
}


static inline ngx_int_t
get(ngx_pool_t *pool, const ngx_unit_webauthn_t *v, const char *client,
    const char *data, const char *signature)
{
    ngx_int_t  rc;

    ngx_unit_webauthn_ceremony(&ceremony, NGX_SVC_WEBAUTHN_STEP_UP);

    rc = ngx_svc_webauthn_assertion(pool, json_of(pool, GET, v->id, v->id,
                                                  client, data, signature),
                                    &ceremony, &assertion, &err);

    return rc == NGX_OK ? ngx_svc_webauthn_verify(&assertion, &ceremony,
                                                  &passkey)
                        : rc;
}


static inline size_t
bytes_of(const char *base64, u_char *bytes)
{
    size_t  len;

    assert_true(strlen(base64) < BYTES_MAX);
    assert_int_equal(ngx_svc_base64url_decode((u_char *) base64,
                                              strlen(base64), bytes, &len),
                     NGX_OK);

    return len;
}


static inline const char *
base64_of(const u_char *bytes, size_t len)
{
    static char  base64[3 * BYTES_MAX];

    *ngx_svc_base64url((u_char *) base64, bytes, len) = '\0';

    return base64;
}


#endif /* _NGX_UNIT_WEBAUTHN_CALL_H_INCLUDED_ */
