-- OAuth: what everybody may see of a tenant, and keys that take turns.


-- The keys that its tokens are verified with, the next one's among them: also those whose
-- last tokens may be alive.

CREATE FUNCTION svc.oauth_jwks(tenant_slug text) RETURNS TABLE (id uuid, keys json)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.id, (
        SELECT '[' || coalesce(string_agg(y.public::text, ',' ORDER BY y.active_from DESC,
                                          y.kid), '') || ']'
          FROM svc.oauth_key y
         WHERE y.tenant_id = t.id AND y.revoked_at IS NULL
           AND (y.retired_at IS NULL OR y.retired_at > now() - interval '25 hours'
                OR y.kid = g.active_kid))::json
      FROM svc.tenant t JOIN svc.oauth_tenant g ON g.tenant_id = t.id
     WHERE t.slug = tenant_slug
$$;


-- A key that is to be replaced has a retired_at, and signs until another one takes over:
-- at that time, or later.  old: those that sign, and are; next: what takes over, or NULL.

CREATE INDEX oauth_key_active_idx ON svc.oauth_key (active_from)
    WHERE retired_at IS NULL AND revoked_at IS NULL;
CREATE INDEX oauth_key_retired_idx ON svc.oauth_key (retired_at)
    WHERE retired_at IS NOT NULL AND revoked_at IS NULL;

CREATE FUNCTION svc.oauth_key_old()
    RETURNS TABLE (tenant uuid, old text, ends timestamptz, next text, due boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT y.tenant_id, y.kid, y.retired_at, n.kid, n.active_from <= now()
      FROM svc.oauth_key y
      JOIN svc.oauth_tenant g ON g.tenant_id = y.tenant_id AND g.active_kid = y.kid
      LEFT JOIN LATERAL (
        SELECT k.kid, k.active_from FROM svc.oauth_key k
         WHERE k.tenant_id = y.tenant_id AND k.kid <> y.kid
           AND k.retired_at IS NULL AND k.revoked_at IS NULL
         ORDER BY k.active_from, k.kid LIMIT 1) n ON true
     WHERE y.retired_at IS NOT NULL AND y.revoked_at IS NULL
$$;


-- Lets keys take turns: one signs for 90 days, the next one is published for a day before
-- it does, and a month after the last turn a key is forgotten: of each so many in a round,
-- those that are first.  made: keys for tenants that still need one, each with "tenant",
-- "kid", "public", and "sealed" in base64.  Returns first how many tenants need one, then
-- those, and then the tenants whose published keys are others now.

CREATE FUNCTION svc.oauth_key_turn(made json, most integer)
    RETURNS TABLE (n bigint, tenant uuid, needs boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET jit = off AS $$
DECLARE
    changed  uuid[];
    turned   uuid[];
    short    uuid[];
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('svc.oauth_key_turn')) THEN
        RETURN QUERY SELECT 0::bigint, NULL::uuid, NULL::boolean;
        RETURN;
    END IF;

    UPDATE svc.oauth_key k SET retired_at = now() + interval '1 day'
      FROM (SELECT y.tenant_id, y.kid FROM svc.oauth_key y
              JOIN svc.oauth_tenant g ON g.tenant_id = y.tenant_id AND g.active_kid = y.kid
             WHERE y.retired_at IS NULL AND y.revoked_at IS NULL
               AND y.active_from < now() - interval '89 days'
             ORDER BY y.active_from LIMIT most) o
     WHERE k.tenant_id = o.tenant_id AND k.kid = o.kid
       AND k.retired_at IS NULL AND k.revoked_at IS NULL;

    WITH i AS (
        INSERT INTO svc.oauth_key AS k (tenant_id, kid, public, sealed, active_from)
        SELECT o.tenant, m ->> 'kid', m -> 'public', decode(m ->> 'sealed', 'base64'),
               greatest(o.ends, now() + interval '23 hours')
          FROM json_array_elements(made) m
          JOIN svc.oauth_key_old() o ON o.tenant = (m ->> 'tenant')::uuid
                                    AND o.next IS NULL
         ORDER BY 1
        RETURNING k.tenant_id
    )
    SELECT array_agg(i.tenant_id) INTO changed FROM i;

    WITH o AS (
        SELECT * FROM svc.oauth_key_old() k WHERE k.due ORDER BY k.tenant LIMIT most
    ), g AS (
        UPDATE svc.oauth_tenant t SET active_kid = o.next FROM o
         WHERE t.tenant_id = o.tenant AND t.active_kid = o.old
        RETURNING t.tenant_id, o.old
    ), y AS (
        UPDATE svc.oauth_key k SET retired_at = now() FROM g
         WHERE k.tenant_id = g.tenant_id AND k.kid = g.old
        RETURNING k.tenant_id
    )
    SELECT array_agg(y.tenant_id) INTO turned FROM y;

    DELETE FROM svc.oauth_key k
     USING (SELECT y.tenant_id, y.kid FROM svc.oauth_key y
             WHERE y.retired_at < now() - interval '30 days' AND y.revoked_at IS NULL
               AND NOT EXISTS (SELECT FROM svc.oauth_tenant g
                                WHERE g.tenant_id = y.tenant_id AND g.active_kid = y.kid)
             ORDER BY y.retired_at LIMIT most) o
     WHERE k.tenant_id = o.tenant_id AND k.kid = o.kid AND k.revoked_at IS NULL;

    short := ARRAY(SELECT o.tenant FROM svc.oauth_key_old() o WHERE o.next IS NULL
                    ORDER BY 1 LIMIT most);

    RETURN QUERY
        SELECT cardinality(short)::bigint, NULL::uuid, NULL::boolean
        UNION ALL
        SELECT NULL, s, true FROM unnest(short) s
        UNION ALL
        SELECT NULL, c, false FROM unnest(changed || turned) c;
END
$$;


REVOKE ALL ON FUNCTION svc.oauth_jwks, svc.oauth_key_old, svc.oauth_key_turn FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.oauth_jwks, svc.oauth_key_turn TO svc_app;
