/*
 * The claims about a user that we know (OpenID Connect Core 1.0, 5.1): each is
 * a bit, by its place in one table.
 */

#ifndef _NGX_SVC_OAUTH_CLAIM_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLAIM_H_INCLUDED_


#include "ngx_svc_common.h"


/* The bits of those claims that the code names. */

#define NGX_SVC_OAUTH_CLAIM_SUB        0x01
#define NGX_SVC_OAUTH_CLAIM_GROUPS     0x02
#define NGX_SVC_OAUTH_CLAIM_ROLES      0x04
#define NGX_SVC_OAUTH_CLAIM_AUTH_TIME  0x08
#define NGX_SVC_OAUTH_CLAIM_ACR        0x10
#define NGX_SVC_OAUTH_CLAIM_NAME       0x20


typedef enum {
    NGX_SVC_OAUTH_CLAIM_TEXT = 0,
    NGX_SVC_OAUTH_CLAIM_SECONDS,    /* without the fraction of a column */
    NGX_SVC_OAUTH_CLAIM_BOOLEAN,
    NGX_SVC_OAUTH_CLAIM_LIST
} ngx_svc_oauth_claim_e;

typedef struct {
    ngx_str_t               name;       /* also its column's */
    ngx_str_t               scope;      /* that it belongs to */
    ngx_svc_oauth_claim_e   kind;
    ngx_uint_t              asked;      /* 1: given only if it is asked for */
} ngx_svc_oauth_claim_t;


#define NGX_SVC_OAUTH_CLAIMS_N  12

extern const ngx_svc_oauth_claim_t
    ngx_svc_oauth_claim_table[NGX_SVC_OAUTH_CLAIMS_N];

/* Returns the bit of the claim with this name; 0: there is none. */
ngx_uint_t ngx_svc_oauth_claim(const ngx_str_t *name);


#endif /* _NGX_SVC_OAUTH_CLAIM_H_INCLUDED_ */
