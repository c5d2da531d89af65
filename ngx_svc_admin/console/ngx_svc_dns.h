/*
 * TXT records of DNS, by c-ares on nginx's events: nginx's own resolver knows
 * none.
 *
 * A query is c-ares' from its start to its end, and knows who waits for it:
 * when the request is gone, or its time is over, nobody.  c-ares cannot cancel
 * one query, so it keeps its place among NGX_SVC_DNS_QUERIES until c-ares is
 * done with it.  What a worker that exits has under way is dropped, and calls
 * nobody.
 */

#ifndef _NGX_SVC_DNS_H_INCLUDED_
#define _NGX_SVC_DNS_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_event.h>


#define NGX_SVC_DNS_QUERIES  64         /* under way, of a worker */
#define NGX_SVC_DNS_TRIES    2          /* of each server */
#define NGX_SVC_DNS_TIMEOUT  5000       /* ms, of a query with all its tries */
#define NGX_SVC_DNS_SERVERS  3          /* of svc_resolver */
#define NGX_SVC_DNS_RECORDS  100        /* that are looked at */


typedef struct ngx_svc_dns_s        ngx_svc_dns_t;
typedef struct ngx_svc_dns_query_s  ngx_svc_dns_query_t;


typedef enum {
    NGX_SVC_DNS_FOUND = 0,
    NGX_SVC_DNS_NONE,                   /* no such name, or no TXT of it */
    NGX_SVC_DNS_NAME,                   /* none that DNS can have */
    NGX_SVC_DNS_FAILED                  /* what is true is not known: why */
} ngx_svc_dns_status_e;


/* Who waits, of a request's pool.  All zeros at first. */

struct ngx_svc_dns_s {
    void                  (*handler)(ngx_svc_dns_t *dns);
    void                   *data;

    /* the answer, as long-lived as the pool */

    ngx_svc_dns_status_e    status;
    const char             *why;        /* static */
    ngx_str_t              *records;    /* each with its strings joined */
    ngx_uint_t              nrecords;

    /* private */

    ngx_svc_dns_query_t    *query;      /* NULL: it is answered */
    ngx_pool_t             *pool;
    ngx_event_t             event;      /* the time limit, and the answer */
};


/* "svc_resolver address[:port] ...;"; at cmd->offset is an ngx_str_t. */
char *ngx_svc_conf_resolver(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * At a worker's start, with what the directive has set, which lives as long as
 * the worker, or for servers of /etc/resolv.conf nothing; what fails is logged,
 * and there are no queries.  At its end.
 */
void ngx_svc_dns_init_worker(ngx_cycle_t *cycle, const ngx_str_t *servers);
void ngx_svc_dns_exit_worker(void);

/*
 * Looks for the TXT records of a name, which ends with a zero and need not live
 * longer than the call.  NGX_AGAIN: the handler is called, once, from an event
 * of its own, NGX_SVC_DNS_TIMEOUT later at the latest, unless the pool is
 * destroyed before.  NGX_BUSY: too many are under way.  NGX_ERROR: memory, or
 * there is no c-ares.
 */
ngx_int_t ngx_svc_dns_txt(ngx_svc_dns_t *dns, const char *name,
    ngx_pool_t *pool);


#endif /* _NGX_SVC_DNS_H_INCLUDED_ */
