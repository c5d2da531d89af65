/*
 * Assertions of clients.
 */

#include "ngx_svc_oauth_assertion.h"


static ngx_int_t ngx_svc_oauth_assertion_client(ngx_svc_oauth_assertion_t *a);
static ngx_int_t ngx_svc_oauth_assertion_aud(ngx_svc_oauth_assertion_t *a);
static ngx_int_t ngx_svc_oauth_assertion_times(ngx_svc_oauth_assertion_t *a,
    time_t now);
static ngx_uint_t ngx_svc_oauth_assertion_begun(const cJSON *claims,
    const char *name, time_t now);
static ngx_int_t ngx_svc_oauth_assertion_once(ngx_svc_oauth_assertion_t *a);
static ngx_int_t ngx_svc_oauth_assertion_refuse(ngx_svc_oauth_assertion_t *a,
    const char *why);


ngx_int_t
ngx_svc_oauth_assertion(ngx_pool_t *pool, const ngx_str_t *text, time_t now,
    ngx_svc_oauth_assertion_t *a)
{
    ngx_int_t  rc;

    ngx_memzero(a, sizeof(ngx_svc_oauth_assertion_t));

    rc = ngx_svc_jws_parse_client(pool, text, &a->jws);

    if (rc == NGX_DECLINED) {
        a->why = a->jws.why;
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_assertion_client(a);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_assertion_aud(a);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_assertion_times(a, now);
    }

    return rc == NGX_OK ? ngx_svc_oauth_assertion_once(a) : rc;
}


static ngx_int_t
ngx_svc_oauth_assertion_client(ngx_svc_oauth_assertion_t *a)
{
    ngx_str_t     iss, sub;
    const cJSON  *claims;

    claims = a->jws.payload;

    if (ngx_svc_jws_text(claims, "sub", &sub) != NGX_OK
        || ngx_svc_jws_text(claims, "iss", &iss) != NGX_OK
        || sub.len == 0 || sub.len > NGX_SVC_OAUTH_ASSERTION_SUB)
    {
        return ngx_svc_oauth_assertion_refuse(a, "has no 'sub' that is a"
                                              " clientId");
    }

    a->client_id = sub;

    if (iss.len != sub.len || ngx_memcmp(iss.data, sub.data, sub.len) != 0) {
        return ngx_svc_oauth_assertion_refuse(a, "has an 'iss' that is not"
                                              " its 'sub'");
    }

    return NGX_OK;
}


/*
 * Takes "aud" (RFC 7519, 4.1.3), which must be one recipient: another one
 * could present the assertion to us.
 */

static ngx_int_t
ngx_svc_oauth_assertion_aud(ngx_svc_oauth_assertion_t *a)
{
    const cJSON  *aud;

    aud = cJSON_GetObjectItemCaseSensitive(a->jws.payload, "aud");

    if (cJSON_IsArray(aud)) {
        a->listed = 1;
        aud = aud->child && aud->child->next == NULL ? aud->child : NULL;
    }

    if (aud == NULL || !cJSON_IsString(aud)) {
        return ngx_svc_oauth_assertion_refuse(a, "has no 'aud' that is one"
                                              " string");
    }

    a->aud.data = (u_char *) aud->valuestring;
    a->aud.len = ngx_strlen(aud->valuestring);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_assertion_times(ngx_svc_oauth_assertion_t *a, time_t now)
{
    int64_t       exp;
    const cJSON  *claims;

    claims = a->jws.payload;

    if (ngx_svc_jws_date(claims, "exp", &exp) != NGX_OK
        || exp > now + NGX_SVC_OAUTH_ASSERTION_LIFE)
    {
        return ngx_svc_oauth_assertion_refuse(a, "has no 'exp' that is at most"
                                              " 300 seconds ahead");
    }

    if (exp <= now) {
        return ngx_svc_oauth_assertion_refuse(a, "is over by its 'exp'");
    }

    if (!ngx_svc_oauth_assertion_begun(claims, "iat", now)
        || !ngx_svc_oauth_assertion_begun(claims, "nbf", now))
    {
        return ngx_svc_oauth_assertion_refuse(a, "has an 'iat' or an 'nbf' that"
                                              " is more than 60 seconds ahead,"
                                              " or no number");
    }

    return NGX_OK;
}


/* Returns 1 if the claim is absent, or its time has come. */

static ngx_uint_t
ngx_svc_oauth_assertion_begun(const cJSON *claims, const char *name,
    time_t now)
{
    int64_t  date;

    return cJSON_GetObjectItemCaseSensitive(claims, name) == NULL
           || (ngx_svc_jws_date(claims, name, &date) == NGX_OK
               && date <= now + NGX_SVC_OAUTH_ASSERTION_DRIFT);
}


/*
 * Sets a->once.  The text that is hashed for a DPoP proof begins with a
 * thumbprint: nobody finds a text that is both.
 */

static ngx_int_t
ngx_svc_oauth_assertion_once(ngx_svc_oauth_assertion_t *a)
{
    u_char     text[NGX_SVC_OAUTH_ASSERTION_SUB + 1
                    + NGX_SVC_OAUTH_ASSERTION_JTI], *p;
    ngx_str_t  jti;

    if (ngx_svc_jws_text(a->jws.payload, "jti", &jti) != NGX_OK
        || jti.len == 0 || jti.len > NGX_SVC_OAUTH_ASSERTION_JTI)
    {
        return ngx_svc_oauth_assertion_refuse(a, "has no 'jti' of 1 to 128"
                                              " bytes");
    }

    p = ngx_cpymem(text, a->client_id.data, a->client_id.len);
    *p++ = '\0';
    p = ngx_cpymem(p, jti.data, jti.len);

    return ngx_svc_sha256(text, p - text, a->once);
}


static ngx_int_t
ngx_svc_oauth_assertion_refuse(ngx_svc_oauth_assertion_t *a, const char *why)
{
    a->why = why;

    return NGX_DECLINED;
}
