-- serves: 1
--
-- What is asked for all the time: functions of the helpers are planned once in a session,
-- as one in SQL is not, and what finds a session looks at no role that it need not.


-- As before; and what most often is so, that nothing is due, is found without it.

CREATE OR REPLACE FUNCTION svc.webhook_outbox_take(most integer) RETURNS TABLE (tenant_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM svc.webhook_outbox o WHERE o.due_at <= now()) THEN
        RETURN;
    END IF;

    RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT o.tenant_id, o.due_at, o.xid, o.event_id, o.pause
          FROM svc.webhook_outbox o WHERE o.due_at <= now()
         ORDER BY o.due_at LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED
    ), looked AS MATERIALIZED (
        -- a position of another cluster, of which this one is a dump, says nothing
        SELECT due.*, due.xid IS NULL OR due.xid > pg_snapshot_xmax(pg_current_snapshot())
                      OR event.id IS NOT NULL OR note.delivery_id IS NOT NULL AS busy
          FROM due LEFT JOIN LATERAL (
            SELECT e.id FROM svc.audit_event e
             WHERE e.tenant_id = due.tenant_id AND (e.xid, e.id) > (due.xid, due.event_id)
               AND e.created_at > now() - interval '2 days'
             ORDER BY e.xid, e.id LIMIT 1) event ON true
          LEFT JOIN LATERAL (
            SELECT n.delivery_id FROM svc.webhook_done n
             WHERE n.tenant_id = due.tenant_id ORDER BY n.done_at LIMIT 1) note ON true
    ), taken AS MATERIALIZED (
        SELECT l.tenant_id FROM looked l WHERE l.busy ORDER BY l.due_at
         LIMIT least(greatest(most, 0), 1000)
    ), later AS (
        UPDATE svc.webhook_outbox o
           SET due_at = clock_timestamp() + CASE WHEN l.busy THEN interval '10 s'
                                            ELSE make_interval(secs => l.pause) END,
               pause = CASE WHEN l.busy THEN 1 ELSE least(2 * l.pause, 60) END
          FROM looked l WHERE o.tenant_id = l.tenant_id
           AND (NOT l.busy OR l.tenant_id IN (SELECT t.tenant_id FROM taken t))
    )
    SELECT t.tenant_id FROM taken t;
END
$$;


-- In how many milliseconds the first tenant is due; NULL: there is none.

CREATE FUNCTION svc.webhook_outbox_rest() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off AS $$
BEGIN
    RETURN (SELECT ceil(extract(epoch FROM o.due_at - clock_timestamp()) * 1000)
              FROM svc.webhook_outbox o ORDER BY o.due_at LIMIT 1);
END
$$;

REVOKE ALL ON FUNCTION svc.webhook_outbox_rest FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.webhook_outbox_rest TO svc_app;


CREATE OR REPLACE FUNCTION svc.webhook_note(tenants uuid[], deliveries uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET jit = off AS $$
BEGIN
    INSERT INTO svc.webhook_done (tenant_id, delivery_id)
    SELECT o.tenant_id, n.id FROM unnest(tenants, deliveries) n (tenant, id)
     CROSS JOIN LATERAL (
        SELECT k.tenant_id FROM svc.webhook_outbox k
         WHERE k.tenant_id = n.tenant LIMIT 1) o
     ORDER BY o.tenant_id, n.id
    ON CONFLICT DO NOTHING;
END
$$;


-- Whether a role of the tenant grants a permission; '': any.  It is asked of roles that
-- are not the system's.

CREATE FUNCTION svc.role_grants(asked text, wanted text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM svc.role r
         WHERE r.tenant_id = greatest(current_setting('svc.tenant', true),
                                      '00000000-0000-0000-0000-000000000000')::uuid
           AND r.key = asked
           AND CASE wanted WHEN '' THEN r.permissions <> '{}'
                               ELSE wanted = ANY (r.permissions) END);
END
$$;

REVOKE ALL ON FUNCTION svc.role_grants(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.role_grants(text, text) TO svc_app;


-- The same functions as before, planned once: of keys three times in two seconds, and of
-- what each page of sign-in begins with.

CREATE OR REPLACE FUNCTION svc.oauth_key_old()
    RETURNS TABLE (tenant uuid, old text, ends timestamptz, next text, due boolean)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT y.tenant_id, y.kid::text, y.retired_at::timestamptz, n.kid::text,
           n.active_from <= now()
      FROM svc.oauth_key y
      JOIN svc.oauth_tenant g ON g.tenant_id = y.tenant_id AND g.active_kid = y.kid
      LEFT JOIN LATERAL (
        SELECT k.kid, k.active_from FROM svc.oauth_key k
         WHERE k.tenant_id = y.tenant_id AND k.kid <> y.kid
           AND k.retired_at IS NULL AND k.revoked_at IS NULL
         ORDER BY k.active_from, k.kid LIMIT 1) n ON true
     WHERE y.retired_at IS NOT NULL AND y.revoked_at IS NULL;
END
$$;

CREATE OR REPLACE FUNCTION svc.public_tenant(name_or_domain text)
    RETURNS TABLE (id uuid, slug text, name text, branding jsonb, allow_signup boolean,
                   allow_passwordless boolean, logo_etag text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant  uuid;
BEGIN
    IF strpos(name_or_domain, '.') > 0 THEN
        SELECT d.tenant_id INTO tenant FROM svc.domain d
         WHERE d.domain = name_or_domain AND d.verified_at IS NOT NULL;
    ELSE
        SELECT s.id INTO tenant FROM svc.tenant s WHERE s.slug = name_or_domain;
    END IF;

    RETURN QUERY
    SELECT t.id, t.slug, t.name,
           (SELECT coalesce(jsonb_object_agg(b.key, b.value), '{}')
              FROM jsonb_each(t.branding) b
             WHERE b.key IN ('primary', 'primaryHover', 'primaryFg', 'bg', 'surface', 'fg',
                             'muted', 'border', 'danger', 'radius')),
           t.branding -> 'allowSelfSignup' IS NOT DISTINCT FROM 'true',
           t.branding -> 'allowPasswordless' IS NOT DISTINCT FROM 'true', t.logo_etag
      FROM svc.tenant t WHERE t.id = tenant;
END
$$;
