/*
 * Authenticator data (WebAuthn Level 3, 6.1), and attestation objects (6.5.4).
 */

#include "ngx_svc_webauthn_authdata.h"
#include "ngx_svc_cbor.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_passkey.h"


#define NGX_SVC_WEBAUTHN_UP      0x01       /* the user was present */
#define NGX_SVC_WEBAUTHN_UV      0x04       /* the user was verified */
#define NGX_SVC_WEBAUTHN_BE      0x08       /* may be backed up */
#define NGX_SVC_WEBAUTHN_BS      0x10       /* is backed up */
#define NGX_SVC_WEBAUTHN_AT      0x40       /* a credential follows */
#define NGX_SVC_WEBAUTHN_ED      0x80       /* extensions follow */

#define NGX_SVC_WEBAUTHN_FLAGS   NGX_SVC_SHA256_LEN
#define NGX_SVC_WEBAUTHN_HEADER  (NGX_SVC_WEBAUTHN_FLAGS + 1 + 4)


/* A member of the attestation object. */

typedef struct {
    ngx_str_t        name;
    ngx_uint_t       types;         /* a mask of 1 << major type */
} ngx_svc_webauthn_part_t;

enum {
    NGX_SVC_WEBAUTHN_FMT = 0,
    NGX_SVC_WEBAUTHN_STATEMENT,
    NGX_SVC_WEBAUTHN_DATA,
    NGX_SVC_WEBAUTHN_PARTS
};


static const char *ngx_svc_webauthn_flags(ngx_uint_t flags,
    ngx_uint_t registered);
static ngx_int_t ngx_svc_webauthn_credential(const u_char **p,
    const u_char *end, ngx_svc_webauthn_authdata_t *authdata);
static ngx_int_t ngx_svc_webauthn_map(const u_char **p, const u_char *end);
static ngx_int_t ngx_svc_webauthn_part(const u_char **p, const u_char *end,
    ngx_uint_t *seen, ngx_str_t *data);
static ngx_int_t ngx_svc_webauthn_authdata_fail(ngx_svc_error_t *err,
    const char *what);


static const ngx_svc_webauthn_part_t
    ngx_svc_webauthn_parts[NGX_SVC_WEBAUTHN_PARTS] =
{
    { ngx_string("fmt"), 1 << NGX_SVC_CBOR_TEXT },

    /* an array in the format "compound" */
    { ngx_string("attStmt"), 1 << NGX_SVC_CBOR_MAP|1 << NGX_SVC_CBOR_ARRAY },

    { ngx_string("authData"), 1 << NGX_SVC_CBOR_BYTES },
};


ngx_int_t
ngx_svc_webauthn_authdata(const ngx_str_t *data, const ngx_str_t *rp_id,
    ngx_uint_t registered, ngx_svc_webauthn_authdata_t *authdata,
    ngx_svc_error_t *err)
{
    u_char         hash[NGX_SVC_SHA256_LEN];
    ngx_uint_t     flags;
    const char    *wrong;
    const u_char  *p, *end;

    ngx_memzero(authdata, sizeof(ngx_svc_webauthn_authdata_t));

    if (data->len < NGX_SVC_WEBAUTHN_HEADER) {
        return ngx_svc_webauthn_authdata_fail(err, "is cut off");
    }

    if (ngx_svc_sha256(rp_id->data, rp_id->len, hash) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_memcmp(data->data, hash, sizeof(hash)) != 0) {
        return ngx_svc_webauthn_authdata_fail(err, "is of another site");
    }

    p = data->data + NGX_SVC_WEBAUTHN_FLAGS;
    end = data->data + data->len;
    flags = *p++;

    wrong = ngx_svc_webauthn_flags(flags, registered);
    if (wrong) {
        return ngx_svc_webauthn_authdata_fail(err, wrong);
    }

    authdata->be = (flags & NGX_SVC_WEBAUTHN_BE) != 0;
    authdata->bs = (flags & NGX_SVC_WEBAUTHN_BS) != 0;
    authdata->sign_count = (uint32_t) p[0] << 24 | p[1] << 16 | p[2] << 8
                           | p[3];
    p += 4;

    if ((registered && ngx_svc_webauthn_credential(&p, end, authdata)
                       != NGX_OK)
        || ((flags & NGX_SVC_WEBAUTHN_ED) && ngx_svc_webauthn_map(&p, end)
                                             != NGX_OK)
        || p != end)
    {
        return ngx_svc_webauthn_authdata_fail(err, "is malformed");
    }

    return NGX_OK;
}


/* Returns what is wrong with the flags, or NULL. */

static const char *
ngx_svc_webauthn_flags(ngx_uint_t flags, ngx_uint_t registered)
{
    if (!(flags & NGX_SVC_WEBAUTHN_UP)) {
        return "says that the user was not present";
    }

    if (!(flags & NGX_SVC_WEBAUTHN_UV)) {
        return "says that the user was not verified";
    }

    if ((flags & NGX_SVC_WEBAUTHN_BS) && !(flags & NGX_SVC_WEBAUTHN_BE)) {
        return "is of a backup that is not eligible for one";
    }

    if (((flags & NGX_SVC_WEBAUTHN_AT) != 0) != registered) {
        return registered ? "has no credential" : "has a credential in it";
    }

    return NULL;
}


static ngx_int_t
ngx_svc_webauthn_credential(const u_char **p, const u_char *end,
    ngx_svc_webauthn_authdata_t *authdata)
{
    size_t  len;

    if (end - *p < NGX_SVC_PASSKEY_AAGUID_LEN + 2) {
        return NGX_DECLINED;
    }

    authdata->aaguid = *p;
    *p += NGX_SVC_PASSKEY_AAGUID_LEN;

    len = (*p)[0] << 8 | (*p)[1];
    *p += 2;

    if (len == 0
        || len > NGX_SVC_PASSKEY_ID_MAX
        || (size_t) (end - *p) < len)
    {
        return NGX_DECLINED;
    }

    authdata->id.data = (u_char *) *p;
    authdata->id.len = len;
    *p += len;

    return ngx_svc_webauthn_map(p, end);
}


static ngx_int_t
ngx_svc_webauthn_map(const u_char **p, const u_char *end)
{
    if (*p == end || **p >> 5 != NGX_SVC_CBOR_MAP) {
        return NGX_DECLINED;
    }

    return ngx_svc_cbor_skip(p, end);
}


ngx_int_t
ngx_svc_webauthn_attestation(const ngx_str_t *object, ngx_str_t *data,
    ngx_svc_error_t *err)
{
    ngx_uint_t       i, seen;
    const u_char    *p, *end;
    ngx_svc_cbor_t   map;

    p = object->data;
    end = object->data + object->len;
    seen = 0;

    if (ngx_svc_cbor_head(&p, end, &map) != NGX_OK
        || map.type != NGX_SVC_CBOR_MAP
        || map.value != NGX_SVC_WEBAUTHN_PARTS)
    {
        goto malformed;
    }

    for (i = 0; i < NGX_SVC_WEBAUTHN_PARTS; i++) {
        if (ngx_svc_webauthn_part(&p, end, &seen, data) != NGX_OK) {
            goto malformed;
        }
    }

    /* three different members are all of them */

    if (p == end) {
        return NGX_OK;
    }

malformed:

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                        "\"credential.response.attestationObject\" is"
                        " malformed.");
}


/* seen: a mask of the members that have been read. */

static ngx_int_t
ngx_svc_webauthn_part(const u_char **p, const u_char *end, ngx_uint_t *seen,
    ngx_str_t *data)
{
    ngx_uint_t                      i;
    const u_char                   *value;
    ngx_svc_cbor_t                  name, head;
    const ngx_str_t                *key;
    const ngx_svc_webauthn_part_t  *part;

    if (ngx_svc_cbor_head(p, end, &name) != NGX_OK
        || name.type != NGX_SVC_CBOR_TEXT)
    {
        return NGX_DECLINED;
    }

    for (i = 0; i < NGX_SVC_WEBAUTHN_PARTS; i++) {
        key = &ngx_svc_webauthn_parts[i].name;

        if (name.value == key->len
            && ngx_memcmp(name.data, key->data, key->len) == 0)
        {
            break;
        }
    }

    if (i == NGX_SVC_WEBAUTHN_PARTS || (*seen & (ngx_uint_t) 1 << i)) {
        return NGX_DECLINED;
    }

    *seen |= (ngx_uint_t) 1 << i;
    part = &ngx_svc_webauthn_parts[i];
    value = *p;

    if (ngx_svc_cbor_skip(p, end) != NGX_OK
        || ngx_svc_cbor_head(&value, end, &head) != NGX_OK
        || !(part->types & (ngx_uint_t) 1 << head.type))
    {
        return NGX_DECLINED;
    }

    if (i == NGX_SVC_WEBAUTHN_DATA) {
        data->data = (u_char *) head.data;
        data->len = (size_t) head.value;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webauthn_authdata_fail(ngx_svc_error_t *err, const char *what)
{
    return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                        "The authenticator data of \"credential.response\""
                        " %s.", what);
}
