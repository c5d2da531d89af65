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
 * Reads If-Match as the text of a PostgreSQL array of versions; its data is
 * NULL when any version will do.  A weak tag counts as the strong one in its
 * quotes: it is ours, from an answer that a proxy has compressed, and a change
 * of the resource changes it.  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_if_match(ngx_svc_request_t *sr,
    ngx_str_t *versions);

/*
 * Sets the ETag of an answer from a column with the version.  It is for
 * If-Match, which compares strongly (RFC 9110, 13.1.1): so nginx's gzip filter
 * leaves the answer as it is.  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_etag(ngx_svc_request_t *sr, PGresult *res,
    int row, int column);

/*
 * Makes an entity tag from a digest of the body, with its quotes.  It is of the
 * request's pool.  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_etag_digest(ngx_svc_request_t *sr,
    ngx_str_t *body, ngx_str_t *etag);


#endif /* _NGX_SVC_ETAG_H_INCLUDED_ */
