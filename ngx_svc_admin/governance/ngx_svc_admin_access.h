/*
 * The common parts of the routes of the access policy.
 */

#ifndef _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_
#define _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_


#include "ngx_svc_admin_governance.h"
#include "ngx_svc_access.h"
#include "ngx_svc_admin_access.row.h"


#define NGX_SVC_ADMIN_ACCESS_VERSIONS  50   /* versions kept; in SQL, too */
#define NGX_SVC_ADMIN_NO_VERSION       "There is no version with this id: it" \
                                       " may be older than the ones that are" \
                                       " kept."


/*
 * Returns NULL when there is no policy, or it cannot be read, which is logged.
 */
const ngx_svc_access_policy_t *ngx_svc_admin_access_in_force(
    ngx_svc_request_t *sr, const ngx_svc_row_access_in_force_t *row);


/*
 * A new version, in sr->data.  The route has one statement, which reads, and
 * returns the number of the latest version as "_version".  "store" returns no
 * row when another version has become the latest one since: then both are run
 * again.
 */

typedef struct {
    ngx_svc_access_policy_t       *policy;
    const ngx_svc_pg_statement_t  *store;
    ngx_str_t                      json;      /* the JSON to be stored */
    ngx_str_t                      number;    /* number of the latest version
                                                 read */
    ngx_str_t                      restored;  /* id of the version to restore */
    ngx_uint_t                     tries;
} ngx_svc_admin_access_t;


/*
 * Writes the policy as JSON, allocated from the request's pool, to
 * access->json.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_access_json(ngx_svc_request_t *sr,
    ngx_svc_admin_access_t *access);

/*
 * Ends a reply hook, with the number of the version that was read: stores the
 * policy and sends the row, or refuses a policy that would lock its author out.
 */
ngx_int_t ngx_svc_admin_access_change(ngx_svc_request_t *sr,
    const ngx_str_t *number);

/*
 * Returns a copy of a text, allocated from the request's pool; without data
 * when there is no memory.
 */
ngx_str_t ngx_svc_admin_access_copy(ngx_svc_request_t *sr, ngx_str_t value);


#endif /* _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_ */
