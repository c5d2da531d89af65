/*
 * Outbound SCIM: the statements by which a target's list is compared.
 */

#include "ngx_svc_push_sql_list.h"
#include "ngx_svc_push_sql_scope.h"


/*
 * Who of the resources $3 is whom: by our id, as long as no other resource is
 * his; by his name the one that is his already.  The columns are those of
 * NGX_SVC_PUSH_I_HELD and so on, the first one the number of the resource.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_match = {
    .name = "push_match",
    .text =
        "WITH " NGX_SVC_PUSH_LEASED("")
        ", " NGX_SVC_PUSH_APPLICATION
        ", p AS MATERIALIZED ("
            "SELECT p.* FROM t CROSS JOIN json_to_recordset($3::text::json)"
                " AS p (n integer, external uuid, name text, remote text)"
        "), q AS MATERIALIZED ("
            "SELECT p.n, p.remote, u.id, false AS named"
            " FROM p CROSS JOIN LATERAL ("
                NGX_SVC_ROW("k.id", "svc.user_account", "p.external") ") u"
            " UNION ALL SELECT p.n, p.remote, u.id, true"
            " FROM p CROSS JOIN LATERAL ("
                "SELECT k.id FROM svc.user_account k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.user_name_key"
                        " BETWEEN svc.address_key(p.name)"
                        " AND svc.address_key(p.name)"
                " ORDER BY k.user_name_key LIMIT 1) u"
            " WHERE p.external IS NULL"
        "), i AS MATERIALIZED ("
            "SELECT q.id FROM q GROUP BY q.id HAVING count(*) = 1"
        "), " NGX_SVC_PUSH_WANTED("MATERIALIZED")
        " SELECT q.n, NULL, NULL, w.user_id, coalesce(o.wanted_rev, 0),"
            " q.remote, NULL, NULL, NULL, NULL, NULL, w.active IS TRUE,"
            " w.hash, w.user_name, w.display_name, w.first_name, w.last_name,"
            " w.title, w.locale, w.department, 0, o.sent"
        " FROM t CROSS JOIN q JOIN w ON w.user_id = q.id LEFT JOIN LATERAL ("
            NGX_SVC_PUSH_ITEM("k.*", "q.id") ") o ON true"
        " WHERE NOT w.gone AND (o.user_id IS NOT NULL OR w.active)"
            " AND (o.remote_id = q.remote"
                " OR o.remote_id IS NULL AND NOT q.named)",
    .nparams = 3
};


/*
 * The users $3 are there as they are to be, of the version $4 of the target;
 * the list goes on at $5, or has ended.  Who has been marked since they were
 * matched is pushed as any other.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_listed = {
    .name = "push_listed",
    .text =
        "WITH " NGX_SVC_PUSH_LEASED(" FOR NO KEY UPDATE")
        ", m AS ("
            "INSERT INTO svc.scim_item AS n (target_id, user_id, wanted_rev,"
                " done_rev, remote_id, remote_hash, remote_active, state,"
                " priority, seen, synced_at)"
            " SELECT t.id, r.id, r.rev, r.rev, r.remote,"
                " decode(r.hash, 'hex'), r.active, 'synced',"
                " CASE WHEN r.active THEN 1 ELSE 0 END, t.sync_id, now()"
            " FROM t CROSS JOIN json_to_recordset($3::text::json)"
                " AS r (id uuid, rev int8, remote text, hash text,"
                " active boolean)"
            " WHERE t.version = $4::int4"
            " ON CONFLICT (tenant_id, target_id, user_id) DO UPDATE"
                " SET done_rev = excluded.done_rev, compare = false,"
                    " remote_id = excluded.remote_id,"
                    " remote_hash = excluded.remote_hash,"
                    " remote_active = excluded.remote_active,"
                    " state = 'synced', attempts = 0, error = NULL,"
                    " error_at = NULL, absent_at = NULL,"
                    " seen = excluded.seen,"
                    " synced_at = excluded.synced_at"
                " WHERE n.wanted_rev = excluded.wanted_rev"
                    " AND (n.remote_id IS NULL"
                        " OR n.remote_id = excluded.remote_id)"
            " RETURNING 1"
        ")"
        " UPDATE svc.scim_target k SET list_next = $5::int4"
        " FROM t WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.id = t.id"
            " AND k.list_next IS NOT NULL AND k.version = $4::int4",
    .nparams = 5
};
