/*
 * The audit log: what the list, the export and the stream share.
 */

#ifndef _NGX_SVC_ADMIN_AUDIT_H_INCLUDED_
#define _NGX_SVC_ADMIN_AUDIT_H_INCLUDED_


#include "ngx_svc_admin.h"


/* The events that a client asks for; a member that is not used has no data. */

typedef struct {
    ngx_str_t  q;
    ngx_str_t  outcome;
    ngx_str_t  action;
    ngx_str_t  actor_id;
    ngx_str_t  target_id;
    ngx_str_t  request_id;
    ngx_str_t  from;            /* milliseconds since the epoch, as text */
    ngx_str_t  to;
} ngx_svc_admin_audit_filter_t;


/*
 * Reads the filter from the query, without "from" and "to".  Returns NGX_OK;
 * NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_audit_filter(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter);

/* Does the same, reads "from" and "to", too, and chooses the pool of sr->op. */
ngx_int_t ngx_svc_admin_audit_search(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter);

/* Returns the pool: a filter may have to look at many events to find one. */
ngx_svc_pg_pool_e ngx_svc_admin_audit_pool(
    ngx_svc_admin_audit_filter_t *filter);


/* The members of an event, each in SQL, in JSON and as a column of CSV. */

#define NGX_SVC_ADMIN_AUDIT_EVENT(first, next)                                \
    first("e.id::text", "id", "id")                                           \
    next("e.created_at", "createdAt", "createdAt")                            \
    next("e.action", "action", "action")                                      \
    next("e.outcome", "outcome", "outcome")                                   \
    next("e.actor_type", "actor.type", "actorType")                           \
    next("e.actor_id", "actor.id", "actorId")                                 \
    next("e.actor_name", "actor.name", "actorName")                           \
    next("e.target_type", "target.type", "targetType")                        \
    next("e.target_id", "target.id", "targetId")                              \
    next("e.target_name", "target.name", "targetName")                        \
    next("host(e.ip)", "ip", "ip")                                            \
    next("e.country", "country", "country")                                   \
    next("e.user_agent", "userAgent", "userAgent")                            \
    next("e.request_id", "requestId", "requestId")                            \
    next("e.details", "details", "details")


/*
 * ngx_svc_admin_audit_csv.c.  Returns how long rows, which have these columns
 * alone, are at most as lines of CSV.
 */
size_t ngx_svc_admin_audit_csv_size(PGresult *res);

/* Writes such rows as lines of CSV, and returns the position behind them. */
u_char *ngx_svc_admin_audit_csv(u_char *p, PGresult *res);
extern const ngx_str_t  ngx_svc_admin_audit_csv_header;


#endif /* _NGX_SVC_ADMIN_AUDIT_H_INCLUDED_ */
