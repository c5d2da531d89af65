/*
 * The admin API's own declarations.
 */

#ifndef _NGX_SVC_ADMIN_H_INCLUDED_
#define _NGX_SVC_ADMIN_H_INCLUDED_


#include "ngx_svc_request.h"


/* SQL: the tenant of the transaction, or NULL. */

#define NGX_SVC_ADMIN_TENANT                                                  \
    "nullif(current_setting('svc.tenant', true), '')::uuid"


/* ngx_svc_admin_routes.c */
extern const ngx_svc_route_t  ngx_svc_admin_routes[];
extern const ngx_svc_constraint_t  ngx_svc_admin_constraints[];
extern const ngx_svc_pg_statement_t *const  ngx_svc_admin_statements[];


/* Handlers: see ngx_svc_route_t. */

/* ngx_svc_admin_tenant.c */
ngx_int_t ngx_svc_admin_tenant_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tenant_reply(ngx_svc_request_t *sr);
extern const ngx_svc_pg_statement_t  ngx_svc_admin_tenant_statements[];

/* ngx_svc_admin_tokens.c */
ngx_int_t ngx_svc_admin_tokens_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_create_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_create_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_revoke_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_revoke_reply(ngx_svc_request_t *sr);
extern const ngx_svc_pg_statement_t  ngx_svc_admin_tokens_statements[];

/* ngx_svc_admin_audit.c, ngx_svc_admin_audit_export.c, ..._stream.c */
ngx_int_t ngx_svc_admin_audit_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_export_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_export_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_stream_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_stream_reply(ngx_svc_request_t *sr);
extern const ngx_svc_pg_statement_t  ngx_svc_admin_audit_statements[];
extern const ngx_svc_pg_statement_t  ngx_svc_admin_audit_export_statements[];
extern const ngx_svc_pg_statement_t  ngx_svc_admin_audit_stream_statements[];
extern const ngx_svc_pg_statement_t  ngx_svc_admin_audit_follow_statements[];


/*
 * ngx_svc_admin_json.c: columns of a result as members, null when they are
 * NULL: a text, a time, a piece of JSON.
 */
void ngx_svc_admin_text(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column);
void ngx_svc_admin_time(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column);
void ngx_svc_admin_raw(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column);

/* The surface's error writer. */
void ngx_svc_admin_error(ngx_svc_json_writer_t *w,
    const ngx_svc_error_row_t *row, ngx_str_t *detail);


/*
 * ngx_svc_admin_page.c: the limit and offset of a list, from the query.
 * NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.
 */

typedef struct {
    int32_t  limit;
    int32_t  offset;
} ngx_svc_admin_page_t;

ngx_int_t ngx_svc_admin_page(ngx_svc_request_t *sr,
    ngx_svc_admin_page_t *page);

/* "total", "limit" and "offset"; total: the first column of a result. */
void ngx_svc_admin_page_write(ngx_svc_json_writer_t *w, PGresult *total,
    ngx_svc_admin_page_t *page);


#endif /* _NGX_SVC_ADMIN_H_INCLUDED_ */
