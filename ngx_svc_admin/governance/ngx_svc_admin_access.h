/*
 * What the routes of the access policy share.
 */

#ifndef _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_
#define _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_


#include "ngx_svc_admin_governance.h"
#include "ngx_svc_access.h"


#define NGX_SVC_ADMIN_ACCESS_VERSIONS  50   /* kept; in SQL too */


/* SQL: the members of a version; current and snapshot: expressions. */

#define NGX_SVC_ADMIN_ACCESS_VERSION(current, snapshot)                       \
    "id, number AS version, " current " AS current, source,"                  \
    " restored_from AS \"restoredFrom\", created_at AS \"createdAt\","        \
    " created_by_type AS \"createdBy.type\","                                 \
    " created_by_id AS \"createdBy.id\","                                     \
    " created_by_name AS \"createdBy.name\", " snapshot " AS snapshot"

/* SQL: what ngx_svc_admin_access_in_force() reads, of svc.governance. */

#define NGX_SVC_ADMIN_ACCESS_IN_FORCE                                         \
    "access_policy AS _policy, access_number AS _version,"                    \
    " tenant_id AS _tenant"

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

/*
 * SQL: writes it.  $1: the JSON, $2: the number, $3: how many versions are
 * kept; action: of the table of ngx_svc_audit.h; source: a literal; restored:
 * an expression.  The CTEs are g, of svc.governance, and v, the version.
 */

#define NGX_SVC_ADMIN_ACCESS_STORE(action, source, restored)                  \
    "WITH g AS ("                                                             \
        "UPDATE svc.governance SET revision = revision + 1,"                  \
            " access_policy = $1::text::json,"                                \
            " access_number = access_number + 1,"                             \
            " access_version_id = gen_random_uuid(),"                         \
            " access_updated_at = greatest(now(),"                            \
            " access_updated_at + interval '1 millisecond')"                  \
        " WHERE tenant_id = " NGX_SVC_TENANT                                  \
            " AND access_number = $2::text::bigint RETURNING *"               \
    "), v AS ("                                                               \
        "INSERT INTO svc.access_policy_version (tenant_id, id, number,"       \
            " source, restored_from, snapshot, created_at)"                   \
        " SELECT tenant_id, access_version_id, access_number, " source ", "   \
            restored ", access_policy, access_updated_at FROM g"              \
        " RETURNING *"                                                        \
    "), d AS ("                                                               \
        "DELETE FROM svc.access_policy_version o USING g"                     \
        " WHERE o.tenant_id = g.tenant_id"                                    \
            " AND o.number <= g.access_number - $3::int4"                     \
    "), e AS ("                                                               \
        NGX_SVC_AUDIT(action, "v.id::text", "NULL",                           \
            "jsonb_strip_nulls(jsonb_build_object('version', v.number,"       \
                " 'source', v.source, 'restoredFrom', v.restored_from))",     \
            "FROM v")                                                         \
    ")"

#define NGX_SVC_ADMIN_ACCESS_STORE_PARAMS                                     \
    ngx_svc_param_data(ngx_svc_admin_access_t, json),                         \
    ngx_svc_param_data(ngx_svc_admin_access_t, number),                       \
    ngx_svc_param_constant(NGX_SVC_ADMIN_ACCESS_VERSIONS)

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
