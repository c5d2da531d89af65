/*
 * TXT records and addresses of DNS, by c-ares on nginx's events: nginx's own
 * resolver has no TXT records, and an operator need not configure it.
 *
 * A query belongs to c-ares from its start to its end, and points to the
 * ngx_svc_dns_t that waits for it; to NULL when the request is gone, or its
 * time is over.  c-ares cannot cancel one query, so that it keeps its place
 * among NGX_SVC_DNS_QUERIES until c-ares is done with it.  A worker that exits
 * drops its queries, and calls no handler.
 */

#ifndef _NGX_SVC_DNS_H_INCLUDED_
#define _NGX_SVC_DNS_H_INCLUDED_


#include "ngx_svc_addr.h"

#include <ngx_event.h>


#define NGX_SVC_DNS_QUERIES  64         /* under way in a worker */
#define NGX_SVC_DNS_TRIES    2          /* per server */
#define NGX_SVC_DNS_TIMEOUT  5000       /* ms, a query with all tries */
#define NGX_SVC_DNS_SERVERS  3          /* in svc_resolver */
#define NGX_SVC_DNS_RECORDS  100        /* records of a type that are looked
                                           at */
#define NGX_SVC_DNS_SECOND   250        /* ms that one family of addresses
                                           waits for the other one */


typedef struct ngx_svc_dns_s        ngx_svc_dns_t;
typedef struct ngx_svc_dns_query_s  ngx_svc_dns_query_t;


typedef enum {
    NGX_SVC_DNS_FOUND = 0,
    NGX_SVC_DNS_NONE,                   /* no such name, or no such record */
    NGX_SVC_DNS_NAME,                   /* the name is none of DNS */
    NGX_SVC_DNS_FAILED                  /* unknown; why: the reason */
} ngx_svc_dns_status_e;


/* A look-up, allocated from a request's pool.  All zeros at first. */

struct ngx_svc_dns_s {
    void                  (*handler)(ngx_svc_dns_t *dns);
    void                   *data;

    /* the answer; lives as long as the pool */

    ngx_svc_dns_status_e    status;
    const char             *why;        /* static */
    ngx_str_t              *records;    /* TXT: each with its strings joined */
    ngx_uint_t              nrecords;
    ngx_svc_addr_t         *addrs;      /* those of IPv4 before the others */
    ngx_uint_t              naddrs;

    /* private */

    ngx_svc_dns_query_t    *query;      /* NULL: answered */
    ngx_pool_t             *pool;
    ngx_event_t             event;      /* the time limit, and the answer */
};


/* The directive "svc_resolver address[:port] ..."; sets an ngx_str_t. */
char *ngx_svc_conf_resolver(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Called at a worker's start with the value of the directive, which must live
 * as long as the worker; if it is empty the servers are those of
 * /etc/resolv.conf.  Errors are logged, and then there are no queries.
 */
void ngx_svc_dns_init_worker(ngx_cycle_t *cycle, const ngx_str_t *servers);

/* Called at a worker's end. */
void ngx_svc_dns_exit_worker(void);

/*
 * Looks up the TXT records of a name, which ends with a zero and need not live
 * longer than the call.  Returns NGX_AGAIN: the handler will be called, once,
 * from an event of its own, NGX_SVC_DNS_TIMEOUT later at the latest, unless the
 * pool is destroyed before; NGX_BUSY: too many queries are under way;
 * NGX_ERROR: there is no memory or no c-ares.
 */
ngx_int_t ngx_svc_dns_txt(ngx_svc_dns_t *dns, const char *name,
    ngx_pool_t *pool);

/*
 * Looks up the addresses of a name, of both families at once, in the same way.
 * When one family has addresses the other one may fail, or be late.
 */
ngx_int_t ngx_svc_dns_addresses(ngx_svc_dns_t *dns, const char *name,
    ngx_pool_t *pool);


#endif /* _NGX_SVC_DNS_H_INCLUDED_ */
