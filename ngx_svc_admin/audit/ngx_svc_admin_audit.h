/*
 * The audit log: what the list, the export and the stream share.
 */

#ifndef _NGX_SVC_ADMIN_AUDIT_H_INCLUDED_
#define _NGX_SVC_ADMIN_AUDIT_H_INCLUDED_


#include "ngx_svc_admin.h"


/* Which events are asked for; what is not asked for has no data. */

typedef struct {
    ngx_str_t  q;
    ngx_str_t  outcome;
    ngx_str_t  action;
    ngx_str_t  actor_id;
    ngx_str_t  from;            /* milliseconds since the epoch, as text */
    ngx_str_t  to;
} ngx_svc_admin_audit_filter_t;


/*
 * From the query, without "from" and "to"; and with them, in the pool that it
 * needs.  NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_audit_filter(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter);
ngx_int_t ngx_svc_admin_audit_search(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter);

/* The pool: it may have to look at many events to find one. */
ngx_svc_pg_pool_e ngx_svc_admin_audit_pool(
    ngx_svc_admin_audit_filter_t *filter);

/* $1 to $4 (_MATCH), and $5 and $6 (_RANGE), of a filter in sr->data. */

#define ngx_svc_admin_audit_match(type)                                       \
    ngx_svc_param_data(type, filter.q),                                       \
    ngx_svc_param_data(type, filter.outcome),                                 \
    ngx_svc_param_data(type, filter.action),                                  \
    ngx_svc_param_data(type, filter.actor_id)

#define ngx_svc_admin_audit_range(type)                                       \
    ngx_svc_param_data(type, filter.from),                                    \
    ngx_svc_param_data(type, filter.to)


/*
 * SQL.  "e" is svc.audit_event.  A q of ASCII alone needs no folding but
 * ASCII's, which is many times as fast.
 */

#define NGX_SVC_ADMIN_AUDIT_HAS(text, collation)                              \
    "strpos(lower(" text " COLLATE \"" collation "\"),"                       \
    " lower($1 COLLATE \"" collation "\")) > 0"

#define NGX_SVC_ADMIN_AUDIT_TEXT                                              \
    "concat_ws(E'\\x01', e.action, e.actor_name, e.actor_id, e.target_name,"  \
    " e.target_id, host(e.ip),"                                               \
    " CASE WHEN e.details <> '{}' THEN e.details::text END)"

#define NGX_SVC_ADMIN_AUDIT_MATCH                                             \
    " ($2::text IS NULL OR e.outcome = $2)"                                   \
    " AND ($3::text IS NULL OR e.action = $3)"                                \
    " AND ($4::text IS NULL OR e.actor_id = $4)"                              \
    " AND CASE WHEN $1::text IS NULL THEN true"                               \
    " WHEN octet_length($1) = char_length($1)"                                \
    " THEN " NGX_SVC_ADMIN_AUDIT_HAS(NGX_SVC_ADMIN_AUDIT_TEXT, "C")           \
    " ELSE " NGX_SVC_ADMIN_AUDIT_HAS(NGX_SVC_ADMIN_AUDIT_TEXT, "default")     \
    " END"

/* A coalesce() would keep the planner from using the index: it may leak. */

#define NGX_SVC_ADMIN_AUDIT_RANGE                                             \
    " e.created_at >= CASE WHEN $5::text IS NULL THEN '-infinity'"            \
        " ELSE to_timestamp($5::float8 / 1000) END"                           \
    " AND e.created_at < CASE WHEN $6::text IS NULL THEN 'infinity'"          \
        " ELSE to_timestamp($6::float8 / 1000) END"

/* An event: what is a member, in SQL, and a column of CSV. */

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

#define NGX_SVC_ADMIN_AUDIT_FIRST(sql, json, csv)  sql " AS \"" json "\""
#define NGX_SVC_ADMIN_AUDIT_NEXT(sql, json, csv)   ", " sql " AS \"" json "\""

#define NGX_SVC_ADMIN_AUDIT_COLUMNS                                           \
    NGX_SVC_ADMIN_AUDIT_EVENT(NGX_SVC_ADMIN_AUDIT_FIRST,                      \
                              NGX_SVC_ADMIN_AUDIT_NEXT)


/*
 * ngx_svc_admin_audit_csv.c: rows that have these columns alone, as lines of
 * CSV; size: at most as long.  Returns what follows the lines.
 */
size_t ngx_svc_admin_audit_csv_size(PGresult *res);
u_char *ngx_svc_admin_audit_csv(u_char *p, PGresult *res);
extern const ngx_str_t  ngx_svc_admin_audit_csv_header;


#endif /* _NGX_SVC_ADMIN_AUDIT_H_INCLUDED_ */
