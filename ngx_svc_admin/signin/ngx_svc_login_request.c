/*
 * What a sign-in takes of its request.
 */

#include "ngx_svc_login_request.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_cookie.h"
#include "ngx_svc_email.h"


#define NGX_SVC_LOGIN_DEVICE       32       /* bytes */
#define NGX_SVC_LOGIN_DEVICE_TEXT  43
#define NGX_SVC_LOGIN_DEVICE_AGE   (400 * 86400)    /* s */


static ngx_str_t ngx_svc_login_ascii(const ngx_str_t *name);
static ngx_int_t ngx_svc_login_take_tenant(ngx_svc_login_t *login,
    ngx_svc_value_t *tenant);
static ngx_int_t ngx_svc_login_take_device(ngx_svc_login_t *login);


const ngx_svc_member_t  ngx_svc_login_address_members[] = {

    ngx_svc_login_members,

    ngx_svc_null_member
};


static const ngx_str_t  ngx_svc_login_device_name =
    ngx_string("svc_device");


ngx_int_t
ngx_svc_login_address(ngx_svc_login_t *login)
{
    ngx_int_t              rc;
    ngx_svc_request_t     *sr;
    ngx_svc_login_body_t   body;

    sr = login->sr;
    ngx_memzero(&body, sizeof(ngx_svc_login_body_t));

    rc = ngx_svc_schema_object(ngx_svc_login_address_members, 0, sr->json,
                               &body, &sr->error);

    return rc == NGX_OK ? ngx_svc_login_take_address(login, &body) : rc;
}


ngx_int_t
ngx_svc_login_take_address(ngx_svc_login_t *login, ngx_svc_login_body_t *body)
{
    u_char  *mac;

    mac = ngx_pnalloc(login->sr->request->pool, NGX_SVC_LIMIT_MAC_LEN);

    if (mac == NULL
        || ngx_svc_limit_email(&body->email.str, mac) != NGX_OK
        || ngx_svc_login_take_client(login, &body->tenant) != NGX_OK)
    {
        return NGX_ERROR;
    }

    login->asked.email = body->email.str;
    login->asked.mac.data = mac;
    login->asked.mac.len = NGX_SVC_LIMIT_MAC_LEN;

    return NGX_OK;
}


/* Allows the characters that svc.tenant allows in a slug. */

ngx_int_t
ngx_svc_login_slug(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    u_char     *p;
    ngx_uint_t  i;

    p = value->str.data;

    for (i = 0; i < value->str.len; i++) {
        if ((p[i] < 'a' || p[i] > 'z') && (p[i] < '0' || p[i] > '9')
            && (p[i] != '-' || i == 0 || i == value->str.len - 1))
        {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must be the slug of a tenant, such as "
                                "\"acme\".", path);
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_take_client(ngx_svc_login_t *login, ngx_svc_value_t *tenant)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    login->asked.request_id = ngx_svc_request_id(sr->request);

    if (login->asked.request_id.data == NULL) {
        ngx_str_set(&login->asked.request_id, "");
    }

    if (ngx_svc_risk_client(sr, &login->client) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_svc_login_take_device(login) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_login_take_site(login, tenant);
}


ngx_int_t
ngx_svc_login_take_site(ngx_svc_login_t *login, ngx_svc_value_t *tenant)
{
    login->asked.host = ngx_svc_login_ascii(
                                  &login->sr->request->headers_in.server);

    return tenant ? ngx_svc_login_take_tenant(login, tenant) : NGX_OK;
}


/*
 * Returns a domain or a slug as it is, or "-" if it has other characters than
 * printable ASCII: the client may have made it up, and PostgreSQL would refuse
 * text that is not UTF-8.
 */

static ngx_str_t
ngx_svc_login_ascii(const ngx_str_t *name)
{
    size_t            i;

    static ngx_str_t  nobody = ngx_string("-");

    for (i = 0; i < name->len; i++) {
        if (name->data[i] <= 0x20 || name->data[i] > 0x7e) {
            return nobody;
        }
    }

    return name->len ? *name : nobody;
}


/* Takes the tenant that the body names, or else the one of svc_tenant. */

static ngx_int_t
ngx_svc_login_take_tenant(ngx_svc_login_t *login, ngx_svc_value_t *tenant)
{
    ngx_svc_admin_loc_conf_t  *alcf;

    if (tenant->set && !tenant->null) {
        login->asked.slug = tenant->str;
        login->asked.named = 1;
        return NGX_OK;
    }

    alcf = ngx_http_get_module_loc_conf(login->sr->request,
                                        ngx_http_svc_admin_module);

    if (alcf->tenant
        && ngx_http_complex_value(login->sr->request, alcf->tenant,
                                  &login->asked.slug)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (login->asked.slug.len == 0) {
        ngx_str_null(&login->asked.slug);
        return NGX_OK;
    }

    login->asked.slug = ngx_svc_login_ascii(&login->asked.slug);

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_take_session(ngx_svc_login_t *login)
{
    u_char     *hash, key[NGX_SVC_SESSION_KEY];
    ngx_int_t   rc;

    rc = ngx_svc_session_cookie(login->sr, key);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc == NGX_OK) {
        hash = ngx_pnalloc(login->sr->request->pool, NGX_SVC_SHA256_LEN);

        if (hash == NULL
            || ngx_svc_sha256(key + NGX_SVC_UUID_LEN, NGX_SVC_SESSION_SECRET,
                              hash)
               != NGX_OK)
        {
            return NGX_ERROR;
        }

        login->asked.old_session.data = hash;
        login->asked.old_session.len = NGX_SVC_SHA256_LEN;
    }

    return NGX_OK;
}


/* A browser whose cookie cannot be ours, or that has none, gets a new one. */

static ngx_int_t
ngx_svc_login_take_device(ngx_svc_login_t *login)
{
    u_char       bytes[NGX_SVC_LOGIN_DEVICE];
    ngx_str_t    name, value, src, dst;
    ngx_uint_t   known;

    static const ngx_str_t  host = ngx_string("__Host-svc_device");

    name = ngx_svc_cookie_secure(login->sr) ? host : ngx_svc_login_device_name;
    dst.data = bytes;

    known = ngx_svc_cookie(login->sr->request, &name, &value) == NGX_OK
            && value.len == NGX_SVC_LOGIN_DEVICE_TEXT
            && ngx_decode_base64url(&dst, &value) == NGX_OK
            && dst.len == NGX_SVC_LOGIN_DEVICE;

    if (!known && ngx_svc_random(bytes, sizeof(bytes)) != NGX_OK) {
        return NGX_ERROR;
    }

    login->asked.device.data = ngx_pnalloc(login->sr->request->pool,
                                     ngx_base64_encoded_length(sizeof(bytes)));

    if (login->asked.device.data == NULL
        || ngx_svc_sha256(bytes, sizeof(bytes), login->asked.device_hash)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    src.data = bytes;
    src.len = sizeof(bytes);

    ngx_encode_base64url(&login->asked.device, &src);

    if (known) {
        login->client.device.data = login->asked.device_hash;
        login->client.device.len = NGX_SVC_SHA256_LEN;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_set_device(ngx_svc_login_t *login)
{
    return ngx_svc_cookie_set(login->sr, &ngx_svc_login_device_name,
                              &login->asked.device, NGX_SVC_LOGIN_DEVICE_AGE,
                              NGX_SVC_COOKIE_HTTP_ONLY);
}


ngx_int_t
ngx_svc_login_copy(ngx_svc_login_t *login, ngx_str_t *dst, ngx_str_t value)
{
    if (value.data == NULL) {
        ngx_str_null(dst);
        return NGX_OK;
    }

    dst->len = value.len;
    dst->data = ngx_pnalloc(login->sr->request->pool, value.len + 1);

    if (dst->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(dst->data, value.data, value.len);

    return NGX_OK;
}
