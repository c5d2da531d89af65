/*
 * Outbound SCIM: the statements of the helper.
 */

#include "ngx_svc_push_sql.h"

#include "ngx_svc_audit.h"
#include "ngx_svc_sql.h"


#define NGX_SVC_PUSH_NOBODY  "'00000000-0000-0000-0000-000000000000'::uuid"

/* SQL: the target, as long as the helper has it; lock: how, or "". */

#define NGX_SVC_PUSH_LEASED(lock)                                             \
    "t AS MATERIALIZED ("                                                     \
        "SELECT k.* FROM svc.scim_target k"                                   \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.id BETWEEN $1::text::uuid AND $1::text::uuid"             \
            " AND k.lease_by = $2"                                            \
        " ORDER BY k.id LIMIT 1" lock                                         \
    ")"

/* SQL: its application. */

#define NGX_SVC_PUSH_APPLICATION                                              \
    "a AS MATERIALIZED ("                                                     \
        "SELECT a.* FROM t CROSS JOIN LATERAL ("                              \
            "SELECT k.client_id, k.enabled, k.assignment"                     \
            " FROM svc.application k WHERE k.tenant_id = " NGX_SVC_TENANT     \
                " AND k.client_id BETWEEN t.client_id AND t.client_id"        \
            " ORDER BY k.client_id LIMIT 1) a"                                \
    ")"

/* SQL: whether a group is assigned to "a"; id: its. */

#define NGX_SVC_PUSH_ASSIGNED(id)                                             \
    "EXISTS (SELECT FROM svc.group_app k"                                     \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND (k.client_id, k.group_id) BETWEEN"                          \
                " (a.client_id, " id ") AND (a.client_id, " id ")"            \
        " ORDER BY k.client_id, k.group_id LIMIT 1)"

/*
 * SQL: w: how the users "i" are to be: not active, and no more is told of them
 * than that, out of the application's scope.
 */

#define NGX_SVC_PUSH_WANTED                                                   \
    "v AS MATERIALIZED ("                                                     \
        "SELECT i.id AS user_id, u.id IS NULL AS gone,"                       \
            " u.user_name, u.display_name, u.first_name, u.last_name,"        \
            " u.title, u.locale, u.department,"                               \
            " u.status = 'active' AND a.enabled"                              \
                " AND (a.assignment = 'everyone' OR EXISTS ("                 \
                    "SELECT FROM (SELECT k.group_id FROM svc.group_member k"  \
                        " WHERE k.tenant_id = " NGX_SVC_TENANT                \
                            " AND k.user_id BETWEEN u.id AND u.id"            \
                        " ORDER BY k.user_id OFFSET 0) n"                     \
                    " WHERE " NGX_SVC_PUSH_ASSIGNED("n.group_id") ")"         \
                ") IS TRUE AS active"                                         \
        " FROM a CROSS JOIN i LEFT JOIN LATERAL ("                            \
            NGX_SVC_ROW("k.*", "svc.user_account", "i.id") ") u ON true"      \
    "), w AS MATERIALIZED ("                                                  \
        "SELECT v.*, CASE WHEN v.gone THEN NULL"                              \
            " WHEN v.active IS NOT TRUE THEN sha256('')"                      \
            " ELSE sha256(convert_to(jsonb_build_array(v.user_name,"          \
                " v.display_name, v.first_name, v.last_name, v.title,"        \
                " v.locale, v.department)::text, 'UTF8')) END AS hash"        \
        " FROM v"                                                             \
    ")"

/*
 * SQL: m: they are marked, unless the target has them already, or has never
 * heard of them and need not; compare: whether it is to be read there.
 */

#define NGX_SVC_PUSH_MARK(compare)                                            \
    "m AS ("                                                                  \
        "INSERT INTO svc.scim_item AS n"                                      \
            " (target_id, user_id, priority, compare)"                        \
        " SELECT t.id, w.user_id, CASE WHEN w.active THEN 1 ELSE 0 END, "     \
            compare                                                           \
        " FROM t CROSS JOIN w LEFT JOIN LATERAL ("                            \
            "SELECT k.* FROM svc.scim_item k"                                 \
            " WHERE k.tenant_id = " NGX_SVC_TENANT                            \
                " AND (k.target_id, k.user_id) BETWEEN"                       \
                    " (t.id, w.user_id) AND (t.id, w.user_id)"                \
            " ORDER BY k.target_id, k.user_id LIMIT 1) o ON true"             \
        " WHERE CASE WHEN o.user_id IS NULL THEN w.active"                    \
            " WHEN " compare " AND (w.active OR o.remote_id IS NOT NULL)"     \
            " THEN true"                                                      \
            " ELSE o.done_rev < o.wanted_rev"                                 \
                " OR o.remote_hash IS DISTINCT FROM w.hash END"               \
        " ON CONFLICT (tenant_id, target_id, user_id) DO UPDATE"              \
            " SET wanted_rev = n.wanted_rev + 1,"                             \
                " priority = excluded.priority, next_at = now(),"             \
                " attempts = 0, state = 'pending',"                           \
                " compare = n.compare OR excluded.compare"                    \
        " RETURNING 1"                                                        \
    ")"

/* SQL: events that may change who is wanted, and how; e: an event. */

#define NGX_SVC_PUSH_USER_EVENT                                               \
    "e.action IN ("                                                           \
        NGX_SVC_A_USER_CREATED(NGX_SVC_AUDIT_NAME) ", "                       \
        NGX_SVC_A_USER_UPDATED(NGX_SVC_AUDIT_NAME) ", "                       \
        NGX_SVC_A_USER_SUSPENDED(NGX_SVC_AUDIT_NAME) ", "                     \
        NGX_SVC_A_USER_REACTIVATED(NGX_SVC_AUDIT_NAME) ", "                   \
        NGX_SVC_A_USER_DEACTIVATED(NGX_SVC_AUDIT_NAME) ", "                   \
        NGX_SVC_A_USER_DELETED(NGX_SVC_AUDIT_NAME) ", "                       \
        NGX_SVC_A_EMAIL_CHANGED(NGX_SVC_AUDIT_NAME) ")"

#define NGX_SVC_PUSH_MEMBER_EVENT                                             \
    "e.action IN ("                                                           \
        NGX_SVC_A_MEMBER_ADDED(NGX_SVC_AUDIT_NAME) ", "                       \
        NGX_SVC_A_MEMBER_REMOVED(NGX_SVC_AUDIT_NAME) ")"

#define NGX_SVC_PUSH_APP_EVENT                                                \
    "e.action IN ("                                                           \
        NGX_SVC_A_GROUP_APP_ADDED(NGX_SVC_AUDIT_NAME) ", "                    \
        NGX_SVC_A_GROUP_APP_REMOVED(NGX_SVC_AUDIT_NAME) ")"

#define NGX_SVC_PUSH_OTHER_EVENT                                              \
    "e.action IN ("                                                           \
        NGX_SVC_A_GROUP_DELETED(NGX_SVC_AUDIT_NAME) ", "                      \
        NGX_SVC_A_APPLICATION_UPDATED(NGX_SVC_AUDIT_NAME) ")"

/* SQL: the id that an event is of, or NULL: one that is none stops nobody. */

#define NGX_SVC_PUSH_EVENT_ID                                                 \
    "CASE WHEN e.target_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"   \
        " THEN e.target_id::uuid END"

/* SQL: an event names but the first of many; list: where. */

#define NGX_SVC_PUSH_MORE(list)                                               \
    "(e.details->>'count')::int8"                                             \
        " > jsonb_array_length(e.details->'" list "')"

/*
 * SQL: the events behind ($3, $4), which is of the time $5, in their order.  A
 * transaction may be older than the event before it: by a week.
 */

#define NGX_SVC_PUSH_BEHIND                                                   \
    " FROM svc.audit_event e WHERE e.tenant_id = " NGX_SVC_TENANT             \
        " AND (e.xid, e.id) > ($3::text::xid8, $4::text::int8)"               \
        " AND e.created_at > $5::text::timestamptz - interval '7 days'"


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
            " t.sync_status, t.sync_next IS NOT NULL,"
            " CASE WHEN t.test_id IS DISTINCT FROM t.test_done"
                " THEN t.test_id END,"
            " ceil(extract(epoch FROM d.next_at - clock_timestamp()) * 1000),"
            " t.sync_status = 'running' AND EXISTS ("
                "SELECT FROM svc.scim_item k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.target_id BETWEEN t.id AND t.id"
                    " AND k.done_rev < k.wanted_rev"
                    " AND (k.compare OR k.priority = 0)"
                    " AND k.state = 'pending' AND k.attempts < 5"
                " ORDER BY k.target_id, k.priority, k.next_at LIMIT 1),"
            " (t.last_error IS NOT NULL"
                " OR t.sync_status IS NOT DISTINCT FROM 'failing')"
        " FROM t CROSS JOIN LATERAL ("
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


/* What there is in the log: most of it is of no interest. */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_log = {
    .name = "push_log",
    .text =
        "WITH e AS MATERIALIZED ("
            "SELECT e.xid, e.id, e.created_at,"
                " e.xid < pg_snapshot_xmin(pg_current_snapshot()) AS final,"
                " (" NGX_SVC_PUSH_USER_EVENT
                    " OR " NGX_SVC_PUSH_MEMBER_EVENT
                    " OR " NGX_SVC_PUSH_APP_EVENT
                    " OR " NGX_SVC_PUSH_OTHER_EVENT ") AS relevant"
            NGX_SVC_PUSH_BEHIND
            " AND $1::text <> $2::text"
            " ORDER BY e.xid, e.id LIMIT " ngx_value(NGX_SVC_PUSH_LOG)
        "), l AS ("
            "SELECT e.* FROM e WHERE e.final"
            " ORDER BY e.xid DESC, e.id DESC LIMIT 1"
        ")"
        " SELECT (SELECT count(*) FROM e),"
            " (SELECT count(*) FROM e WHERE e.final),"
            " (SELECT bool_or(e.relevant) FROM e WHERE e.final),"
            " l.xid, l.id, l.created_at"
        " FROM (VALUES (1)) o LEFT JOIN l ON true",
    .nparams = 5
};


/* A look at all users begins; the log is followed from before it on. */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_begin = {
    .name = "push_begin",
    .text =
        "UPDATE svc.scim_target t"
        " SET xid = pg_snapshot_xmin(pg_current_snapshot()), event_id = 0,"
            " event_at = now(), sync_next = " NGX_SVC_PUSH_NOBODY ","
            " sync_again = false,"
            " sync_status = CASE t.sync_status WHEN 'queued' THEN 'running'"
                " ELSE t.sync_status END"
        " WHERE t.tenant_id = " NGX_SVC_TENANT " AND t.id = $1::text::uuid"
            " AND t.lease_by = $2",
    .nparams = 2
};


/* The users that the next events name are marked; or all are looked at. */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_follow = {
    .name = "push_follow",
    .text =
        "WITH " NGX_SVC_PUSH_LEASED(" FOR NO KEY UPDATE")
        ", " NGX_SVC_PUSH_APPLICATION
        ", e AS MATERIALIZED ("
            "SELECT e.xid, e.id, e.created_at, e.action, e.target_id,"
                " e.details"
            NGX_SVC_PUSH_BEHIND
            " AND e.xid < pg_snapshot_xmin(pg_current_snapshot())"
            " ORDER BY e.xid, e.id LIMIT " ngx_value(NGX_SVC_PUSH_EVENTS)
        "), g AS MATERIALIZED ("
            "SELECT e.details FROM e CROSS JOIN a"
            " WHERE " NGX_SVC_PUSH_MEMBER_EVENT
                " AND a.assignment = 'groups'"
                " AND " NGX_SVC_PUSH_ASSIGNED(NGX_SVC_PUSH_EVENT_ID)
        "), i AS MATERIALIZED ("
            "SELECT " NGX_SVC_PUSH_EVENT_ID " AS id FROM e"
            " WHERE " NGX_SVC_PUSH_USER_EVENT
                " AND " NGX_SVC_PUSH_EVENT_ID " IS NOT NULL"
            " UNION SELECT u.id::uuid FROM g CROSS JOIN LATERAL"
                " jsonb_array_elements_text(g.details->'userIds') u (id)"
        "), x AS MATERIALIZED ("
            "SELECT EXISTS (SELECT FROM g e WHERE "
                    NGX_SVC_PUSH_MORE("userIds") ")"
                " OR EXISTS (SELECT FROM e CROSS JOIN a"
                    " WHERE " NGX_SVC_PUSH_APP_EVENT
                        " AND (e.details->'clientIds' ? a.client_id"
                            " OR " NGX_SVC_PUSH_MORE("clientIds") ")"
                    " OR e.action = "
                            NGX_SVC_A_GROUP_DELETED(NGX_SVC_AUDIT_NAME)
                        " AND a.assignment = 'groups'"
                    " OR e.action = "
                            NGX_SVC_A_APPLICATION_UPDATED(NGX_SVC_AUDIT_NAME)
                        " AND e.target_id = a.client_id"
                        " AND e.details->'changed'"
                            " ?| '{enabled,assignment}'::text[]"
                ") AS look"
        "), " NGX_SVC_PUSH_WANTED
        ", " NGX_SVC_PUSH_MARK("false")
        ", l AS ("
            "SELECT e.* FROM e ORDER BY e.xid DESC, e.id DESC LIMIT 1"
        "), s AS ("
            "UPDATE svc.scim_target k SET xid = l.xid, event_id = l.id,"
                " event_at = l.created_at,"
                " sync_next = CASE WHEN x.look THEN coalesce(k.sync_next, "
                    NGX_SVC_PUSH_NOBODY ") ELSE k.sync_next END,"
                " sync_again = k.sync_again"
                    " OR x.look AND k.sync_next IS NOT NULL"
            " FROM t, l, x WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.id = t.id AND k.xid IS NOT NULL"
            " RETURNING k.xid, k.event_id, k.event_at,"
                " k.sync_next IS NOT NULL AS looking"
        ")"
        " SELECT s.xid, s.event_id, s.event_at, s.looking,"
            " (SELECT count(*) FROM m), (SELECT count(*) FROM e) FROM s",
    .nparams = 5
};


/* One page: of users, and of items, whose user may be gone. */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_look = {
    .name = "push_look",
    .text =
        "WITH " NGX_SVC_PUSH_LEASED(" FOR NO KEY UPDATE")
        ", " NGX_SVC_PUSH_APPLICATION
        ", i AS MATERIALIZED ("
            "SELECT p.id FROM (("
                "SELECT k.id FROM svc.user_account k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.id > (SELECT t.sync_next FROM t)"
                " ORDER BY k.id LIMIT " ngx_value(NGX_SVC_PUSH_PAGE)
            ") UNION ("
                "SELECT k.user_id FROM svc.scim_item k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND (k.target_id, k.user_id)"
                        " > (SELECT t.id, t.sync_next FROM t)"
                    " AND k.target_id <= (SELECT t.id FROM t)"
                " ORDER BY k.target_id, k.user_id LIMIT "
                    ngx_value(NGX_SVC_PUSH_PAGE)
            ")) p ORDER BY p.id LIMIT " ngx_value(NGX_SVC_PUSH_PAGE)
        "), " NGX_SVC_PUSH_WANTED
        ", " NGX_SVC_PUSH_MARK("(t.sync_status IS NOT DISTINCT FROM 'running')")
        ", n AS ("
            "SELECT count(*) AS n, (array_agg(i.id ORDER BY i.id DESC))[1]"
                " AS last FROM i"
        "), s AS ("
            "UPDATE svc.scim_target k SET"
                " sync_next = CASE WHEN n.n = " ngx_value(NGX_SVC_PUSH_PAGE)
                    " THEN n.last"
                    " WHEN k.sync_again THEN " NGX_SVC_PUSH_NOBODY " END,"
                " sync_again = k.sync_again"
                    " AND n.n = " ngx_value(NGX_SVC_PUSH_PAGE)
            " FROM t, n WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.id = t.id AND k.sync_next IS NOT NULL"
            " RETURNING k.sync_next IS NOT NULL AS looking"
        ")"
        " SELECT s.looking, (SELECT count(*) FROM m) FROM s",
    .nparams = 2
};


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
        "), " NGX_SVC_PUSH_WANTED
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
            " r.department"
        " FROM b LEFT JOIN r ON true ORDER BY r.priority, r.next_at",
    .nparams = 5
};


/*
 * What came of pushes, by the version of the target that was pushed to.  A mark
 * that has been made meanwhile stays; who is gone here goes when the target
 * knows.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_record = {
    .name = "push_record",
    .text =
        "WITH " NGX_SVC_PUSH_LEASED(" FOR NO KEY UPDATE")
        ", r AS MATERIALIZED ("
            "SELECT r.* FROM t CROSS JOIN"
                " json_to_recordset($3::text::json) AS r (id uuid,"
                " rev int8, done boolean, failed boolean, gone boolean,"
                " remote text, hash text, active boolean, tries integer,"
                " delay int8, error text)"
            " WHERE t.version = $4::int4"
        "), d AS ("
            "DELETE FROM svc.scim_item k USING t, r"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.target_id = t.id AND k.user_id = r.id"
                " AND r.done AND r.gone"
        "), o AS MATERIALIZED ("
            "SELECT r.id, o.state FROM t CROSS JOIN r CROSS JOIN LATERAL ("
                "SELECT k.state FROM svc.scim_item k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND (k.target_id, k.user_id) BETWEEN"
                        " (t.id, r.id) AND (t.id, r.id)"
                " ORDER BY k.target_id, k.user_id LIMIT 1) o"
        "), u AS ("
            "UPDATE svc.scim_item k SET"
                " done_rev = CASE WHEN r.done THEN r.rev"
                    " ELSE k.done_rev END,"
                " compare = k.compare"
                    " AND NOT (r.done AND k.wanted_rev = r.rev),"
                " remote_id = r.remote,"
                " remote_hash = decode(r.hash, 'hex'),"
                " remote_active = r.active,"
                " state = CASE WHEN k.wanted_rev > r.rev THEN 'pending'"
                    " WHEN r.done THEN 'synced' WHEN r.failed THEN 'error'"
                    " ELSE k.state END,"
                " next_at = CASE WHEN k.wanted_rev > r.rev"
                    " AND (r.done OR r.failed) THEN k.next_at"
                    " ELSE now() + r.delay * interval '1 ms' END,"
                " attempts = CASE WHEN r.done OR k.wanted_rev > r.rev THEN 0"
                    " ELSE r.tries END,"
                " error = r.error,"
                " error_at = CASE WHEN r.error IS NOT NULL THEN now() END,"
                " synced_at = CASE WHEN r.done THEN now()"
                    " ELSE k.synced_at END"
            " FROM t, r WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.target_id = t.id AND k.user_id = r.id"
                " AND NOT (r.done AND r.gone)"
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


/*
 * $3: ms, not before; NULL: at once.  $4: 401 and 403 in a row; $5: the error,
 * or NULL.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_push_state = {
    .name = "push_state",
    .text =
        "UPDATE svc.scim_target t SET"
            " next_at = now() + $3::text::int8 * interval '1 ms',"
            " failures = $4::int4, last_error = $5,"
            " sync_status = CASE WHEN $4::int4 > 0 THEN 'failing'"
                " WHEN t.sync_status = 'failing' THEN 'running'"
                " ELSE t.sync_status END,"
            " sync_at = CASE WHEN $4::int4 > 0 THEN now() ELSE t.sync_at END"
        " WHERE t.tenant_id = " NGX_SVC_TENANT " AND t.id = $1::text::uuid"
            " AND t.lease_by = $2 AND t.version = $6::int4",
    .nparams = 6
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

const ngx_svc_pg_statement_t  ngx_svc_sql_push_tested = {
    .name = "push_tested",
    .text =
        "UPDATE svc.scim_target t SET test_done = $3::text::uuid,"
            " test_status = nullif($4::int4, 0), test_patch = $5::bool,"
            " test_error = $6"
        " WHERE t.tenant_id = " NGX_SVC_TENANT " AND t.id = $1::text::uuid"
            " AND t.lease_by = $2",
    .nparams = 6
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
            " sync_at = CASE WHEN $3::bool THEN now() ELSE t.sync_at END,"
            " sync_confirm = t.sync_confirm AND NOT $3::bool"
        " FROM c WHERE t.tenant_id = " NGX_SVC_TENANT
            " AND t.id = $1::text::uuid AND t.lease_by = $2"
            " AND (NOT $3::bool OR t.sync_status = 'running')",
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


ngx_svc_pg_statements_t  ngx_svc_push_statements[] = {
    &ngx_svc_sql_push_claim,
    &ngx_svc_sql_push_release,
    &ngx_svc_sql_push_poll,
    &ngx_svc_sql_push_log,
    &ngx_svc_sql_push_begin,
    &ngx_svc_sql_push_follow,
    &ngx_svc_sql_push_look,
    &ngx_svc_sql_push_take,
    &ngx_svc_sql_push_record,
    &ngx_svc_sql_push_state,
    &ngx_svc_sql_push_config,
    &ngx_svc_sql_push_tested,
    &ngx_svc_sql_push_count,
    &ngx_svc_sql_push_hold,
    &ngx_svc_sql_push_keep,
    NULL
};
