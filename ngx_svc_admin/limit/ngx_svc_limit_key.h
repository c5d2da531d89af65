/*
 * The keys that are counted: a client's network, an e-mail address or a tenant,
 * in a family of routes; and the key of a locked account.
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
    NGX_SVC_LIMIT_LINK,                 /* links that administrators send */
    NGX_SVC_LIMIT_DOMAIN,               /* verifying a tenant's domains */
    NGX_SVC_LIMIT_DIRECTORY,            /* testing a tenant's directory */
    NGX_SVC_LIMIT_CONNECTION,           /* testing its other connections */
    NGX_SVC_LIMIT_FAMILIES,
    NGX_SVC_LIMIT_LOCK = NGX_SVC_LIMIT_FAMILIES     /* in keys alone */
} ngx_svc_limit_family_e;


/* Has no padding: it is compared as bytes. */

typedef struct {
    u_char   family;                    /* ngx_svc_limit_family_e */
    u_char   kind;                      /* private */
    u_char   bytes[16];
} ngx_svc_limit_key_t;


/* Makes the key of an IPv4 address, or of the /64 of an IPv6 address. */
void ngx_svc_limit_key_addr(ngx_svc_limit_key_t *key,
    ngx_svc_limit_family_e family, const ngx_svc_addr_t *addr);

/* Makes the key of an e-mail address, or of a locked account. */
void ngx_svc_limit_key_mac(ngx_svc_limit_key_t *key,
    ngx_svc_limit_family_e family, const u_char mac[NGX_SVC_LIMIT_MAC_LEN]);

/* Makes the key of a tenant, by its id. */
void ngx_svc_limit_key_tenant(ngx_svc_limit_key_t *key,
    ngx_svc_limit_family_e family, const u_char tenant[NGX_SVC_UUID_LEN]);

/*
 * Writes a key's name in Redis: "svc.rate.l.i.192.0.2.1",
 * "svc.rate.s.i.2001:db8::", "svc.rate.l.e.", "svc.rate.d.t." or "svc.lock."
 * and 32 hexadecimal digits.  p has room for NGX_SVC_LIMIT_KEY_TEXT bytes;
 * returns the end.
 */
u_char *ngx_svc_limit_key_text(u_char *p, const ngx_svc_limit_key_t *key);


#endif /* _NGX_SVC_LIMIT_KEY_H_INCLUDED_ */
