/*
 * Outbound SCIM: the statements of the helper, about targets.
 */

#include "ngx_svc_push_sql.h"
#include "ngx_svc_push_sql_scope.h"


/* $1: the helper, $2: how many it has, $3: how many it may get. */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_claim = {
    .name = "push_claim",
    .text =
        "SELECT kept, share, tenant_id, id FROM svc.scim_claim($1, $2, $3)",
    .nparams = 3
};

const ngx_svc_pg_statement_t  ngx_svc_sql_push_release = {
    .name = "push_release",
    .text =
        "SELECT svc.scim_release($1, $2::text::uuid[])",
    .nparams = 2
};


/*
 * A log of which parts older than the last mark may be gone, or that comes from
 * another cluster, tells too little.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_poll = {
    .name = "push_poll",
    .text =
        "WITH " NGX_SVC_PUSH_LEASED("")
        " SELECT t.version, t.enabled, t.base_url, t.token,"
            " t.patch IS NOT FALSE, t.xid, t.event_id, t.event_at,"
            " (t.xid IS NULL OR t.event_at < now() - interval '20 days'"
                " OR t.xid > pg_snapshot_xmax(pg_current_snapshot())),"
            " ceil(extract(epoch FROM t.next_at - clock_timestamp()) * 1000),"
            " t.failures,"
            " (t.config_at IS NULL OR t.config_at < now() - interval '1 day'),"
            " s.status, t.sync_next IS NOT NULL,"
            " CASE WHEN t.test_id IS DISTINCT FROM t.test_done"
                " THEN t.test_id END,"
            " ceil(extract(epoch FROM d.next_at - clock_timestamp()) * 1000),"
            " s.status = 'running' AND EXISTS ("
                "SELECT FROM svc.scim_item k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.target_id BETWEEN t.id AND t.id"
                    " AND k.done_rev < k.wanted_rev"
                    " AND (k.compare OR k.priority = 0 OR t.sync_id IS NULL)"
                    " AND k.state = 'pending' AND k.attempts < 5"
                " ORDER BY k.target_id, k.priority, k.next_at LIMIT 1),"
            " (t.last_error IS NOT NULL"
                " OR t.sync_status IS NOT DISTINCT FROM 'failing'),"
            " t.list_next"
        " FROM t CROSS JOIN LATERAL (SELECT " NGX_SVC_PUSH_SYNC("t")
            " AS status) s CROSS JOIN LATERAL ("
            "SELECT min(d.next_at) AS next_at FROM (VALUES (0), (1)) p (n)"
            " CROSS JOIN LATERAL ("
                "SELECT k.next_at FROM svc.scim_item k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.target_id BETWEEN t.id AND t.id"
                    " AND k.priority = p.n AND k.done_rev < k.wanted_rev"
                " ORDER BY k.target_id, k.priority, k.next_at LIMIT 1) d"
        ") d",
    .nparams = 2
};


/*
 * $3: ms, not before; NULL: at once.  $4: failures in a row; $5: the error, or
 * NULL.  $7: whether it is one that fails: of its sync it is kept how far it
 * was.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_state = {
    .name = "push_state",
    .text =
        "UPDATE svc.scim_target t SET"
            " next_at = now() + $3::text::int8 * interval '1 ms',"
            " failures = $4::int4, last_error = $5,"
            " sync_was = CASE WHEN $7::bool THEN " NGX_SVC_PUSH_SYNC("t")
                " ELSE t.sync_was END,"
            " sync_status = CASE WHEN $7::bool THEN 'failing'"
                " WHEN t.sync_status = 'failing'"
                " THEN coalesce(t.sync_was, 'running')"
                " ELSE t.sync_status END,"
            " sync_at = CASE WHEN $7::bool THEN now() ELSE t.sync_at END"
        " WHERE t.tenant_id = " NGX_SVC_TENANT " AND t.id = $1::text::uuid"
            " AND t.lease_by = $2 AND t.version = $6::int4",
    .nparams = 7
};


/* $3: whether it takes PATCH, or NULL; $4: whether it was asked, and said. */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_config = {
    .name = "push_config",
    .text =
        "UPDATE svc.scim_target t SET patch = coalesce($3::bool, t.patch),"
            " config_at = CASE WHEN $4::bool THEN now()"
                " ELSE now() - interval '23 hours' END"
        " WHERE t.tenant_id = " NGX_SVC_TENANT " AND t.id = $1::text::uuid"
            " AND t.lease_by = $2 AND t.version = $5::int4",
    .nparams = 5
};

/* $7: the version that was tested; of another one it is tested anew. */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_tested = {
    .name = "push_tested",
    .text =
        "UPDATE svc.scim_target t SET test_done = $3::text::uuid,"
            " test_status = nullif($4::int4, 0), test_patch = $5::bool,"
            " test_error = $6"
        " WHERE t.tenant_id = " NGX_SVC_TENANT " AND t.id = $1::text::uuid"
            " AND t.lease_by = $2 AND t.version = $7::int4"
            " AND t.test_id = $3::text::uuid",
    .nparams = 7
};


/*
 * $3: whether a sync has ended.  What is held goes on when fewer are to be
 * deactivated, as when a group is assigned again.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_count = {
    .name = "push_count",
    .text =
        "WITH c AS MATERIALIZED ("
            "SELECT count(*) FILTER (WHERE k.remote_active) AS users,"
                " count(*) FILTER (WHERE k.done_rev < k.wanted_rev"
                    " AND k.state <> 'error') AS pending,"
                " count(*) FILTER (WHERE k.state = 'error') AS errors,"
                " count(*) FILTER (WHERE k.attempts > 0) AS tried,"
                " count(*) FILTER (WHERE k.remote_active AND k.priority = 0"
                    " AND k.done_rev < k.wanted_rev) AS ended"
            " FROM svc.scim_item k WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.target_id = $1::text::uuid"
        ")"
        " UPDATE svc.scim_target t SET users = c.users, pending = c.pending,"
            " errors = c.errors,"
            " sync_status = CASE WHEN $3::bool THEN"
                " CASE WHEN c.errors + c.tried > 0 THEN 'partial'"
                    " ELSE 'success' END"
                " WHEN t.sync_status = 'held'"
                    " AND NOT (c.ended > 20 AND 2 * c.ended > c.users)"
                " THEN 'running' ELSE t.sync_status END,"
            " sync_was = CASE WHEN t.sync_status = 'failing'"
                    " AND t.sync_was = 'held'"
                    " AND NOT (c.ended > 20 AND 2 * c.ended > c.users)"
                " THEN 'running' ELSE t.sync_was END,"
            " sync_at = CASE WHEN $3::bool THEN now() ELSE t.sync_at END,"
            " sync_confirm = t.sync_confirm AND NOT $3::bool"
        " FROM c WHERE t.tenant_id = " NGX_SVC_TENANT
            " AND t.id = $1::text::uuid AND t.lease_by = $2"
            " AND (NOT $3::bool OR " NGX_SVC_PUSH_SYNC("t") " = 'running')",
    .nparams = 3
};

const ngx_svc_pg_statement_t  ngx_svc_sql_push_hold = {
    .name = "push_hold",
    .text =
        "SELECT svc.scim_hold(t.id, $3, $4) FROM svc.scim_target t"
        " WHERE t.tenant_id = " NGX_SVC_TENANT " AND t.id = $1::text::uuid"
            " AND t.lease_by = $2",
    .nparams = 4
};


/* The log has been followed up to ($3, $4), behind which there is no event. */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_keep = {
    .name = "push_keep",
    .text =
        "UPDATE svc.scim_target t SET xid = $3::text::xid8,"
            " event_id = $4::text::int8, event_at = now()"
        " WHERE t.tenant_id = " NGX_SVC_TENANT " AND t.id = $1::text::uuid"
            " AND t.lease_by = $2 AND t.xid IS NOT NULL",
    .nparams = 4
};


