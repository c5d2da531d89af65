/*
 * E-mail addresses.
 */

#include "ngx_svc_email.h"

#include <idn2.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>


#define NGX_SVC_EMAIL_LABEL   63        /* bytes of a label (RFC 1035, 2.3.4) */
#define NGX_SVC_EMAIL_DOMAIN  253       /* bytes of a name (RFC 1035, 3.1) */


/* A part of a key that is being made. */

typedef struct {
    u_char     *last;
    u_char     *end;
    unsigned    strict:1;   /* 1: a label that IDNA2008 does not allow is
                               NGX_DECLINED */
} ngx_svc_email_out_t;


static ngx_uint_t ngx_svc_email_form(const ngx_str_t *email);
static ngx_uint_t ngx_svc_email_mailbox(const ngx_str_t *email);
static ngx_uint_t ngx_svc_email_visible(ucs4_t c);
static ngx_int_t ngx_svc_email_local(ngx_svc_email_out_t *out,
    const u_char *local, size_t len);
static ngx_int_t ngx_svc_email_domain(ngx_svc_email_out_t *out,
    const u_char *domain, size_t len);
static ngx_int_t ngx_svc_email_label(ngx_svc_email_out_t *out,
    const u_char *label, size_t len);
static ngx_uint_t ngx_svc_email_ascii_label(const u_char *label, size_t len);
static ngx_uint_t ngx_svc_email_a_label(const u_char *label, size_t len);
static size_t ngx_svc_email_ascii(const u_char *label, size_t len);
static ngx_int_t ngx_svc_email_put(ngx_svc_email_out_t *out,
    const u_char *data, size_t len);


ngx_int_t
ngx_svc_email_check(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    ngx_int_t  rc;

    rc = ngx_svc_email_form_check(member, value, path, err);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_email_mailbox(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be an address that a mailbox can have:"
                        " no invisible characters or quotes, and behind the"
                        " \"@\" a domain as DNS and IDNA2008 have it.",
                        path);
}


ngx_int_t
ngx_svc_email_form_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_email_form(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be an e-mail address: one \"@\" with"
                        " something on both sides, no white space or control"
                        " characters, at most %d bytes.",
                        path, NGX_SVC_EMAIL_MAX);
}


ngx_int_t
ngx_svc_email_key(u_char key[NGX_SVC_EMAIL_KEY], size_t *len,
    const ngx_str_t *email)
{
    size_t                n;
    u_char               *at;
    ngx_svc_email_out_t   out;

    out.last = key;
    out.end = key + NGX_SVC_EMAIL_KEY;
    out.strict = 0;

    n = ngx_min(email->len, NGX_SVC_EMAIL_MAX);
    at = ngx_strlchr(email->data, email->data + n, '@');

    if (at == NULL) {
        at = email->data + n;
    }

    if (ngx_svc_email_local(&out, email->data, at - email->data) != NGX_OK) {
        return NGX_ERROR;
    }

    if (at < email->data + n) {
        *out.last++ = '@';
        at++;

        if (ngx_svc_email_domain(&out, at, email->data + n - at) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    *len = out.last - key;

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_email_form(const ngx_str_t *email)
{
    u_char      *p, *end;
    ucs4_t       c;
    ngx_uint_t   at;

    at = 0;
    p = email->data;
    end = p + email->len;

    if (p == end || email->len > NGX_SVC_EMAIL_MAX
        || *p == '@' || end[-1] == '@')
    {
        return 0;
    }

    while (p < end) {
        p += u8_mbtouc(&c, p, end - p);

        if (c == 0xfffd || c <= 0x20 || uc_is_property_white_space(c)
            || uc_is_general_category(c, UC_CONTROL))
        {
            return 0;
        }

        at += (c == '@');
    }

    return at == 1;
}


/* Returns 1 if a mailbox can have the address, whose form is right. */

static ngx_uint_t
ngx_svc_email_mailbox(const ngx_str_t *email)
{
    u_char                key[NGX_SVC_EMAIL_KEY], *p, *end;
    ucs4_t                c;
    ngx_svc_email_out_t   out;

    p = email->data;
    end = p + email->len;

    while (*p != '@') {
        p += u8_mbtouc(&c, p, end - p);

        if (c < 0x80 ? ngx_strchr("\"(),:;<>[]\\", c) != NULL
                     : !ngx_svc_email_visible(c))
        {
            return 0;
        }
    }

    p++;

    out.last = key;
    out.end = key + NGX_SVC_EMAIL_KEY;
    out.strict = 1;

    return ngx_svc_email_domain(&out, p, end - p) == NGX_OK
           && out.last - key <= NGX_SVC_EMAIL_DOMAIN;
}


static ngx_uint_t
ngx_svc_email_visible(ucs4_t c)
{
    return !uc_is_property_default_ignorable_code_point(c)
           && !uc_is_general_category(c, UC_FORMAT)
           && !uc_is_general_category(c, UC_PRIVATE_USE)
           && !uc_is_general_category(c, UC_UNASSIGNED)
           && !uc_is_general_category(c, UC_SEPARATOR);
}


/*
 * NFC comes before the folding to lower case, since it makes ASCII of some
 * characters (U+212A becomes "K").
 */

static ngx_int_t
ngx_svc_email_local(ngx_svc_email_out_t *out, const u_char *local, size_t len)
{
    u_char     *start, *p;
    size_t      n;
    uint8_t    *text;
    ngx_int_t   rc;

    start = out->last;
    n = 0;

    text = u8_normalize(UNINORM_NFC, local, len, NULL, &n);

    if (text == NULL) {
        return (len == 0) ? NGX_OK : NGX_ERROR;
    }

    rc = ngx_svc_email_put(out, text, n);
    free(text);

    for (p = start; p < out->last; p++) {
        *p = ngx_tolower(*p);
    }

    return rc;
}


static ngx_int_t
ngx_svc_email_domain(ngx_svc_email_out_t *out, const u_char *domain, size_t len)
{
    size_t      n;
    u_char     *p, *dot, *end;
    uint8_t    *composed, *text;
    ngx_int_t   rc;

    n = 0;
    composed = u8_normalize(UNINORM_NFC, domain, len, NULL, &n);

    if (composed == NULL) {
        return (len == 0) ? NGX_OK : NGX_ERROR;
    }

    /* a letter may become several letters in lower case */

    len = 0;
    text = u8_tolower(composed, n, NULL, UNINORM_NFC, NULL, &len);
    free(composed);

    if (text == NULL) {
        return NGX_ERROR;
    }

    end = text + len;

    for (p = text, rc = NGX_OK; rc == NGX_OK; p = dot + 1) {

        dot = ngx_strlchr(p, end, '.');

        if (dot == NULL) {
            rc = ngx_svc_email_label(out, p, end - p);
            break;
        }

        rc = ngx_svc_email_label(out, p, dot - p);

        if (rc == NGX_OK) {
            rc = ngx_svc_email_put(out, (u_char *) ".", 1);
        }
    }

    free(text);

    return rc;
}


static ngx_int_t
ngx_svc_email_label(ngx_svc_email_out_t *out, const u_char *label, size_t len)
{
    int         rc;
    char       *ascii;
    uint8_t     text[NGX_SVC_EMAIL_KEY];
    ngx_int_t   ok;

    if (ngx_svc_email_ascii_label(label, len)) {
        return ngx_svc_email_put(out, label, len);
    }

    rc = IDN2_DISALLOWED;
    ascii = NULL;

    /* libidn2 leaves ASCII as it is, but for A-labels */

    if (len && len < sizeof(text)
        && (ngx_svc_email_a_label(label, len)
            || ngx_svc_email_ascii(label, len) < len))
    {
        ngx_memcpy(text, label, len);
        text[len] = '\0';

        rc = idn2_lookup_u8(text, (uint8_t **) &ascii,
                            IDN2_NFC_INPUT|IDN2_NO_TR46);
    }

    if (rc == IDN2_OK) {
        ok = ngx_svc_email_put(out, (u_char *) ascii, ngx_strlen(ascii));
        idn2_free(ascii);

        return ok;
    }

    if (rc == IDN2_MALLOC) {
        return NGX_ERROR;
    }

    return out->strict ? NGX_DECLINED : ngx_svc_email_put(out, label, len);
}


/*
 * Returns 1 for letters, digits, hyphens, and underscores, which some hosts
 * have; 0 for an A-label.
 */

static ngx_uint_t
ngx_svc_email_ascii_label(const u_char *label, size_t len)
{
    u_char  c;
    size_t  i;

    if (len == 0 || len > NGX_SVC_EMAIL_LABEL
        || label[0] == '-' || label[len - 1] == '-'
        || ngx_svc_email_a_label(label, len))
    {
        return 0;
    }

    for (i = 0; i < len; i++) {
        c = label[i];

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9')
            && c != '-' && c != '_')
        {
            return 0;
        }
    }

    return 1;
}


static ngx_uint_t
ngx_svc_email_a_label(const u_char *label, size_t len)
{
    return len >= 4 && ngx_strncmp(label, "xn--", 4) == 0;
}


/* Returns how many bytes from the label's beginning are ASCII. */

static size_t
ngx_svc_email_ascii(const u_char *label, size_t len)
{
    size_t  i;

    for (i = 0; i < len && label[i] < 0x80; i++) { /* void */ }

    return i;
}


static ngx_int_t
ngx_svc_email_put(ngx_svc_email_out_t *out, const u_char *data, size_t len)
{
    if ((size_t) (out->end - out->last) <= len) {
        return NGX_ERROR;
    }

    out->last = ngx_cpymem(out->last, data, len);

    return NGX_OK;
}
