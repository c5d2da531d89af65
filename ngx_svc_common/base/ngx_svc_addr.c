/*
 * IP addresses and CIDRs.
 */

#include "ngx_svc_addr.h"


#define NGX_SVC_ADDR_MAPPED_BITS  96

#define ngx_svc_addr_bits(addr)  ((addr)->family == AF_INET ? 32 : 128)


static ngx_int_t ngx_svc_addr_pton(const u_char *text, size_t len,
    ngx_svc_addr_t *addr);
static void ngx_svc_addr_unmap(ngx_svc_addr_t *addr);
static u_char *ngx_svc_addr_text6(u_char *p, const u_char *bytes);
static ngx_int_t ngx_svc_cidr_bits(const u_char *text, size_t len,
    ngx_uint_t *bits);


ngx_int_t
ngx_svc_addr_parse(const u_char *text, size_t len, ngx_svc_addr_t *addr)
{
    if (ngx_svc_addr_pton(text, len, addr) != NGX_OK) {
        return NGX_DECLINED;
    }

    ngx_svc_addr_unmap(addr);

    return NGX_OK;
}


ngx_int_t
ngx_svc_addr_from_sockaddr(struct sockaddr *sa, ngx_svc_addr_t *addr)
{
    ngx_memzero(addr, sizeof(ngx_svc_addr_t));

    switch (sa->sa_family) {

    case AF_INET:
        addr->family = AF_INET;
        ngx_memcpy(addr->bytes, &((struct sockaddr_in *) sa)->sin_addr, 4);
        return NGX_OK;

    case AF_INET6:
        addr->family = AF_INET6;
        ngx_memcpy(addr->bytes, &((struct sockaddr_in6 *) sa)->sin6_addr, 16);
        ngx_svc_addr_unmap(addr);
        return NGX_OK;

    default:
        return NGX_DECLINED;
    }
}


u_char *
ngx_svc_addr_text(u_char *p, const ngx_svc_addr_t *addr)
{
    if (addr->family == AF_INET6) {
        return ngx_svc_addr_text6(p, addr->bytes);
    }

    return ngx_sprintf(p, "%ud.%ud.%ud.%ud",
                       (unsigned) addr->bytes[0], (unsigned) addr->bytes[1],
                       (unsigned) addr->bytes[2], (unsigned) addr->bytes[3]);
}


ngx_int_t
ngx_svc_cidr_parse(const u_char *text, size_t len, ngx_svc_cidr_t *cidr)
{
    ngx_uint_t     i, bits;
    ngx_uint_t     family;
    const u_char  *slash;

    slash = len ? memchr(text, '/', len) : NULL;

    if (ngx_svc_addr_pton(text, slash ? (size_t) (slash - text) : len,
                          &cidr->addr)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    bits = ngx_svc_addr_bits(&cidr->addr);

    if (slash && ngx_svc_cidr_bits(slash + 1, text + len - slash - 1, &bits)
                 != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (bits > (ngx_uint_t) ngx_svc_addr_bits(&cidr->addr)) {
        return NGX_DECLINED;
    }

    family = cidr->addr.family;
    ngx_svc_addr_unmap(&cidr->addr);

    if (cidr->addr.family != family) {

        /* a shorter prefix has more addresses than the mapped ones */

        if (bits < NGX_SVC_ADDR_MAPPED_BITS) {
            return NGX_DECLINED;
        }

        bits -= NGX_SVC_ADDR_MAPPED_BITS;
    }

    cidr->bits = bits;

    i = bits / 8;

    if (bits % 8) {
        cidr->addr.bytes[i++] &= (u_char) (0xff00 >> (bits % 8));
    }

    ngx_memzero(cidr->addr.bytes + i, sizeof(cidr->addr.bytes) - i);

    return NGX_OK;
}


ngx_uint_t
ngx_svc_cidr_contains(const ngx_svc_cidr_t *cidr, const ngx_svc_addr_t *addr)
{
    u_char      mask;
    ngx_uint_t  n;

    if (cidr->addr.family != addr->family) {
        return 0;
    }

    n = cidr->bits / 8;

    if (ngx_memcmp(cidr->addr.bytes, addr->bytes, n) != 0) {
        return 0;
    }

    if (cidr->bits % 8 == 0) {
        return 1;
    }

    mask = (u_char) (0xff00 >> (cidr->bits % 8));

    return (addr->bytes[n] & mask) == cidr->addr.bytes[n];
}


/*
 * inet_pton() of glibc and musl is as strict as we need.  It reads up to a NUL,
 * so a NUL inside the text is declined before.
 */

static ngx_int_t
ngx_svc_addr_pton(const u_char *text, size_t len, ngx_svc_addr_t *addr)
{
    char  buf[NGX_SVC_ADDR_TEXT_LEN + 1];

    if (len == 0
        || len > NGX_SVC_ADDR_TEXT_LEN
        || memchr(text, '\0', len) != NULL)
    {
        return NGX_DECLINED;
    }

    ngx_memcpy(buf, text, len);
    buf[len] = '\0';

    ngx_memzero(addr, sizeof(ngx_svc_addr_t));

    addr->family = memchr(text, ':', len) ? AF_INET6 : AF_INET;

    if (inet_pton(addr->family, buf, addr->bytes) != 1) {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static void
ngx_svc_addr_unmap(ngx_svc_addr_t *addr)
{
    static const u_char  prefix[12] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff
    };

    if (addr->family != AF_INET6
        || ngx_memcmp(addr->bytes, prefix, sizeof(prefix)) != 0)
    {
        return;
    }

    addr->family = AF_INET;
    ngx_memmove(addr->bytes, addr->bytes + sizeof(prefix), 4);
    ngx_memzero(addr->bytes + 4, sizeof(addr->bytes) - 4);
}


/*
 * Shortens the first of the longest runs of two or more zero groups (RFC 5952,
 * 4).
 */

static u_char *
ngx_svc_addr_text6(u_char *p, const u_char *bytes)
{
    ngx_uint_t  i, groups[8], run, best, best_len;

    best = 8;
    best_len = 1;
    run = 0;

    for (i = 0; i < 8; i++) {
        groups[i] = (bytes[2 * i] << 8) | bytes[2 * i + 1];

        run = groups[i] ? 0 : run + 1;

        if (run > best_len) {
            best_len = run;
            best = i + 1 - run;
        }
    }

    for (i = 0; i < 8; i++) {

        if (i == best) {
            *p++ = ':';
            *p++ = ':';
            i += best_len - 1;
            continue;
        }

        if (i > 0 && p[-1] != ':') {
            *p++ = ':';
        }

        p = ngx_sprintf(p, "%xi", groups[i]);
    }

    return p;
}


static ngx_int_t
ngx_svc_cidr_bits(const u_char *text, size_t len, ngx_uint_t *bits)
{
    size_t      i;
    ngx_uint_t  n;

    if (len == 0 || len > 3 || (text[0] == '0' && len > 1)) {
        return NGX_DECLINED;
    }

    n = 0;

    for (i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return NGX_DECLINED;
        }

        n = n * 10 + (text[i] - '0');
    }

    *bits = n;

    return NGX_OK;
}


ngx_uint_t
ngx_svc_addr_loopback(const ngx_svc_addr_t *addr)
{
    static const u_char  ipv6[16] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
    };

    return addr->family == AF_INET
           ? addr->bytes[0] == 127
           : ngx_memcmp(addr->bytes, ipv6, sizeof(ipv6)) == 0;
}
