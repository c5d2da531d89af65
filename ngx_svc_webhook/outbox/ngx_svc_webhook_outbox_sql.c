/*
 * The outbox of events: its statements.
 */

#include "ngx_svc_webhook_outbox_sql.h"
#include "ngx_svc_webhook_event.h"

#include "ngx_svc_sql.h"


/* SQL: from then on an event is not of interest any more. */
#define NGX_SVC_WEBHOOK_EXPIRED  "now() - interval '1 day'"

/*
 * SQL: an audit event's target, if it is an id: another one stops nobody.  As a
 * column: below a policy a cast keeps an index from being used.
 */
#define NGX_SVC_WEBHOOK_OUTBOX_USER                                           \
    "CASE WHEN q.target_id"                                                   \
        " ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"                    \
        " THEN q.target_id::uuid END"


const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_outbox_take = {
    .name = "webhook_outbox_take",
    .text = "SELECT tenant_id FROM svc.webhook_outbox_take($1)",
    .nparams = 1
};

const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_outbox_rest = {
    .name = "webhook_outbox_rest",
    .text = "SELECT svc.webhook_outbox_rest()"
};


/*
 * o: where the look begins; w: what the endpoints take, and since when; r, e:
 * the next audit events, fewer with many endpoints; d, i: deliveries of them; q:
 * those that have not ended; f: the first event that holds up the others; l: the
 * last one before it; c: the deliveries to be queued; n: how to go on, and when
 * the oldest event was that is of interest; t: the last one that was looked at.
 *
 * An older transaction than the last one looked at may still commit: the log
 * has been followed up to the last event that is final.
 *
 * Notes are as old as their events, at least: with no older event left that is
 * of interest they can go.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_outbox_look = {
    .name = "webhook_outbox_look",
    .text =
        "WITH o AS MATERIALIZED ("
            "SELECT CASE WHEN s.here THEN k.xid ELSE s.xmin END AS xid,"
                " CASE WHEN s.here THEN k.event_id ELSE 0 END AS event_id,"
                " s.here AND k.next_xid IS NOT NULL AS again,"
                " CASE WHEN s.here THEN coalesce(k.next_xid, k.xid)"
                    " ELSE s.xmin END AS next_xid,"
                " CASE WHEN s.here THEN coalesce(k.next_id, k.event_id)"
                    " ELSE 0 END AS next_id"
            " FROM svc.webhook_outbox k CROSS JOIN LATERAL ("
                "SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin,"
                    " k.xid <= pg_snapshot_xmax(pg_current_snapshot()) IS TRUE"
                        " AS here) s"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
            " FOR NO KEY UPDATE OF k"
        "), w AS MATERIALIZED ("
            "SELECT k.id, n.event,"
                " coalesce(k.since[n.i], k.created_at) AS since"
            " FROM svc.webhook_endpoint k"
                " CROSS JOIN unnest(k.events) WITH ORDINALITY n (event, i)"
            " WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.enabled"
        "), r AS MATERIALIZED ("
            "SELECT a.xid, a.id, a.created_at, a.action, a.target_id,"
                " a.xid < pg_snapshot_xmin(pg_current_snapshot()) AS final"
            " FROM svc.audit_event a WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND (a.xid, a.id) > ((SELECT o.next_xid FROM o),"
                    " (SELECT o.next_id FROM o))"
                " AND a.created_at > now() - interval '2 days'"
            " ORDER BY a.xid, a.id"
            " LIMIT " ngx_value(NGX_SVC_WEBHOOK_OUTBOX_PAGE)
        "), e AS MATERIALIZED ("
            "SELECT r.xid, r.id, r.created_at, r.action, r.target_id, r.final"
            " FROM (SELECT r.*, count(*) FILTER (WHERE r.action IN"
                    " (SELECT w.event FROM w)) OVER (ORDER BY r.xid, r.id)"
                " AS nth FROM r) r"
            " WHERE r.nth <= (SELECT greatest("
                ngx_value(NGX_SVC_WEBHOOK_OUTBOX_PAGE)
                " / greatest(count(DISTINCT w.id), 1), 20) FROM w)"
            " ORDER BY r.xid, r.id"
        "), d AS MATERIALIZED ("
            "SELECT e.*, w.id AS endpoint_id, "
                NGX_SVC_WEBHOOK_EVENT_ID("(" NGX_SVC_TENANT ")::text",
                    "e.action", "e.id::text", "e.target_id") " AS event"
            " FROM e JOIN w ON w.event = e.action AND w.since <= e.created_at"
            " WHERE e.action IN ('user.created', 'user.login', 'user.deleted')"
                " AND e.final"
        "), i AS MATERIALIZED ("
            "SELECT d.*, "
                NGX_SVC_WEBHOOK_DELIVERY_ID("d.event", "d.endpoint_id::text")
                " AS delivery"
            " FROM d"
        "), h AS MATERIALIZED ("
            "SELECT i.*, i.delivery::uuid AS note FROM i"
        "), q AS MATERIALIZED ("
            "SELECT i.*, i.created_at <= " NGX_SVC_WEBHOOK_EXPIRED " AS expired"
            " FROM h i LEFT JOIN LATERAL ("
                "SELECT k.delivery_id FROM svc.webhook_done k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.delivery_id BETWEEN i.note AND i.note"
                " ORDER BY k.delivery_id LIMIT 1) n ON true"
            " WHERE n.delivery_id IS NULL"
        "), f AS MATERIALIZED ("
            "SELECT h.xid, h.id FROM ("
                "SELECT e.xid, e.id FROM e WHERE NOT e.final"
                " UNION ALL SELECT q.xid, q.id FROM q WHERE NOT q.expired) h"
            " ORDER BY h.xid, h.id LIMIT 1"
        "), l AS MATERIALIZED ("
            "SELECT e.xid, e.id FROM e LEFT JOIN f ON true"
            " WHERE f.xid IS NULL OR (e.xid, e.id) < (f.xid, f.id)"
            " ORDER BY e.xid DESC, e.id DESC LIMIT 1"
        "), c AS MATERIALIZED ("
            "SELECT q.*, " NGX_SVC_WEBHOOK_OUTBOX_USER " AS user_id"
            " FROM q WHERE NOT q.expired"
                " AND q.created_at <= now() - $1::int4 * interval '1 ms'"
            " ORDER BY q.xid, q.id"
            " LIMIT " ngx_value(NGX_SVC_WEBHOOK_OUTBOX_MOST)
        "), n AS MATERIALIZED ("
            "SELECT (SELECT count(*) FROM r) = "
                    ngx_value(NGX_SVC_WEBHOOK_OUTBOX_PAGE)
                    " OR (SELECT count(*) FROM r) > count(*) AS full,"
                " (SELECT count(*) = " ngx_value(NGX_SVC_WEBHOOK_OUTBOX_MOST)
                    " FROM c) AS many,"
                " coalesce(min(e.created_at) FILTER (WHERE l.xid IS NULL"
                    " OR (e.xid, e.id) > (l.xid, l.id)), now()) AS since"
            " FROM e LEFT JOIN l ON true"
        "), t AS MATERIALIZED ("
            "SELECT e.xid, e.id FROM e CROSS JOIN n WHERE NOT n.many OR (e.xid,"
                " e.id) < (SELECT c.xid, c.id FROM c"
                    " ORDER BY c.xid DESC, c.id DESC LIMIT 1)"
            " ORDER BY e.xid DESC, e.id DESC LIMIT 1"
        "), u AS ("
            "UPDATE svc.webhook_outbox k"
            " SET xid = CASE WHEN o.again THEN o.xid"
                    " ELSE coalesce(l.xid, o.xid) END,"
                " event_id = CASE WHEN o.again THEN o.event_id"
                    " ELSE coalesce(l.id, o.event_id) END,"
                " next_xid = CASE WHEN (n.full OR n.many)"
                    " AND (o.again OR f.xid IS NOT NULL) THEN t.xid END,"
                " next_id = CASE WHEN (n.full OR n.many)"
                    " AND (o.again OR f.xid IS NOT NULL) THEN t.id END,"
                " due_at = clock_timestamp() + CASE WHEN n.many"
                    " THEN interval '500 ms' WHEN n.full"
                    " THEN interval '100 ms' ELSE interval '1 s' END"
            " FROM o CROSS JOIN n LEFT JOIN l ON true LEFT JOIN f ON true"
                " LEFT JOIN t ON true"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
        "), g AS ("
            "DELETE FROM svc.webhook_done k USING o, n"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND NOT o.again AND NOT n.full"
                " AND k.delivery_id = ANY (ARRAY("
                    "SELECT b.delivery_id FROM svc.webhook_done b"
                    " WHERE b.tenant_id = " NGX_SVC_TENANT
                        " AND b.done_at < (SELECT n.since FROM n)"
                    " ORDER BY b.done_at LIMIT 5000))"
        ")"
        " SELECT CASE WHEN o.again THEN 0 ELSE (SELECT count(*) FROM q"
                " CROSS JOIN l WHERE q.expired"
                    " AND (q.xid, q.id) <= (l.xid, l.id)) END,"
            " c.delivery, c.event, c.endpoint_id, c.action, c.target_id,"
            " m.user_name, c.created_at"
        " FROM o LEFT JOIN c ON true LEFT JOIN LATERAL ("
            NGX_SVC_ROW("k.user_name", "svc.user_account", "c.user_id")
        ") m ON c.action = 'user.created'"
        " ORDER BY c.xid, c.id",
    .nparams = 1
};


