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


/* From the query; NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR. */
ngx_int_t ngx_svc_admin_audit_filter(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter);
ngx_int_t ngx_svc_admin_audit_range(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter);

/* What is said when that took too long. */
#define NGX_SVC_ADMIN_AUDIT_SLOW                                              \
    "The search took too long: narrow it with \"from\" and \"to\"."

/* Whether it may have to look at many events to find one. */
ngx_uint_t ngx_svc_admin_audit_searches(ngx_svc_admin_audit_filter_t *filter);

/* Binds $1 to $4 (_MATCH), and $5 and $6 (_RANGE). */
void ngx_svc_admin_audit_bind_match(ngx_svc_pg_call_t *call,
    ngx_svc_admin_audit_filter_t *filter);
void ngx_svc_admin_audit_bind_range(ngx_svc_pg_call_t *call,
    ngx_svc_admin_audit_filter_t *filter);


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

/* The columns of an event, and the first ones' places. */

#define NGX_SVC_ADMIN_AUDIT_COLUMNS                                           \
    "e.id, e.created_at, e.action, e.outcome, e.actor_type, e.actor_id,"      \
    " e.actor_name, e.target_type, e.target_id, e.target_name, host(e.ip),"   \
    " e.country, e.user_agent, e.request_id, e.details"

#define NGX_SVC_ADMIN_AUDIT_ID       0
#define NGX_SVC_ADMIN_AUDIT_CREATED  1
#define NGX_SVC_ADMIN_AUDIT_NCOLUMNS 15

/* Writes them as an object; column: where they begin. */
void ngx_svc_admin_audit_event(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column);

/* Copies a column, cut at size. */
void ngx_svc_admin_audit_copy(ngx_str_t *dst, u_char *text, size_t size,
    PGresult *res, int row, int column);

/* ngx_svc_admin_audit_csv.c: the same, from column 0, as a line of CSV. */
size_t ngx_svc_admin_audit_csv_size(PGresult *res, int row);
u_char *ngx_svc_admin_audit_csv(u_char *p, PGresult *res, int row);
extern const ngx_str_t  ngx_svc_admin_audit_csv_header;


#endif /* _NGX_SVC_ADMIN_AUDIT_H_INCLUDED_ */
