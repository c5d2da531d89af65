/*
 * Outbound SCIM: the statements by which the helper finds who is to be pushed.
 */

#include "ngx_svc_push_sql_log.h"
#include "ngx_svc_push_sql_scope.h"

#include "ngx_svc_audit.h"


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

#define NGX_SVC_PUSH_GROUP_EVENT                                              \
    "e.action = " NGX_SVC_A_GROUP_DELETED(NGX_SVC_AUDIT_NAME)

/* An agent is an application, with a switch of its own. */

#define NGX_SVC_PUSH_CLIENT_EVENT                                             \
    "e.action IN ("                                                           \
        NGX_SVC_A_APPLICATION_UPDATED(NGX_SVC_AUDIT_NAME) ", "                \
        NGX_SVC_A_AGENT_POLICY_UPDATED(NGX_SVC_AUDIT_NAME) ", "               \
        NGX_SVC_A_AGENT_POLICY_RESET(NGX_SVC_AUDIT_NAME) ")"

/*
 * SQL: the id that an event is of, or NULL: one that is none stops nobody.  One
 * regular expression would say the same for more than twice the price.
 */

#define NGX_SVC_PUSH_EVENT_ID                                                 \
    "CASE WHEN e.target_id LIKE '________-____-____-____-____________'"       \
        " AND e.target_id NOT LIKE '%-%-%-%-%-%'"                             \
        " AND e.target_id !~ '[^0-9a-f-]'"                                    \
        " THEN e.target_id::uuid END"

/* SQL: an event names but the first of many; list: where. */

#define NGX_SVC_PUSH_MORE(list)                                               \
    "(e.details->>'count')::int8"                                             \
        " > jsonb_array_length(e.details->'" list "')"

/*
 * SQL: the events behind ($3, $4), which is of the time $5, in their order.  A
 * transaction may be older than the event before it: by a week.  None is of the
 * future, so that partitions of months to come are not looked at.
 */

#define NGX_SVC_PUSH_BEHIND                                                   \
    " FROM svc.audit_event e WHERE e.tenant_id = " NGX_SVC_TENANT             \
        " AND (e.xid, e.id) > ($3::text::xid8, $4::text::int8)"               \
        " AND e.created_at > $5::text::timestamptz - interval '7 days'"       \
        " AND e.created_at < CURRENT_TIMESTAMP + interval '7 days'"


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
                    " OR " NGX_SVC_PUSH_GROUP_EVENT
                    " OR " NGX_SVC_PUSH_CLIENT_EVENT ") AS relevant"
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
            " list_next = CASE WHEN t.xid IS NULL OR "
                NGX_SVC_PUSH_SYNC("t") " = 'queued' THEN 1 END,"
            " sync_was = CASE t.sync_was WHEN 'queued' THEN 'running'"
                " ELSE t.sync_was END,"
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
                " e.details, " NGX_SVC_PUSH_EVENT_ID " AS subject"
            NGX_SVC_PUSH_BEHIND
            " AND e.xid < pg_snapshot_xmin(pg_current_snapshot())"
            " ORDER BY e.xid, e.id LIMIT " ngx_value(NGX_SVC_PUSH_EVENTS)
        "), g AS MATERIALIZED ("
            "SELECT e.details FROM e CROSS JOIN a"
            " WHERE " NGX_SVC_PUSH_MEMBER_EVENT
                " AND a.assignment = 'groups'"
                " AND " NGX_SVC_PUSH_ASSIGNED("e.subject")
        "), i AS MATERIALIZED ("
            "SELECT e.subject AS id FROM e"
            " WHERE " NGX_SVC_PUSH_USER_EVENT " AND e.subject IS NOT NULL"
            " UNION SELECT u.id::uuid FROM g CROSS JOIN LATERAL"
                " jsonb_array_elements_text(g.details->'userIds') u (id)"
        "), x AS MATERIALIZED ("
            "SELECT EXISTS (SELECT FROM g e WHERE "
                    NGX_SVC_PUSH_MORE("userIds") ")"
                " OR EXISTS (SELECT FROM e CROSS JOIN a"
                    " WHERE " NGX_SVC_PUSH_APP_EVENT
                        " AND (e.details->'clientIds' ? a.client_id"
                            " OR " NGX_SVC_PUSH_MORE("clientIds") ")"
                    " OR " NGX_SVC_PUSH_GROUP_EVENT
                        " AND a.assignment = 'groups'"
                    " OR " NGX_SVC_PUSH_CLIENT_EVENT
                        " AND e.target_id = a.client_id"
                        " AND e.details->'changed'"
                            " ?| '{enabled,assignment}'::text[]"
                ") AS look"
        "), " NGX_SVC_PUSH_WANTED("")
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
        "), " NGX_SVC_PUSH_WANTED("")
        ", " NGX_SVC_PUSH_MARK("(" NGX_SVC_PUSH_SYNC("t")
            " IS NOT DISTINCT FROM 'running')")
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
