/*
 * How a client authenticates.
 */

#include "ngx_svc_oauth_client_take.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_oauth_asserted.h"
#include "ngx_svc_oauth_client.h"


#define NGX_SVC_OAUTH_BASIC  512        /* bytes of base64 */


static ngx_int_t ngx_svc_oauth_client_proofs(ngx_svc_oauth_t *o,
    ngx_str_t *assertion);
static ngx_int_t ngx_svc_oauth_client_header(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_client_basic(ngx_svc_oauth_t *o,
    const ngx_str_t *value, ngx_str_t *secret);
static ngx_int_t ngx_svc_oauth_client_decode(ngx_str_t *text);
static ngx_int_t ngx_svc_oauth_client_body(ngx_svc_oauth_t *o);


ngx_int_t
ngx_svc_oauth_client_take(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;
    ngx_str_t  assertion;

    rc = ngx_svc_oauth_client_proofs(o, &assertion);

    if (rc != NGX_OK) {
        return rc;
    }

    if (assertion.data) {
        return ngx_svc_oauth_asserted_take(o, &assertion);
    }

    return o->sr->request->headers_in.authorization
           ? ngx_svc_oauth_client_header(o) : ngx_svc_oauth_client_body(o);
}


/* A client must authenticate in one way only (RFC 6749, 2.3). */

static ngx_int_t
ngx_svc_oauth_client_proofs(ngx_svc_oauth_t *o, ngx_str_t *assertion)
{
    ngx_int_t   rc;
    ngx_str_t   secret;
    ngx_uint_t  header;

    rc = ngx_svc_oauth_value(o, "client_secret", &secret);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_value(o, "client_assertion", assertion);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    header = (o->sr->request->headers_in.authorization != NULL);

    if (header + (secret.data != NULL) + (assertion->data != NULL) > 1) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "The client proves itself in more than one way: "
                            "the Authorization header, 'client_secret' and "
                            "'client_assertion' exclude each other.");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_client_header(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;
    ngx_str_t  id, secret, *value;

    value = &o->sr->request->headers_in.authorization->value;

    rc = ngx_svc_oauth_value(o, "client_id", &id);

    if (rc != NGX_OK) {
        return rc;
    }

    o->client.basic = 1;

    rc = ngx_svc_oauth_client_basic(o, value, &secret);

    if (rc == NGX_DECLINED) {
        ngx_str_null(&o->client.id);
        return NGX_OK;
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (id.data && (id.len != o->client.id.len
                    || ngx_memcmp(id.data, o->client.id.data, id.len) != 0))
    {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "'client_id' is not the client of the "
                            "Authorization header.");
    }

    /* a client without a secret may send an empty one */

    return secret.len
           ? ngx_svc_oauth_client_digest(o, NGX_SVC_APPLICATION_LOGIN_SECRET,
                                         &secret)
           : ngx_svc_oauth_client_public(o, &o->client.id);
}


/*
 * Takes the id and the secret of Basic (RFC 7617); each is encoded as in a
 * form (RFC 6749, 2.3.1).
 */

static ngx_int_t
ngx_svc_oauth_client_basic(ngx_svc_oauth_t *o, const ngx_str_t *value,
    ngx_str_t *secret)
{
    u_char     *colon;
    ngx_str_t   text, src;

    if (value->len < sizeof("Basic ") - 1
        || ngx_strncasecmp(value->data, (u_char *) "Basic ",
                           sizeof("Basic ") - 1)
           != 0)
    {
        return NGX_DECLINED;
    }

    src.data = value->data + sizeof("Basic ") - 1;
    src.len = value->len - (sizeof("Basic ") - 1);

    while (src.len && *src.data == ' ') {
        src.data++;
        src.len--;
    }

    if (src.len > NGX_SVC_OAUTH_BASIC) {
        return NGX_DECLINED;
    }

    text.data = ngx_pnalloc(o->sr->request->pool,
                            ngx_base64_decoded_length(src.len) + 1);
    if (text.data == NULL
        || ngx_svc_wipe_later(o->sr->request->pool, text.data,
                              ngx_base64_decoded_length(src.len))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_decode_base64(&text, &src) != NGX_OK) {
        return NGX_DECLINED;
    }

    colon = ngx_strlchr(text.data, text.data + text.len, ':');
    if (colon == NULL) {
        return NGX_DECLINED;
    }

    o->client.id.data = text.data;
    o->client.id.len = colon - text.data;
    secret->data = colon + 1;
    secret->len = text.data + text.len - secret->data;

    return ngx_svc_oauth_client_decode(&o->client.id) == NGX_OK
           ? ngx_svc_oauth_client_decode(secret) : NGX_DECLINED;
}


/* Decodes in place.  "+" stays as it is: no id and no secret has a space. */

static ngx_int_t
ngx_svc_oauth_client_decode(ngx_str_t *text)
{
    u_char  *p, *dst, *end;

    dst = text->data;
    end = text->data + text->len;

    for (p = text->data; p < end; p++) {

        if (*p != '%') {
            *dst++ = *p;
            continue;
        }

        if (end - p < 3 || ngx_svc_hex(p + 1, 1, dst) != NGX_OK) {
            return NGX_DECLINED;
        }

        p += 2;
        dst++;
    }

    text->len = dst - text->data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_client_body(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;
    ngx_str_t  secret;

    rc = ngx_svc_oauth_value(o, "client_id", &o->client.id);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_value(o, "client_secret", &secret);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (o->client.id.data == NULL) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_CLIENT,
                            "The client does not say which one it is: by an "
                            "Authorization header, by 'client_id', or by "
                            "'client_assertion'.");
    }

    return secret.data
           ? ngx_svc_oauth_client_digest(o, NGX_SVC_APPLICATION_LOGIN_SECRET,
                                         &secret)
           : ngx_svc_oauth_client_public(o, &o->client.id);
}
