/*
 * What is counted: a client's network, an e-mail address or a tenant, of a
 * family of routes; and an account that is locked.
 */

#ifndef _NGX_SVC_LIMIT_KEY_H_INCLUDED_
#define _NGX_SVC_LIMIT_KEY_H_INCLUDED_


#include "ngx_svc_addr.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_email.h"


#define NGX_SVC_LIMIT_MAC_LEN   16
#define NGX_SVC_LIMIT_KEY_TEXT  64      /* bytes, at most */


typedef enum {
    NGX_SVC_LIMIT_LOGIN = 0,
    NGX_SVC_LIMIT_SIGNUP,
    NGX_SVC_LIMIT_DOMAIN,               /* the verifying of a tenant's */
    NGX_SVC_LIMIT_FAMILIES,
    NGX_SVC_LIMIT_LOCK = NGX_SVC_LIMIT_FAMILIES     /* of a key alone */
} ngx_svc_limit_family_e;


/* Without padding, compared as bytes. */

typedef struct {
    u_char   family;                    /* ngx_svc_limit_family_e */
    u_char   kind;                      /* private */
    u_char   bytes[16];
} ngx_svc_limit_key_t;


/* IPv4: the address, IPv6: its /64. */
void ngx_svc_limit_key_addr(ngx_svc_limit_key_t *key,
    ngx_svc_limit_family_e family, const ngx_svc_addr_t *addr);

/* An e-mail address, or an account that is locked. */
void ngx_svc_limit_key_mac(ngx_svc_limit_key_t *key,
    ngx_svc_limit_family_e family, const u_char mac[NGX_SVC_LIMIT_MAC_LEN]);

/* A tenant, by its id. */
void ngx_svc_limit_key_tenant(ngx_svc_limit_key_t *key,
    ngx_svc_limit_family_e family, const u_char tenant[NGX_SVC_UUID_LEN]);

/*
 * Its name in Redis: "svc.rate.l.i.192.0.2.1", "svc.rate.s.i.2001:db8::",
 * "svc.rate.l.e.", "svc.rate.d.t." or "svc.lock." and 32 hexadecimal digits.  p
 * has room for NGX_SVC_LIMIT_KEY_TEXT bytes; returns the end.
 */
u_char *ngx_svc_limit_key_text(u_char *p, const ngx_svc_limit_key_t *key);


#endif /* _NGX_SVC_LIMIT_KEY_H_INCLUDED_ */
