/*
 * Entity tags (RFC 9110, 8.8.3).
 */

#ifndef _NGX_SVC_ETAG_H_INCLUDED_
#define _NGX_SVC_ETAG_H_INCLUDED_


#include "ngx_svc_request.h"


#define NGX_SVC_PRECONDITION                                                  \
    "The resource is not as \"If-Match\" says: it has changed. Read it again."

/* A row of NGX_SVC_VERDICTS(). */
#define ngx_svc_verdict_precondition                                          \
    { "precondition", NGX_SVC_E_PRECONDITION, NGX_SVC_PRECONDITION }


/*
 * If-Match as the text of a PostgreSQL array of versions; no data: any version
 * will do.  Of a weak tag what is in its quotes counts: it is ours, of an
 * answer that was compressed on its way, and a change of the resource changes
 * it. NGX_OK, or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_if_match(ngx_svc_request_t *sr,
    ngx_str_t *versions);

/*
 * The ETag of an answer, from a column with the version.  NGX_OK, or
 * NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_etag(ngx_svc_request_t *sr, PGresult *res,
    int row, int column);

/* A digest of the body, with its quotes, of the request's pool. */
NGX_SVC_API ngx_int_t ngx_svc_etag_digest(ngx_svc_request_t *sr,
    ngx_str_t *body, ngx_str_t *etag);


#endif /* _NGX_SVC_ETAG_H_INCLUDED_ */
