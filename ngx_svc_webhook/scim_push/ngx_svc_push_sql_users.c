/*
 * Outbound SCIM: the statements by which the helper has users and gives them
 * back.
 */

#include "ngx_svc_push_sql_users.h"
#include "ngx_svc_push_sql_scope.h"

#include "ngx_svc_audit.h"


/*
 * Who is next, at most $3, but not those of $4; $5: whether somebody may be
 * deactivated.  None is while more than 20 are to be, and more than half of
 * those that the target has: then it is held.  Who has become inactive since
 * the mark waits for the next one, with which they are counted.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_take = {
    .name = "push_take",
    .text =
        "WITH " NGX_SVC_PUSH_LEASED("")
        ", " NGX_SVC_PUSH_APPLICATION
        ", z AS MATERIALIZED ("
            "SELECT count(*) AS n FROM ("
                "SELECT FROM svc.scim_item k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT " AND $5::bool"
                    " AND k.target_id = (SELECT t.id FROM t)"
                    " AND k.priority = 0 AND k.done_rev < k.wanted_rev"
                    " AND k.remote_active"
                " ORDER BY k.target_id, k.priority, k.next_at LIMIT 21) k"
        "), c AS MATERIALIZED ("
            "SELECT count(*) FILTER (WHERE k.priority = 0"
                    " AND k.done_rev < k.wanted_rev) AS ended,"
                " count(*) AS users"
            " FROM svc.scim_item k WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.target_id = (SELECT t.id FROM t)"
                " AND k.remote_active AND (SELECT z.n > 20"
                    " AND NOT t.sync_confirm FROM z, t)"
        "), b AS MATERIALIZED ("
            "SELECT z.n > 20 AND NOT t.sync_confirm"
                    " AND 2 * c.ended > c.users AS held,"
                " c.ended, c.users"
            " FROM z, c, t"
        "), k AS MATERIALIZED ("
            "SELECT k.* FROM b"
            " CROSS JOIN (VALUES (0::int2), (1::int2)) p (n)"
            " CROSS JOIN LATERAL ("
                "SELECT k.* FROM svc.scim_item k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.target_id = (SELECT t.id FROM t)"
                    " AND k.priority = p.n AND k.done_rev < k.wanted_rev"
                    " AND k.next_at <= now()"
                    " AND k.user_id <> ALL ($4::text::uuid[])"
                " ORDER BY k.target_id, k.priority, k.next_at LIMIT $3::int4"
            ") k WHERE NOT b.held AND (p.n > 0 OR $5::bool)"
            " ORDER BY k.priority, k.next_at LIMIT $3::int4"
        "), i AS MATERIALIZED ("
            "SELECT k.user_id AS id FROM k"
        "), " NGX_SVC_PUSH_WANTED("MATERIALIZED")
        ", r AS ("
            "SELECT k.*, w.gone, w.active, w.hash, w.user_name,"
                " w.display_name, w.first_name, w.last_name, w.title,"
                " w.locale, w.department"
            " FROM k JOIN w ON w.user_id = k.user_id"
            " WHERE k.priority = 0 OR w.active OR NOT k.remote_active"
        ")"
        " SELECT b.held, b.ended, b.users, r.user_id, r.wanted_rev,"
            " r.remote_id, r.remote_hash, r.remote_active, r.compare,"
            " r.attempts, r.gone, r.active IS TRUE, r.hash, r.user_name,"
            " r.display_name, r.first_name, r.last_name, r.title, r.locale,"
            " r.department, CASE WHEN r.absent_at IS NOT NULL THEN greatest(1,"
                " ceil(extract(epoch FROM now() - r.absent_at)))"
                " ELSE 0 END::int8, r.sent"
        " FROM b LEFT JOIN r ON true ORDER BY r.priority, r.next_at",
    .nparams = 5
};


/*
 * What came of pushes, by the version of the target that was pushed to.  A mark
 * that has been made meanwhile stays; who is gone here goes when the target
 * knows.  When the user was absent first stays until the user is shown, which
 * an infinite time does not say.  The items are there, and each conflicts: an
 * UPDATE that joins them may read all that the tenant has.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_record = {
    .name = "push_record",
    .text =
        "WITH " NGX_SVC_PUSH_LEASED(" FOR NO KEY UPDATE")
        ", r AS MATERIALIZED ("
            "SELECT r.* FROM t CROSS JOIN"
                " json_to_recordset($3::text::json) AS r (id uuid,"
                " rev int8, done boolean, failed boolean, gone boolean,"
                " remote text, hash text, active boolean, absent boolean,"
                " tries integer, delay int8, error text, sent int2)"
            " WHERE t.version = $4::int4"
        "), d AS ("
            "DELETE FROM svc.scim_item k USING t, r"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.target_id = t.id AND k.user_id = r.id"
                " AND r.done AND r.gone"
        "), o AS MATERIALIZED ("
            "SELECT r.id, o.state FROM t CROSS JOIN r CROSS JOIN LATERAL ("
                NGX_SVC_PUSH_ITEM("k.state", "r.id") ") o"
        "), u AS ("
            "INSERT INTO svc.scim_item AS k (target_id, user_id, wanted_rev,"
                " remote_id, remote_hash, remote_active, state, next_at,"
                " attempts, error, error_at, absent_at, sent)"
            " SELECT t.id, r.id, r.rev, r.remote, decode(r.hash, 'hex'),"
                " r.active, CASE WHEN r.done THEN 'synced'"
                    " WHEN r.failed THEN 'error' ELSE 'pending' END,"
                " now() + r.delay * interval '1 ms', r.tries, r.error,"
                " CASE WHEN r.error IS NOT NULL THEN now() END,"
                " CASE WHEN r.done OR NOT r.absent THEN NULL"
                    " WHEN r.absent THEN now() ELSE 'infinity' END, r.sent"
            " FROM t CROSS JOIN r JOIN o ON o.id = r.id"
            " WHERE NOT (r.done AND r.gone)"
            " ON CONFLICT (tenant_id, target_id, user_id) DO UPDATE SET"
                " done_rev = CASE WHEN excluded.state = 'synced'"
                    " THEN excluded.wanted_rev ELSE k.done_rev END,"
                " compare = k.compare AND NOT (excluded.state = 'synced'"
                    " AND k.wanted_rev = excluded.wanted_rev),"
                " remote_id = excluded.remote_id,"
                " remote_hash = excluded.remote_hash,"
                " remote_active = excluded.remote_active,"
                " state = CASE WHEN k.wanted_rev > excluded.wanted_rev"
                    " THEN 'pending' WHEN excluded.state = 'pending'"
                    " THEN k.state ELSE excluded.state END,"
                " next_at = CASE WHEN k.wanted_rev > excluded.wanted_rev"
                    " AND excluded.state <> 'pending' THEN k.next_at"
                    " ELSE excluded.next_at END,"
                " attempts = CASE WHEN excluded.state = 'synced'"
                    " OR k.wanted_rev > excluded.wanted_rev THEN 0"
                    " ELSE excluded.attempts END,"
                " absent_at = CASE WHEN excluded.absent_at IS NOT NULL"
                    " THEN coalesce(k.absent_at,"
                        " nullif(excluded.absent_at, 'infinity')) END,"
                " sent = excluded.sent,"
                " error = excluded.error, error_at = excluded.error_at,"
                " synced_at = CASE WHEN excluded.state = 'synced' THEN now()"
                    " ELSE k.synced_at END"
            " RETURNING k.user_id, k.state, k.error"
        ")"
        " " NGX_SVC_AUDIT_FAILURE(NGX_SVC_A_SCIM_USER_FAILED,
            "u.user_id::text", "NULL",
            "jsonb_build_object('targetId', t.id, 'targetName', t.name,"
                " 'error', u.error)",
            "FROM t, u JOIN o ON o.id = u.user_id"
            " WHERE u.state = 'error' AND o.state <> 'error'"),
    .nparams = 4
};


/* Whether the id $3 is a user's, or of one who is gone and not yet there. */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_owner = {
    .name = "push_owner",
    .text =
        "WITH " NGX_SVC_PUSH_LEASED("")
        ", x AS MATERIALIZED ("
            "SELECT $3::text::uuid AS id"
        ")"
        " SELECT i.user_id IS NOT NULL OR u.id IS NOT NULL,"
            " (i.done_rev < i.wanted_rev AND i.state = 'pending') IS TRUE"
        " FROM t CROSS JOIN x LEFT JOIN LATERAL ("
            NGX_SVC_PUSH_ITEM("k.*", "x.id") ") i ON true"
        " LEFT JOIN LATERAL ("
            NGX_SVC_ROW("k.id", "svc.user_account", "x.id") ") u ON true",
    .nparams = 3
};
