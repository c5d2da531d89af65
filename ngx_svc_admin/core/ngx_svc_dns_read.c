/*
 * What DNS has answered.
 */

#include "ngx_svc_dns_read.h"


static ngx_svc_addr_t *ngx_svc_dns_addr(ngx_svc_dns_t *dns, ngx_uint_t family);
static int ngx_svc_dns_records(ngx_svc_dns_t *dns, struct ares_txt_ext *txt);
static ngx_int_t ngx_svc_dns_join(ngx_svc_dns_t *dns, ngx_str_t *record,
    struct ares_txt_ext *txt);


int
ngx_svc_dns_read_txt(ngx_svc_dns_t *dns, const unsigned char *abuf, int alen)
{
    int                   status;
    struct ares_txt_ext  *txt;

    txt = NULL;
    status = ares_parse_txt_reply_ext(abuf, alen, &txt);

    if (status == ARES_SUCCESS) {
        status = ngx_svc_dns_records(dns, txt);
    }

    if (txt) {
        ares_free_data(txt);
    }

    return status;
}


int
ngx_svc_dns_read_a(ngx_svc_dns_t *dns, const unsigned char *abuf, int alen)
{
    int                  i, n, status;
    ngx_svc_addr_t      *addr;
    struct ares_addrttl  found[NGX_SVC_DNS_RECORDS];

    n = NGX_SVC_DNS_RECORDS;
    status = ares_parse_a_reply(abuf, alen, NULL, found, &n);

    for (i = 0; status == ARES_SUCCESS && i < n; i++) {

        addr = ngx_svc_dns_addr(dns, AF_INET);
        if (addr == NULL) {
            return ARES_ENOMEM;
        }

        ngx_memcpy(addr->bytes, &found[i].ipaddr, sizeof(found[i].ipaddr));
    }

    return status == ARES_SUCCESS && n == 0 ? ARES_ENODATA : status;
}


/* ::ffff:a.b.c.d is an address of IPv4, as everywhere. */

int
ngx_svc_dns_read_aaaa(ngx_svc_dns_t *dns, const unsigned char *abuf, int alen)
{
    int                   i, n, status;
    ngx_svc_addr_t       *addr;
    struct sockaddr_in6   sin6;
    struct ares_addr6ttl  found[NGX_SVC_DNS_RECORDS];

    n = NGX_SVC_DNS_RECORDS;
    status = ares_parse_aaaa_reply(abuf, alen, NULL, found, &n);

    ngx_memzero(&sin6, sizeof(struct sockaddr_in6));
    sin6.sin6_family = AF_INET6;

    for (i = 0; status == ARES_SUCCESS && i < n; i++) {

        addr = ngx_svc_dns_addr(dns, AF_INET6);
        if (addr == NULL) {
            return ARES_ENOMEM;
        }

        ngx_memcpy(&sin6.sin6_addr, &found[i].ip6addr, 16);
        (void) ngx_svc_addr_from_sockaddr((struct sockaddr *) &sin6, addr);
    }

    return status == ARES_SUCCESS && n == 0 ? ARES_ENODATA : status;
}


/* Returns the place of one more address; those of IPv4 go before the others. */

static ngx_svc_addr_t *
ngx_svc_dns_addr(ngx_svc_dns_t *dns, ngx_uint_t family)
{
    ngx_uint_t       i;
    ngx_svc_addr_t  *addr;

    if (dns->addrs == NULL) {
        dns->addrs = ngx_palloc(dns->pool, NGX_SVC_DNS_TYPES
                                           * NGX_SVC_DNS_RECORDS
                                           * sizeof(ngx_svc_addr_t));
        if (dns->addrs == NULL) {
            return NULL;
        }
    }

    i = dns->naddrs++;

    if (family == AF_INET) {

        while (i && dns->addrs[i - 1].family != AF_INET) {
            dns->addrs[i] = dns->addrs[i - 1];
            i--;
        }
    }

    addr = &dns->addrs[i];
    addr->family = family;

    return addr;
}


static int
ngx_svc_dns_records(ngx_svc_dns_t *dns, struct ares_txt_ext *txt)
{
    ngx_uint_t            n;
    struct ares_txt_ext  *t;

    for (n = 0, t = txt; t; t = t->next) {
        n += t->record_start ? 1 : 0;
    }

    if (n == 0) {
        return ARES_ENODATA;
    }

    n = ngx_min(n, NGX_SVC_DNS_RECORDS);

    dns->records = ngx_palloc(dns->pool, n * sizeof(ngx_str_t));
    if (dns->records == NULL) {
        return ARES_ENOMEM;
    }

    for (t = txt; t && dns->nrecords < n; t = t->next) {

        if (!t->record_start) {
            continue;
        }

        if (ngx_svc_dns_join(dns, &dns->records[dns->nrecords], t) != NGX_OK) {
            return ARES_ENOMEM;
        }

        dns->nrecords++;
    }

    return ARES_SUCCESS;
}


/* Joins the strings with nothing between them, as RFC 7208, 3.3, does. */

static ngx_int_t
ngx_svc_dns_join(ngx_svc_dns_t *dns, ngx_str_t *record,
    struct ares_txt_ext *txt)
{
    u_char               *p;
    struct ares_txt_ext  *t;

    record->len = txt->length;

    for (t = txt->next; t && !t->record_start; t = t->next) {
        record->len += t->length;
    }

    p = ngx_pnalloc(dns->pool, ngx_max(record->len, 1));
    if (p == NULL) {
        return NGX_ERROR;
    }

    record->data = p;
    p = ngx_cpymem(p, txt->txt, txt->length);

    for (t = txt->next; t && !t->record_start; t = t->next) {
        p = ngx_cpymem(p, t->txt, t->length);
    }

    return NGX_OK;
}
