/*
 * Digests and secrets by which clients are found.
 */

#include "ngx_svc_application_secret.h"


static ngx_int_t ngx_svc_application_secret_digest(ngx_svc_request_t *sr,
    ngx_svc_application_login_e kind, const ngx_str_t *client_id,
    const ngx_str_t *secret, ngx_str_t *digest);


/* A 0 ends the clientId in the text, although its length is fixed. */

ngx_int_t
ngx_svc_application_digest(ngx_svc_application_login_e kind,
    const ngx_str_t *client_id, const ngx_str_t *secret, u_char *digest)
{
    u_char     *p;
    ngx_int_t   rc;
    u_char      text[1 + NGX_SVC_APPLICATION_ID + 1
                     + NGX_SVC_ADMIN_SECRET_TEXT];

    if (client_id->len != NGX_SVC_APPLICATION_ID
        || secret->len > NGX_SVC_ADMIN_SECRET_TEXT)
    {
        return NGX_ERROR;
    }

    p = text;
    *p++ = (u_char) kind;
    p = ngx_cpymem(p, client_id->data, client_id->len);
    *p++ = '\0';
    p = ngx_cpymem(p, secret->data, secret->len);

    rc = ngx_svc_sha256(text, p - text, digest);

    ngx_explicit_memzero(text, sizeof(text));

    return rc;
}


ngx_svc_application_secret_t *
ngx_svc_application_secret_new(ngx_svc_request_t *sr, ngx_str_t *client_id,
    ngx_uint_t with_secret)
{
    ngx_svc_application_secret_t  *made;

    static const ngx_str_t         none = ngx_string("");

    made = ngx_pcalloc(sr->request->pool,
                       sizeof(ngx_svc_application_secret_t));
    if (made == NULL) {
        return NULL;
    }

    made->client_id = *client_id;

    if (ngx_svc_application_secret_digest(sr, NGX_SVC_APPLICATION_LOGIN_ID,
                                          client_id, &none, &made->id_digest)
        != NGX_OK)
    {
        return NULL;
    }

    if (!with_secret) {
        return made;
    }

    made->secret = ngx_svc_admin_secret_new(sr, "");

    if (made->secret == NULL
        || ngx_svc_application_secret_digest(sr,
                   NGX_SVC_APPLICATION_LOGIN_SECRET, client_id,
                   &made->secret->text, &made->secret_digest)
           != NGX_OK)
    {
        return NULL;
    }

    return made;
}


static ngx_int_t
ngx_svc_application_secret_digest(ngx_svc_request_t *sr,
    ngx_svc_application_login_e kind, const ngx_str_t *client_id,
    const ngx_str_t *secret, ngx_str_t *digest)
{
    digest->data = ngx_pnalloc(sr->request->pool, NGX_SVC_SHA256_LEN);
    if (digest->data == NULL) {
        return NGX_ERROR;
    }

    digest->len = NGX_SVC_SHA256_LEN;

    return ngx_svc_application_digest(kind, client_id, secret, digest->data);
}


void
ngx_svc_application_secret_write(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr)
{
    ngx_svc_application_secret_t  *made;

    made = sr->data;

    if (made->secret) {
        ngx_svc_json_secret(w, "clientSecret", made->secret->text.data,
                            made->secret->text.len);
    }
}
