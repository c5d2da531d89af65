/*
 * How often a client, and an e-mail address, may try to sign in or up, an
 * address may get links that administrators send, and a tenant may have a
 * domain verified, or a connection tested: fixed windows, which all nodes share
 * in Redis.  While Redis does not answer each node counts for itself, in
 * memory.
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


/* A counter to which a request adds a hit. */

typedef struct {
    ngx_svc_limit_key_t       key;
    ngx_svc_limit_kind_e      kind;
    ngx_uint_t                max;
    ngx_msec_t                window;   /* in Redis: ms left of it; in
                                           memory: its end */
} ngx_svc_limit_counter_t;


/*
 * A check of one request, allocated from the request's pool.  All zeros at
 * first; the caller sets the first part.  It may be checked again once it is
 * answered.
 */

struct ngx_svc_limit_s {
    ngx_svc_limit_family_e    family;
    struct sockaddr          *sockaddr; /* the client's; if it is no IP
                                           address it is not counted */
    const u_char             *mac;      /* ngx_svc_limit_email(); NULL: the
                                           request names no address */
    const u_char             *tenant;   /* its id, counted alone; or NULL */
    void                    (*handler)(ngx_svc_limit_t *limit);
    void                     *data;

    /* the answer */

    ngx_svc_limit_verdict_e   verdict;
    ngx_svc_limit_store_e     store;
    ngx_msec_t                left;     /* ms, at least 1: Retry-After */
    ngx_svc_limit_kind_e      kind;     /* over its limit, unless admitted */
    ngx_uint_t                max;      /* the limit of that kind */
    ngx_uint_t                window;   /* s, the window's whole length */
    unsigned                  first_over:1; /* 1: to be audited */

    /* private */

    ngx_svc_limit_call_t     *call;
    ngx_uint_t                hits;     /* to be taken back by a clearing */
    ngx_uint_t                n;
    ngx_svc_limit_counter_t   counters[NGX_SVC_LIMIT_KINDS];
};


/* Names in metrics and in the audit log: "login", "ip" ... */
extern ngx_str_t  ngx_svc_limit_families[NGX_SVC_LIMIT_FAMILIES];
extern ngx_str_t  ngx_svc_limit_kinds[NGX_SVC_LIMIT_KINDS];


/*
 * Called at a worker's start with the zone of ngx_svc_limit_zone(), and the
 * secret for the MACs of e-mail addresses, the same on all nodes, which is
 * copied; NULL if no location has sign-in.
 */
void ngx_svc_limit_init_worker(ngx_shm_zone_t *zone,
    const u_char secret[NGX_SVC_LIMIT_SECRET_LEN]);

/* Called at a worker's end: wipes the secret. */
void ngx_svc_limit_exit_worker(void);

/*
 * Makes the MAC under which an address is counted and locked: 16 bytes of
 * HMAC-SHA256 of the address with its ASCII letters in lower case.  The caller
 * has checked the address; it has NGX_SVC_EMAIL_MAX bytes at most.  Returns
 * NGX_OK, or NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_limit_email(const ngx_str_t *email,
    u_char mac[NGX_SVC_LIMIT_MAC_LEN]);

/*
 * Counts a request, by the IP address and then by the e-mail address, or by the
 * tenant; over the IP address's limit the e-mail address is not counted.
 * Returns NGX_OK: the answer is in limit; NGX_AGAIN: the handler will be called
 * with the answer, once, from an event of its own, unless the pool is destroyed
 * before, or ngx_svc_limit_cancel() is called; NGX_ERROR: no memory, nothing is
 * counted.
 *
 * sockaddr, mac and tenant need not live longer than the call.
 */
ngx_int_t ngx_svc_limit_check(ngx_svc_limit_t *limit, ngx_pool_t *pool);

/*
 * Cancels the wait for an answer; hits that were counted stay.  Does nothing to
 * a check that is answered.
 */
void ngx_svc_limit_cancel(ngx_svc_limit_t *limit);

/*
 * Takes back the hits of a sign-in that was admitted and is complete, where
 * they were counted.  Does nothing the second time.
 */
void ngx_svc_limit_give_back(ngx_svc_limit_t *limit);

/*
 * Takes back a hit of an earlier request of the same sign-in, at least age ms
 * ago; limit is set as for that request's check, or zeros.  The hit is taken
 * back where hits are counted now, and never from a window that has begun
 * since.
 */
void ngx_svc_limit_give_back_old(ngx_svc_limit_t *limit, ngx_msec_t age);

/*
 * Locks the account of the address limit->mac for ms: its logins over their
 * limit are told so.  Returns NGX_OK: there is nothing to wait for; NGX_AGAIN
 * and NGX_ERROR as a check does, with the same handler.
 */
ngx_int_t ngx_svc_limit_lock(ngx_svc_limit_t *limit, ngx_pool_t *pool,
    ngx_msec_t ms);

/*
 * Removes the lock of limit->mac, and as many hits of the address's logins as a
 * tenant has seen fail: hits that others have seen stay, so that a tenant of
 * one's own gives no more tries at theirs.  In memory this affects this node
 * alone.  Returns what ngx_svc_limit_lock() returns.
 */
ngx_int_t ngx_svc_limit_clear(ngx_svc_limit_t *limit, ngx_pool_t *pool,
    ngx_uint_t hits);


#endif /* _NGX_SVC_LIMIT_H_INCLUDED_ */
