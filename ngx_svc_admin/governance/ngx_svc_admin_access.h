/*
 * What the routes of the access policy share.
 */

#ifndef _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_
#define _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_


#include "ngx_svc_admin_governance.h"
#include "ngx_svc_access.h"


#define NGX_SVC_ADMIN_ACCESS_VERSIONS  50   /* kept; in SQL too */


/* NULL: there is none, or it cannot be read any more, as the log says. */
const ngx_svc_access_policy_t *ngx_svc_admin_access_in_force(
    ngx_svc_request_t *sr, PGresult *res);


/*
 * A new version, in sr->data.  The route has one statement, which reads, and
 * has the latest version's number as "_version".  What stores it has no row when
 * the latest version is another one by then: then both are made again.
 */

typedef struct {
    ngx_svc_access_policy_t       *policy;
    const ngx_svc_pg_statement_t  *store;
    ngx_str_t                      json;      /* what is stored of it */
    ngx_str_t                      number;    /* of the version that was read */
    ngx_str_t                      restored;  /* id of the one to restore */
    ngx_uint_t                     tries;
} ngx_svc_admin_access_t;


/* From a policy its JSON, of the request's pool.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_admin_access_json(ngx_svc_request_t *sr,
    ngx_svc_admin_access_t *access);

/*
 * For a reply, with what has been read: stores the policy and sends the row, or
 * refuses one that would lock its author out.
 */
ngx_int_t ngx_svc_admin_access_change(ngx_svc_request_t *sr, PGresult *res);

/* A copy of a column, of the request's pool; no data: memory has run out. */
ngx_str_t ngx_svc_admin_access_copy(ngx_svc_request_t *sr, PGresult *res,
    const char *column);


#endif /* _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_ */
