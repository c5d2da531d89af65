/*
 * IP addresses and CIDRs.
 */

#ifndef _NGX_SVC_ADDR_H_INCLUDED_
#define _NGX_SVC_ADDR_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_ADDR_TEXT_LEN  (sizeof("ffff:ffff:ffff:ffff:ffff:ffff:"      \
                                       "255.255.255.255") - 1)


/* An address.  ::ffff:a.b.c.d is kept as IPv4. */

typedef struct {
    ngx_uint_t   family;            /* AF_INET or AF_INET6 */
    u_char       bytes[16];         /* network order; AF_INET has 4 of them */
} ngx_svc_addr_t;

typedef struct {
    ngx_svc_addr_t  addr;           /* host bits are zeroed */
    ngx_uint_t      bits;
} ngx_svc_cidr_t;


/*
 * Parses an address strictly: four decimal parts without leading zeros, or the
 * text of RFC 4291; no zone, no port, no brackets.  Returns NGX_OK or
 * NGX_DECLINED.
 */
NGX_SVC_API ngx_int_t ngx_svc_addr_parse(const u_char *text, size_t len,
    ngx_svc_addr_t *addr);

/*
 * Takes the address of a socket.  Returns NGX_OK, or NGX_DECLINED when its
 * family is neither AF_INET nor AF_INET6, such as that of a unix socket.
 */
NGX_SVC_API ngx_int_t ngx_svc_addr_from_sockaddr(struct sockaddr *sa,
    ngx_svc_addr_t *addr);

/*
 * Writes the text of RFC 5952, at most NGX_SVC_ADDR_TEXT_LEN bytes; returns its
 * end.
 */
NGX_SVC_API u_char *ngx_svc_addr_text(u_char *p, const ngx_svc_addr_t *addr);

/*
 * Parses "address/bits", or an address alone, which has 32 or 128 bits.  Host
 * bits are allowed, and masked.  "bits" is decimal, without sign or leading
 * zero.  Returns NGX_OK or NGX_DECLINED.
 */
NGX_SVC_API ngx_int_t ngx_svc_cidr_parse(const u_char *text, size_t len,
    ngx_svc_cidr_t *cidr);

/* Returns 1 if the address is of the same family, and inside the CIDR. */
NGX_SVC_API ngx_uint_t ngx_svc_cidr_contains(const ngx_svc_cidr_t *cidr,
    const ngx_svc_addr_t *addr);

/* Returns 1 for an address in 127.0.0.0/8, and for ::1. */
NGX_SVC_API ngx_uint_t ngx_svc_addr_loopback(const ngx_svc_addr_t *addr);


#endif /* _NGX_SVC_ADDR_H_INCLUDED_ */
