/*
 * Where requests of ours may go.
 */

#include "ngx_svc_outbound_target.h"
#include "ngx_svc_uri.h"


#define NGX_SVC_OUTBOUND_HOST       253 /* RFC 1035, 2.3.4, as text */
#define NGX_SVC_OUTBOUND_DNS_LABEL  63

#define NGX_SVC_OUTBOUND_SCHEME   "https://"


typedef struct {
    ngx_svc_cidr_t           network;
    const char              *kind;      /* NULL: public */
} ngx_svc_outbound_network_t;


/* A URL that is being checked. */

typedef struct {
    const ngx_array_t       *allow;
    const char              *path;
    ngx_svc_error_t         *err;
    ngx_str_t                host;      /* with the brackets of IPv6 */
    ngx_str_t                port;      /* with its colon; or empty */
    unsigned                 ipv6:1;    /* the host begins with a bracket */
    unsigned                 plain:1;   /* "http://" */
} ngx_svc_outbound_url_t;


static ngx_int_t ngx_svc_outbound_url_bytes(ngx_svc_outbound_url_t *u,
    const ngx_str_t *url);
static ngx_int_t ngx_svc_outbound_url_split(ngx_svc_outbound_url_t *u,
    const ngx_str_t *url, ngx_uint_t plain);
static ngx_int_t ngx_svc_outbound_url_scheme(ngx_svc_outbound_url_t *u);
static ngx_int_t ngx_svc_outbound_url_host(ngx_svc_outbound_url_t *u,
    u_char *start, u_char *end);
static ngx_int_t ngx_svc_outbound_url_port(ngx_svc_outbound_url_t *u);
static ngx_int_t ngx_svc_outbound_url_ipv6(ngx_svc_outbound_url_t *u);
static ngx_int_t ngx_svc_outbound_url_name(ngx_svc_outbound_url_t *u);
static ngx_int_t ngx_svc_outbound_url_labels(ngx_svc_outbound_url_t *u,
    ngx_str_t *last);
static ngx_uint_t ngx_svc_outbound_numeric(const ngx_str_t *label);
static ngx_int_t ngx_svc_outbound_url_literal(ngx_svc_outbound_url_t *u,
    const u_char *text, size_t len);


#define ngx_svc_outbound_v4(a, b, c, bits, kind)                              \
    { { { AF_INET, { a, b, c } }, bits }, kind }
#define ngx_svc_outbound_v6(a, b, c, bits, kind)                              \
    { { { AF_INET6, { (a) >> 8, (a) & 0xff, (b) >> 8, (b) & 0xff,             \
                      (c) >> 8, (c) & 0xff } }, bits }, kind }

/*
 * The first network that has the address counts.  They are IANA's special
 * addresses; of IPv6 only what is allocated is public.
 */

static const ngx_svc_outbound_network_t  ngx_svc_outbound_networks[] = {

    ngx_svc_outbound_v4(0, 0, 0, 8, "unspecified"),
    ngx_svc_outbound_v4(10, 0, 0, 8, "private"),
    ngx_svc_outbound_v4(100, 64, 0, 10, "shared"),
    ngx_svc_outbound_v4(127, 0, 0, 8, "loopback"),
    ngx_svc_outbound_v4(169, 254, 0, 16, "link-local"),
    ngx_svc_outbound_v4(172, 16, 0, 12, "private"),
    ngx_svc_outbound_v4(192, 0, 0, 24, "reserved"),
    ngx_svc_outbound_v4(192, 0, 2, 24, "documentation"),
    ngx_svc_outbound_v4(192, 88, 99, 24, "reserved"),
    ngx_svc_outbound_v4(192, 168, 0, 16, "private"),
    ngx_svc_outbound_v4(198, 18, 0, 15, "reserved"),
    ngx_svc_outbound_v4(198, 51, 100, 24, "documentation"),
    ngx_svc_outbound_v4(203, 0, 113, 24, "documentation"),
    ngx_svc_outbound_v4(224, 0, 0, 4, "multicast"),
    ngx_svc_outbound_v4(240, 0, 0, 4, "reserved"),
    ngx_svc_outbound_v4(0, 0, 0, 0, NULL),

    { { { AF_INET6, { 0 } }, 128 }, "unspecified" },
    { { { AF_INET6, { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 } }, 128 },
      "loopback" },
    ngx_svc_outbound_v6(0xfc00, 0, 0, 7, "unique-local"),
    ngx_svc_outbound_v6(0xfe80, 0, 0, 10, "link-local"),
    ngx_svc_outbound_v6(0xff00, 0, 0, 8, "multicast"),
    ngx_svc_outbound_v6(0x0064, 0xff9b, 0, 32, "translated"),
    ngx_svc_outbound_v6(0x2001, 0, 0, 23, "reserved"),
    ngx_svc_outbound_v6(0x2001, 0x0db8, 0, 32, "documentation"),
    ngx_svc_outbound_v6(0x2002, 0, 0, 16, "translated"),
    ngx_svc_outbound_v6(0x3fff, 0, 0, 20, "documentation"),
    ngx_svc_outbound_v6(0x2000, 0, 0, 3, NULL),
    ngx_svc_outbound_v6(0, 0, 0, 0, "reserved")
};


const char *
ngx_svc_outbound_address(const ngx_svc_addr_t *addr, const ngx_array_t *allow)
{
    ngx_uint_t                         i;
    const ngx_svc_cidr_t              *cidr;
    const ngx_svc_outbound_network_t  *network;

    network = ngx_svc_outbound_networks;

    while (!ngx_svc_cidr_contains(&network->network, addr)) {
        network++;
    }

    if (network->kind == NULL) {
        return NULL;
    }

    cidr = allow->elts;

    for (i = 0; i < allow->nelts; i++) {
        if (ngx_svc_cidr_contains(&cidr[i], addr)) {
            return NULL;
        }
    }

    return network->kind;
}


ngx_int_t
ngx_svc_outbound_url(const ngx_str_t *url, const ngx_array_t *allow,
    ngx_uint_t plain, const char *path, ngx_svc_error_t *err)
{
    ngx_svc_outbound_url_t  u;

    ngx_memzero(&u, sizeof(ngx_svc_outbound_url_t));

    u.allow = allow;
    u.path = path;
    u.err = err;

    if (ngx_svc_outbound_url_bytes(&u, url) != NGX_OK
        || ngx_svc_outbound_url_split(&u, url, plain) != NGX_OK
        || ngx_svc_outbound_url_port(&u) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (u.ipv6) {
        return ngx_svc_outbound_url_ipv6(&u);
    }

    return ngx_svc_outbound_url_name(&u);
}


/* Allows only the bytes of RFC 3986 in a URL, and no fragment. */

static ngx_int_t
ngx_svc_outbound_url_bytes(ngx_svc_outbound_url_t *u, const ngx_str_t *url)
{
    size_t  i;

    if (url->len > NGX_SVC_OUTBOUND_URL) {
        return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must have at most %d bytes.", u->path,
                            NGX_SVC_OUTBOUND_URL);
    }

    i = ngx_svc_uri_bytes(url->data, url->len);

    if (i == url->len) {
        return NGX_OK;
    }

    if (url->data[i] == '#') {
        return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must not have a fragment (\"#\").",
                            u->path);
    }

    return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" has a character that no URL has, at byte "
                        "%uz: write it percent-encoded, or in the host as "
                        "Punycode.", u->path, i + 1);
}


static ngx_int_t
ngx_svc_outbound_url_split(ngx_svc_outbound_url_t *u, const ngx_str_t *url,
    ngx_uint_t plain)
{
    u_char     *start, *end, *last;
    ngx_str_t   scheme;

    ngx_str_set(&scheme, NGX_SVC_OUTBOUND_SCHEME);

    if (plain && url->len >= sizeof(NGX_SVC_OUTBOUND_PLAIN) - 1
        && ngx_strncasecmp(url->data, (u_char *) NGX_SVC_OUTBOUND_PLAIN,
                           sizeof(NGX_SVC_OUTBOUND_PLAIN) - 1) == 0)
    {
        u->plain = 1;
        ngx_str_set(&scheme, NGX_SVC_OUTBOUND_PLAIN);
    }

    if (url->len < scheme.len
        || ngx_strncasecmp(url->data, scheme.data, scheme.len) != 0)
    {
        return ngx_svc_outbound_url_scheme(u);
    }

    start = url->data + scheme.len;
    last = url->data + url->len;

    for (end = start; end < last && *end != '/' && *end != '?'; end++) {

        if (*end == '@') {
            return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must not have a user or a password "
                                "(\"@\") before its host.", u->path);
        }
    }

    return ngx_svc_outbound_url_host(u, start, end);
}


static ngx_int_t
ngx_svc_outbound_url_scheme(ngx_svc_outbound_url_t *u)
{
    return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must begin with \"https://\".", u->path);
}


static ngx_int_t
ngx_svc_outbound_url_host(ngx_svc_outbound_url_t *u, u_char *start, u_char *end)
{
    u_char  *p;

    p = start;

    if (p < end && *p == '[') {
        u->ipv6 = 1;

        while (p < end && *p != ']') {
            p++;
        }
    }

    while (p < end && *p != ':') {
        p++;
    }

    u->host.data = start;
    u->host.len = p - start;
    u->port.data = p;
    u->port.len = end - p;

    if (u->host.len == 0) {
        return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must have a host, as "
                            "\"https://hooks.example.com/in\" has.", u->path);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_outbound_url_port(ngx_svc_outbound_url_t *u)
{
    ngx_int_t  n;

    if (u->port.len == 0) {
        return NGX_OK;
    }

    n = ngx_atoi(u->port.data + 1, u->port.len - 1);

    if (n < 1 || n > 65535) {
        return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must have a port from 1 to 65535, or "
                            "none.", u->path);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_outbound_url_ipv6(ngx_svc_outbound_url_t *u)
{
    u_char  *text;
    size_t   len;

    text = u->host.data + 1;
    len = u->host.len - 1;

    /* inet_pton() must not find an IPv4 address in brackets */

    if (len == 0 || text[len - 1] != ']' || memchr(text, ':', len) == NULL) {
        return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must have an IPv6 address in the brackets "
                            "of its host.", u->path);
    }

    return ngx_svc_outbound_url_literal(u, text, len - 1);
}


static ngx_int_t
ngx_svc_outbound_url_name(ngx_svc_outbound_url_t *u)
{
    size_t      i;
    ngx_uint_t  j;
    ngx_str_t   last;

    static const ngx_str_t  names[] = {
        ngx_string("localhost"),
        ngx_string("local")
    };

    if (ngx_svc_outbound_url_labels(u, &last) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (ngx_svc_outbound_numeric(&last)) {
        return ngx_svc_outbound_url_literal(u, u->host.data, u->host.len);
    }

    if (u->plain) {
        return ngx_svc_outbound_url_scheme(u);
    }

    for (j = 0; j < sizeof(names) / sizeof(ngx_str_t); j++) {

        i = names[j].len;

        if (last.len == i && ngx_strncasecmp(last.data, names[j].data, i) == 0)
        {
            return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must have a public host: \"%V\" is "
                                "this machine, or of a local network.",
                                u->path, &u->host);
        }
    }

    return NGX_OK;
}


/* Checks bytes and lengths of a name's labels, and finds the last label. */

static ngx_int_t
ngx_svc_outbound_url_labels(ngx_svc_outbound_url_t *u, ngx_str_t *last)
{
    u_char      *p, *end, c;
    const char  *wrong;

    end = u->host.data + u->host.len;
    last->data = u->host.data;
    last->len = 0;
    wrong = NULL;

    for (p = u->host.data; p <= end && wrong == NULL; p++) {
        c = p < end ? *p : '.';

        if (c == '.') {
            last->len = p - last->data;

            if (last->len == 0 || last->len > NGX_SVC_OUTBOUND_DNS_LABEL) {
                wrong = "no dot at its end, and 1 to 63 characters between two";
            }

            if (p < end) {
                last->data = p + 1;
            }

        } else if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
                   && !(c >= '0' && c <= '9') && c != '-' && c != '_')
        {
            wrong = "nothing but letters, digits, \"-\", \"_\" and dots";
        }
    }

    if (u->host.len > NGX_SVC_OUTBOUND_HOST) {
        wrong = "at most 253 characters";
    }

    if (wrong) {
        return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must have a host with %s.", u->path,
                            wrong);
    }

    return NGX_OK;
}


/*
 * Returns whether the last label is a number.  Parsers of URLs and inet_aton()
 * take such a name for an IPv4 address: in decimal, octal or hexadecimal, or
 * with fewer parts.
 */

static ngx_uint_t
ngx_svc_outbound_numeric(const ngx_str_t *label)
{
    size_t      i;
    u_char      c;
    ngx_uint_t  hex;

    hex = label->len > 1 && label->data[0] == '0'
          && (label->data[1] | 0x20) == 'x';

    for (i = hex ? 2 : 0; i < label->len; i++) {
        c = label->data[i] | 0x20;

        if (!(label->data[i] >= '0' && label->data[i] <= '9')
            && !(hex && c >= 'a' && c <= 'f'))
        {
            return 0;
        }
    }

    return 1;
}


static ngx_int_t
ngx_svc_outbound_url_literal(ngx_svc_outbound_url_t *u, const u_char *text,
    size_t len)
{
    u_char           canonical[NGX_SVC_ADDR_TEXT_LEN], *p;
    const char      *kind;
    ngx_svc_addr_t   addr;

    if (ngx_svc_addr_parse(text, len, &addr) != NGX_OK) {
        return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must have a name as its host, or an "
                            "address such as \"192.0.2.1\" or "
                            "\"[2001:db8::1]\".", u->path);
    }

    kind = ngx_svc_outbound_address(&addr, u->allow);

    if (kind == NULL) {
        return u->plain && !ngx_svc_addr_loopback(&addr)
               ? ngx_svc_outbound_url_scheme(u) : NGX_OK;
    }

    p = ngx_svc_addr_text(canonical, &addr);

    return ngx_svc_fail(u->err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must have a public host: %*s is %s.", u->path,
                        (size_t) (p - canonical), canonical, kind);
}
