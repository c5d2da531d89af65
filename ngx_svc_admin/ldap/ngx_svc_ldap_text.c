/*
 * Texts that go to a directory, and that come from one.
 */

#include "ngx_svc_ldap_text.h"


#define NGX_SVC_LDAP_1601     11644473600   /* s from 1601 to 1970 */
#define NGX_SVC_LDAP_SECOND   10000000      /* of 100 ns */

/* no characters */
#define NGX_SVC_LDAP_CUT      0xfffffffe    /* the text ends within it */
#define NGX_SVC_LDAP_BAD      0xffffffff


static u_char *ngx_svc_ldap_escape_byte(u_char *p, u_char c);
static u_char *ngx_svc_ldap_value(u_char *p, const ngx_str_t *value);
static uint32_t ngx_svc_ldap_character(u_char **p, u_char *end);


u_char *
ngx_svc_ldap_escape(u_char *p, const ngx_str_t *value)
{
    size_t  i;
    u_char  c;

    for (i = 0; i < value->len; i++) {
        c = value->data[i];

        if (c < ' ' || c >= 0x7f || c == '(' || c == ')' || c == '*'
            || c == '\\')
        {
            p = ngx_svc_ldap_escape_byte(p, c);

        } else {
            *p++ = c;
        }
    }

    return p;
}


u_char *
ngx_svc_ldap_escape_all(u_char *p, const ngx_str_t *value)
{
    size_t  i;

    for (i = 0; i < value->len; i++) {
        p = ngx_svc_ldap_escape_byte(p, value->data[i]);
    }

    return p;
}


static u_char *
ngx_svc_ldap_escape_byte(u_char *p, u_char c)
{
    *p++ = '\\';

    return ngx_hex_dump(p, &c, 1);
}


/* What is filled in is not looked at again: an address may have a mark. */

char *
ngx_svc_ldap_filter_fill(ngx_pool_t *pool, const ngx_str_t *filter,
    const ngx_str_t *email)
{
    size_t      size;
    u_char     *p, *start, *in, *end, *at;
    ngx_str_t   local;

    static const ngx_str_t  whole_mark = ngx_string("{email}");
    static const ngx_str_t  local_mark = ngx_string("{local}");

    size = email ? 3 * email->len : 1;

    start = ngx_pnalloc(pool, filter->len + 1
                              + filter->len / whole_mark.len * size);
    if (start == NULL) {
        return NULL;
    }

    ngx_str_null(&local);

    if (email) {
        for (at = email->data + email->len; at > email->data; at--) {
            if (at[-1] == '@') {
                break;
            }
        }

        local.data = email->data;
        local.len = at > email->data ? (size_t) (at - 1 - email->data)
                                     : email->len;
    }

    p = start;
    in = filter->data;
    end = filter->data + filter->len;

    while (in < end) {

        if ((size_t) (end - in) >= whole_mark.len
            && ngx_memcmp(in, whole_mark.data, whole_mark.len) == 0)
        {
            p = ngx_svc_ldap_value(p, email);
            in += whole_mark.len;

        } else if ((size_t) (end - in) >= local_mark.len
                   && ngx_memcmp(in, local_mark.data, local_mark.len) == 0)
        {
            p = ngx_svc_ldap_value(p, email ? &local : NULL);
            in += local_mark.len;

        } else {
            *p++ = *in++;
        }
    }

    *p = '\0';

    return (char *) start;
}


static u_char *
ngx_svc_ldap_value(u_char *p, const ngx_str_t *value)
{
    if (value) {
        return ngx_svc_ldap_escape(p, value);
    }

    *p++ = '*';

    return p;
}


ngx_uint_t
ngx_svc_ldap_ad_code(const char *message)
{
    size_t       n;
    ngx_int_t    code;
    const char  *p;

    if (message == NULL) {
        return 0;
    }

    p = ngx_strstr(message, "data ");
    if (p == NULL) {
        return 0;
    }

    p += sizeof("data ") - 1;

    for (n = 0; n < 8 && isxdigit((u_char) p[n]); n++) { /* void */ }

    code = n ? ngx_hextoi((u_char *) p, n) : 0;

    return ngx_max(code, 0);
}


const char *
ngx_svc_ldap_ad_reason(ngx_uint_t code)
{
    switch (code) {

    case 0x525:
        return "there is no such user";

    case 0x52e:
        return "the password is wrong";

    case 0x530:
        return "the user may not sign in at this time";

    case 0x531:
        return "the user may not sign in from here";

    case 0x532:
        return "the password has expired";

    case 0x533:
        return "the account is disabled";

    case 0x701:
        return "the account has expired";

    case 0x773:
        return "the user must change the password first";

    case 0x775:
        return "the account is locked";

    default:
        return NULL;
    }
}


ngx_uint_t
ngx_svc_ldap_ad_expired(const ngx_str_t *value, time_t now)
{
    ngx_int_t  n;

    /* what ngx_atoi() does not take is none, or is larger than "never" */

    n = ngx_atoi(value->data, value->len);

    if (n <= 0 || n == NGX_MAX_INT_T_VALUE) {
        return 0;
    }

    return n / NGX_SVC_LDAP_SECOND - NGX_SVC_LDAP_1601 <= now;
}


ngx_uint_t
ngx_svc_ldap_range(const char *part)
{
    ngx_int_t    first, last;
    const char  *to;

    to = ngx_strchr(part, '-');
    if (to == NULL) {
        return 0;
    }

    first = ngx_atoi((u_char *) part, to - part);
    last = ngx_atoi((u_char *) to + 1, ngx_strlen(to + 1));

    return first != NGX_ERROR && last >= first && last < NGX_MAX_INT32_VALUE
           ? (ngx_uint_t) last + 1 : 0;
}


ngx_int_t
ngx_svc_ldap_sid_group(ngx_str_t *sid, const ngx_str_t *group)
{
    u_char     *p;
    ngx_int_t   n;

    n = ngx_atoi(group->data, group->len);

    if (n < 0 || n > 0xffffffff || sid->len < NGX_SVC_LDAP_SID_MIN
        || sid->len > NGX_SVC_LDAP_SID_MAX || sid->len % 4)
    {
        return NGX_DECLINED;
    }

    p = sid->data + sid->len - 4;

    *p++ = n & 0xff;
    *p++ = (n >> 8) & 0xff;
    *p++ = (n >> 16) & 0xff;
    *p = (n >> 24) & 0xff;

    return NGX_OK;
}


u_char *
ngx_svc_ldap_show(u_char *text, u_char *end)
{
    u_char    *p, *next;
    uint32_t   c;

    for (p = text; p < end; p = next) {
        next = p;
        c = ngx_svc_ldap_character(&next, end);

        if (c == NGX_SVC_LDAP_CUT) {
            return p;
        }

        if (c == NGX_SVC_LDAP_BAD || c < ' ' || (c >= 0x7f && c < 0xa0)) {
            ngx_memset(p, '?', next - p);
        }
    }

    return end;
}


ngx_uint_t
ngx_svc_ldap_is_text(const ngx_str_t *value)
{
    u_char    *p, *end;
    uint32_t   c;

    p = value->data;
    end = value->data + value->len;

    while (p < end) {
        c = ngx_svc_ldap_character(&p, end);

        if (c < ' ' || c >= NGX_SVC_LDAP_CUT) {
            return 0;
        }
    }

    return 1;
}


/* Reads a character of UTF-8, and goes behind it. */

static uint32_t
ngx_svc_ldap_character(u_char **p, u_char *end)
{
    u_char    *start, *rest;
    uint32_t   c;

    start = *p;

    if (*start < 0x80) {
        return *(*p)++;
    }

    c = ngx_utf8_decode(p, end - start);

    if (c == 0xfffffffe && *start < 0xf5) {

        for (rest = start + 1; rest < end; rest++) {
            if ((*rest & 0xc0) != 0x80) {
                break;
            }
        }

        if (rest == end) {
            return NGX_SVC_LDAP_CUT;
        }
    }

    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        *p = start + 1;
        return NGX_SVC_LDAP_BAD;
    }

    return c;
}
