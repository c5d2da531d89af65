/*
 * Recovery codes.
 */

#include "ngx_svc_recovery.h"
#include "ngx_svc_base32.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>


/* Random bytes for a code: they have its bits, and some more. */
#define NGX_SVC_RECOVERY_BYTES  7


static u_char ngx_svc_recovery_char(u_char c);


ngx_int_t
ngx_svc_recovery_new(u_char code[NGX_SVC_RECOVERY_LEN])
{
    u_char  bytes[NGX_SVC_RECOVERY_BYTES];
    u_char  text[ngx_svc_base32_len(NGX_SVC_RECOVERY_BYTES)];

    if (ngx_svc_random(bytes, sizeof(bytes)) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_svc_base32(text, NGX_SVC_BASE32_CROCKFORD, bytes,
                          sizeof(bytes));

    ngx_memcpy(code, text, NGX_SVC_RECOVERY_LEN);

    ngx_explicit_memzero(bytes, sizeof(bytes));
    ngx_explicit_memzero(text, sizeof(text));

    return NGX_OK;
}


u_char *
ngx_svc_recovery_text(u_char *p, const u_char code[NGX_SVC_RECOVERY_LEN])
{
    p = ngx_cpymem(p, code, NGX_SVC_RECOVERY_LEN / 2);
    *p++ = '-';

    return ngx_cpymem(p, code + NGX_SVC_RECOVERY_LEN / 2,
                      NGX_SVC_RECOVERY_LEN / 2);
}


ngx_int_t
ngx_svc_recovery_parse(const ngx_str_t *text,
    u_char code[NGX_SVC_RECOVERY_LEN])
{
    u_char  c;
    size_t  i, n;

    n = 0;

    for (i = 0; i < text->len; i++) {
        c = text->data[i];

        if (c == ' ' || c == '-') {
            continue;
        }

        c = ngx_svc_recovery_char(c);

        if (c == '\0' || n == NGX_SVC_RECOVERY_LEN) {
            return NGX_DECLINED;
        }

        code[n++] = c;
    }

    return n == NGX_SVC_RECOVERY_LEN ? NGX_OK : NGX_DECLINED;
}


/* Returns the character of the alphabet that is meant, or NUL. */

static u_char
ngx_svc_recovery_char(u_char c)
{
    c = ngx_tolower(c);

    switch (c) {

    case 'i':
    case 'l':
        return '1';

    case 'o':
        return '0';

    case '\0':
        return '\0';

    default:
        return strchr(NGX_SVC_BASE32_CROCKFORD, c) ? c : '\0';
    }
}


ngx_int_t
ngx_svc_recovery_mac(const u_char key[NGX_SVC_KEY_LEN],
    const u_char tenant[NGX_SVC_UUID_LEN], const u_char user[NGX_SVC_UUID_LEN],
    const u_char code[NGX_SVC_RECOVERY_LEN], u_char mac[NGX_SVC_SHA256_LEN])
{
    u_char        *p;
    u_char         text[2 * NGX_SVC_UUID_LEN + NGX_SVC_RECOVERY_LEN];
    unsigned int   len;

    p = ngx_cpymem(text, tenant, NGX_SVC_UUID_LEN);
    p = ngx_cpymem(p, user, NGX_SVC_UUID_LEN);
    ngx_memcpy(p, code, NGX_SVC_RECOVERY_LEN);

    p = HMAC(EVP_sha256(), key, NGX_SVC_KEY_LEN, text, sizeof(text), mac,
             &len);

    ngx_explicit_memzero(text, sizeof(text));

    return p ? NGX_OK : NGX_ERROR;
}
