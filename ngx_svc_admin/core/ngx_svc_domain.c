/*
 * Names of hosts.
 */

#include "ngx_svc_domain.h"

#include <idn2.h>


#define NGX_SVC_DOMAIN_LABEL  63        /* bytes (RFC 1035, 2.3.4) */


static ngx_int_t ngx_svc_domain_ascii(const ngx_str_t *text, char **ascii,
    const char **why);
static const char *ngx_svc_domain_check(const u_char *name, size_t len);
static ngx_uint_t ngx_svc_domain_label(const u_char *label, size_t len);
static ngx_uint_t ngx_svc_domain_number(const u_char *label, size_t len);


ngx_int_t
ngx_svc_domain_parse(const ngx_str_t *text, u_char name[NGX_SVC_DOMAIN_MAX],
    size_t *len, const char **why)
{
    char       *ascii;
    size_t      n;
    ngx_int_t   rc;

    rc = ngx_svc_domain_ascii(text, &ascii, why);
    if (rc != NGX_OK) {
        return rc;
    }

    n = ngx_strlen(ascii);

    if (n && ascii[n - 1] == '.') {
        n--;
    }

    *why = ngx_svc_domain_check((u_char *) ascii, n);

    if (*why == NULL) {
        ngx_strlow(name, (u_char *) ascii, n);
        *len = n;
    }

    idn2_free(ascii);

    return *why ? NGX_DECLINED : NGX_OK;
}


/* The caller frees *ascii with idn2_free(). */

static ngx_int_t
ngx_svc_domain_ascii(const ngx_str_t *text, char **ascii, const char **why)
{
    int      rc;
    uint8_t  src[NGX_SVC_DOMAIN_TEXT + 1];

    *why = "is longer than a name may be: 253 bytes";

    if (text->len > NGX_SVC_DOMAIN_TEXT) {
        return NGX_DECLINED;
    }

    if (ngx_strlchr(text->data, text->data + text->len, '\0')) {
        *why = "must be a name such as login.example.com";
        return NGX_DECLINED;
    }

    ngx_memcpy(src, text->data, text->len);
    src[text->len] = '\0';

    rc = idn2_lookup_u8(src, (uint8_t **) ascii,
                        IDN2_NFC_INPUT|IDN2_NONTRANSITIONAL);

    switch (rc) {

    case IDN2_OK:
        return NGX_OK;

    case IDN2_MALLOC:
        return NGX_ERROR;

    case IDN2_TOO_BIG_DOMAIN:
        return NGX_DECLINED;

    case IDN2_TOO_BIG_LABEL:
        *why = "has a label of more than 63 bytes";
        return NGX_DECLINED;

    default:
        *why = "must be a name such as login.example.com, of characters that "
               "IDNA has";
        return NGX_DECLINED;
    }
}


/* Returns what is wrong with a name, or NULL. */

static const char *
ngx_svc_domain_check(const u_char *name, size_t len)
{
    size_t         n;
    ngx_uint_t     labels;
    const u_char  *p, *end, *dot;

    if (len > NGX_SVC_DOMAIN_MAX) {
        return "is longer than a name may be: 253 bytes";
    }

    end = name + len;

    for (p = name, labels = 1; /* void */ ; p = dot + 1, labels++) {

        dot = memchr(p, '.', end - p);
        n = (dot ? dot : end) - p;

        if (!ngx_svc_domain_label(p, n)) {
            return "must be a name such as login.example.com: labels of "
                   "letters, digits and hyphens, with dots between them";
        }

        if (dot == NULL) {
            break;
        }
    }

    if (labels < 2) {
        return "must have two labels at least, as login.example.com has";
    }

    return ngx_svc_domain_number(p, n) ? "must be a name, not an IP address"
                                       : NULL;
}


/* Returns whether a label follows RFC 1123, 2.1. */

static ngx_uint_t
ngx_svc_domain_label(const u_char *label, size_t len)
{
    u_char  c;
    size_t  i;

    if (len == 0 || len > NGX_SVC_DOMAIN_LABEL
        || label[0] == '-' || label[len - 1] == '-')
    {
        return 0;
    }

    for (i = 0; i < len; i++) {
        c = ngx_tolower(label[i]);

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') {
            return 0;
        }
    }

    return 1;
}


/*
 * Returns whether a label is a number: browsers take a name that ends in one
 * for an address (WHATWG URL, 3.5).
 */

static ngx_uint_t
ngx_svc_domain_number(const u_char *label, size_t len)
{
    u_char      c;
    size_t      i;
    ngx_uint_t  hex;

    hex = (len >= 2 && label[0] == '0' && ngx_tolower(label[1]) == 'x');

    for (i = hex ? 2 : 0; i < len; i++) {
        c = ngx_tolower(label[i]);

        if ((c < '0' || c > '9') && (!hex || c < 'a' || c > 'f')) {
            return 0;
        }
    }

    return 1;
}
