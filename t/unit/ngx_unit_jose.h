/*
 * Keys and signatures for the tests of their readers.
 */

#ifndef _NGX_UNIT_JOSE_H_INCLUDED_
#define _NGX_UNIT_JOSE_H_INCLUDED_


#include "ngx_unit.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_json.h"
#include "ngx_svc_jws.h"

#include <openssl/err.h>
#include <openssl/x509.h>


/* RFC 7515, A.3.1 */

#define UNIT_A3_X  "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define UNIT_A3_Y  "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define UNIT_A3_D  "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"

#define UNIT_EC    "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X      \
                   "\",\"y\":\"" UNIT_A3_Y "\""

/* RFC 8037, A.1 */

#define UNIT_ED_X  "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
#define UNIT_ED_D  "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"

#define UNIT_OKP  "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" UNIT_ED_X "\""


static inline cJSON *
unit_json(ngx_pool_t *pool, const char *text)
{
    cJSON            *json;
    ngx_str_t         str;
    ngx_svc_error_t   err;

    str.data = (u_char *) text;
    str.len = strlen(text);
    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, &str, &json, &err) != NGX_OK) {
        fail_msg("%s: %.*s", text, (int) err.len, err.detail);
    }

    return json;
}


static inline ngx_int_t
unit_jwk(ngx_pool_t *pool, const char *text, EVP_PKEY **key,
    ngx_svc_jwa_e *alg, u_char *thumbprint)
{
    ngx_int_t  rc;

    rc = ngx_svc_jwk_public(unit_json(pool, text), key, alg, thumbprint);

    assert_int_equal(ERR_peek_error(), 0);

    if (rc != NGX_OK) {
        assert_null(*key);
    }

    return rc;
}


/*
 * Returns a NUL-terminated JWS of that header and payload, whatever they are.
 */

static inline char *
unit_sign(ngx_pool_t *pool, EVP_PKEY_CTX *signer, const char *header,
    const char *payload)
{
    u_char     *text, *p;
    ngx_str_t   h, b;

    h.data = (u_char *) header;
    h.len = strlen(header);
    b.data = (u_char *) payload;
    b.len = strlen(payload);

    text = ngx_pnalloc(pool, ngx_svc_jws_len(h.len, b.len) + 1);
    assert_non_null(text);

    p = ngx_svc_jws_sign(signer, &h, &b, text);

    assert_ptr_equal(p, text + ngx_svc_jws_len(h.len, b.len));
    *p = '\0';

    return (char *) text;
}


static inline ngx_int_t
unit_parse(ngx_pool_t *pool, const char *text, ngx_svc_jws_t *jws)
{
    ngx_int_t  rc;
    ngx_str_t  str;

    str.data = (u_char *) text;
    str.len = strlen(text);

    rc = ngx_svc_jws_parse(pool, &str, jws);

    assert_int_equal(jws->why != NULL, rc == NGX_DECLINED);

    return rc;
}


#endif /* _NGX_UNIT_JOSE_H_INCLUDED_ */
