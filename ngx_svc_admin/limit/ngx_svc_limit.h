/*
 * How often a client, and an e-mail address, may try to sign in or up, and a
 * tenant to have a domain verified: fixed windows, which all nodes share in
 * Redis.  While it does not answer each node counts for itself, in memory.
 */

#ifndef _NGX_SVC_LIMIT_H_INCLUDED_
#define _NGX_SVC_LIMIT_H_INCLUDED_


#include "ngx_svc_limit_key.h"
#include "ngx_svc_setting.h"


#define NGX_SVC_LIMIT_SECRET_LEN  32


typedef struct ngx_svc_limit_s       ngx_svc_limit_t;
typedef struct ngx_svc_limit_call_s  ngx_svc_limit_call_t;


typedef enum {
    NGX_SVC_LIMIT_IP = 0,
    NGX_SVC_LIMIT_EMAIL,
    NGX_SVC_LIMIT_TENANT,
    NGX_SVC_LIMIT_KINDS
} ngx_svc_limit_kind_e;

typedef enum {
    NGX_SVC_LIMIT_ADMITTED = 0,
    NGX_SVC_LIMIT_LIMITED,              /* 429 rate_limited */
    NGX_SVC_LIMIT_LOCKED                /* 429 account_locked */
} ngx_svc_limit_verdict_e;

typedef enum {
    NGX_SVC_LIMIT_NOWHERE = 0,          /* nothing was counted */
    NGX_SVC_LIMIT_REDIS,
    NGX_SVC_LIMIT_MEMORY
} ngx_svc_limit_store_e;


/* What is counted of one request. */

typedef struct {
    ngx_svc_limit_key_t       key;
    ngx_svc_limit_kind_e      kind;
    ngx_uint_t                max;
    ngx_msec_t                window;   /* in Redis: ms that it had left; in
                                           memory: when it ends */
} ngx_svc_limit_counter_t;


/*
 * A check of one request, from its pool.  All zeros at first; the caller sets
 * the first part.  It may be checked again once it is answered.
 */

struct ngx_svc_limit_s {
    ngx_svc_limit_family_e    family;
    struct sockaddr          *sockaddr; /* the client's; one that is no IP
                                           address is not counted */
    const u_char             *mac;      /* ngx_svc_limit_email(); NULL: the
                                           request names no address */
    const u_char             *tenant;   /* its id; alone is counted; or NULL */
    void                    (*handler)(ngx_svc_limit_t *limit);
    void                     *data;

    /* the answer */

    ngx_svc_limit_verdict_e   verdict;
    ngx_svc_limit_store_e     store;
    ngx_msec_t                left;     /* at least 1; of Retry-After */
    ngx_svc_limit_kind_e      kind;     /* what is over, unless admitted */
    ngx_uint_t                max;      /* its limit */
    ngx_uint_t                window;   /* s, its whole length */
    unsigned                  first_over:1; /* of its window: to be audited */

    /* private */

    ngx_svc_limit_call_t     *call;
    ngx_uint_t                hits;     /* that a clearing gives back */
    ngx_uint_t                n;
    ngx_svc_limit_counter_t   counters[NGX_SVC_LIMIT_KINDS];
};


/* As metrics and the audit log have them: "login", "ip" ... */
extern ngx_str_t  ngx_svc_limit_families[NGX_SVC_LIMIT_FAMILIES];
extern ngx_str_t  ngx_svc_limit_kinds[NGX_SVC_LIMIT_KINDS];


/*
 * At a worker's start: the zone of ngx_svc_limit_zone(), and a secret of which
 * the e-mail addresses' MACs are made, the same on all nodes; it is copied;
 * NULL where nobody signs in.  At its end the secret is wiped.
 */
void ngx_svc_limit_init_worker(ngx_shm_zone_t *zone,
    const u_char secret[NGX_SVC_LIMIT_SECRET_LEN]);
void ngx_svc_limit_exit_worker(void);

/*
 * The MAC under which an address is counted and locked: 16 bytes of HMAC-SHA256
 * of it with ASCII's letters in lower case; the caller has checked the address,
 * of NGX_SVC_EMAIL_MAX bytes at most.  NGX_OK, or NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_limit_email(const ngx_str_t *email,
    u_char mac[NGX_SVC_LIMIT_MAC_LEN]);

/*
 * Counts the request, by the IP address and then by the e-mail address, or by
 * the tenant; over the first one's limit the second one is not counted.
 * NGX_OK: the answer is in limit.  NGX_AGAIN: it will be, and then the handler
 * is called, once, from an event of its own, unless the pool is destroyed
 * before, or ngx_svc_limit_cancel() is called.  NGX_ERROR: memory, nothing is
 * counted.
 *
 * sockaddr, mac and tenant need not live longer than the call.
 */
ngx_int_t ngx_svc_limit_check(ngx_svc_limit_t *limit, ngx_pool_t *pool);

/* What was counted stays so.  Does nothing to one that is answered. */
void ngx_svc_limit_cancel(ngx_svc_limit_t *limit);

/*
 * Of a sign-in that was admitted, and is complete: takes its own hits back,
 * where they were counted.  Does nothing the second time.
 */
void ngx_svc_limit_give_back(ngx_svc_limit_t *limit);

/*
 * Of such a sign-in: takes back a hit of one of its requests, age ms ago at
 * least, with limit as it was set for that one's check, or zeros.  It is taken
 * where hits are counted now, and of no window that has begun since.
 */
void ngx_svc_limit_give_back_old(ngx_svc_limit_t *limit, ngx_msec_t age);

/*
 * For so many ms a login of the address limit->mac that is over its limit is
 * told that the account is locked.  NGX_OK: there is nothing to wait for.
 * NGX_AGAIN, NGX_ERROR and the handler as of a check.
 */
ngx_int_t ngx_svc_limit_lock(ngx_svc_limit_t *limit, ngx_pool_t *pool,
    ngx_msec_t ms);

/*
 * The lock of limit->mac goes, and of the address's logins as many hits as a
 * tenant has seen fail: what others have seen stays, so that a tenant of one's
 * own gives no more tries at theirs.  In memory that is of this node alone.
 * Returns what a lock does.
 */
ngx_int_t ngx_svc_limit_clear(ngx_svc_limit_t *limit, ngx_pool_t *pool,
    ngx_uint_t hits);


#endif /* _NGX_SVC_LIMIT_H_INCLUDED_ */
