-- serves: 1
--
-- RSA keys beside those of P-256: which one signs is said by the application.  Modules of
-- before sign with P-256 for all, and never hear of the others.


ALTER TABLE svc.oauth_key
    ADD COLUMN alg text COLLATE "C" NOT NULL DEFAULT 'ES256',
    ADD CONSTRAINT oauth_key_alg_check CHECK (alg IN ('ES256', 'RS256'));

ALTER TABLE svc.oauth_tenant
    ADD COLUMN active_rsa_kid text COLLATE "C";               -- beside active_kid

GRANT UPDATE (active_rsa_kid) ON svc.oauth_tenant TO svc_app;


-- What a statement reads is one column of a row that it reads anyhow.

ALTER TABLE svc.application
    ADD COLUMN active_rsa_kid text COLLATE "C",               -- as active_kid
    ADD COLUMN signing_kid text COLLATE "C" GENERATED ALWAYS AS
        (CASE signing_alg WHEN 'RS256' THEN active_rsa_kid ELSE active_kid END) STORED;

CREATE OR REPLACE FUNCTION svc.application_tenant() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT tenant.slug, tenant.suspended_at
      INTO NEW.tenant_slug, NEW.tenant_suspended_at
      FROM svc.tenant tenant WHERE tenant.id = NEW.tenant_id FOR SHARE;

    SELECT settings.tokens_valid_after, settings.orphan_action, settings.orphan_grace_hours,
           settings.active_kid, settings.active_rsa_kid
      INTO NEW.tenant_valid_after, NEW.orphan_action, NEW.orphan_grace_hours, NEW.active_kid,
           NEW.active_rsa_kid
      FROM svc.oauth_tenant settings WHERE settings.tenant_id = NEW.tenant_id FOR SHARE;

    NEW.active_kid := svc.oauth_key_good(NEW.tenant_id, NEW.active_kid);

    IF NEW.active_rsa_kid IS NOT NULL THEN
        NEW.active_rsa_kid := svc.oauth_key_good(NEW.tenant_id, NEW.active_rsa_kid);
    END IF;

    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION svc.oauth_tenant_to_applications() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    good      text := svc.oauth_key_good(NEW.tenant_id, NEW.active_kid);
    good_rsa  text;
BEGIN
    IF NEW.active_rsa_kid IS NOT NULL THEN
        good_rsa := svc.oauth_key_good(NEW.tenant_id, NEW.active_rsa_kid);
    END IF;

    UPDATE svc.application client
       SET tenant_valid_after = NEW.tokens_valid_after,
           orphan_action = NEW.orphan_action,
           orphan_grace_hours = NEW.orphan_grace_hours,
           active_kid = good,
           active_rsa_kid = good_rsa
     WHERE client.tenant_id = NEW.tenant_id;

    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION svc.oauth_key_to_applications() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE svc.application client
       SET active_kid = nullif(client.active_kid, NEW.kid),
           active_rsa_kid = nullif(client.active_rsa_kid, NEW.kid)
     WHERE client.tenant_id = NEW.tenant_id
       AND NEW.kid IN (client.active_kid, client.active_rsa_kid);

    RETURN NULL;
END
$$;

DROP TRIGGER oauth_tenant_to_applications ON svc.oauth_tenant;
CREATE TRIGGER oauth_tenant_to_applications
    AFTER UPDATE OF tokens_valid_after, orphan_action, orphan_grace_hours, active_kid,
                    active_rsa_kid
    ON svc.oauth_tenant
    FOR EACH ROW EXECUTE FUNCTION svc.oauth_tenant_to_applications();


-- Keys of both are published.

CREATE OR REPLACE FUNCTION svc.oauth_jwks(tenant_slug text) RETURNS TABLE (id uuid, keys json)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.id, (
        SELECT '[' || coalesce(string_agg(y.public::text, ',' ORDER BY y.active_from DESC,
                                          y.kid), '') || ']'
          FROM svc.oauth_key y
         WHERE y.tenant_id = t.id AND y.revoked_at IS NULL
           AND (y.retired_at IS NULL OR y.retired_at > now() - interval '25 hours'
                OR y.kid IN (g.active_kid, g.active_rsa_kid)))::json
      FROM svc.tenant t JOIN svc.oauth_tenant g ON g.tenant_id = t.id
     WHERE t.slug = tenant_slug
$$;


-- Those that sign, and are to be replaced, of each alg for itself.

CREATE FUNCTION svc.oauth_key_retiring()
    RETURNS TABLE (tenant uuid, alg text, old text, ends timestamptz, next text, due boolean)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT y.tenant_id, y.alg::text, y.kid::text, y.retired_at::timestamptz, n.kid::text,
           n.active_from <= now()
      FROM svc.oauth_key y
      JOIN svc.oauth_tenant g ON g.tenant_id = y.tenant_id
                             AND y.kid IN (g.active_kid, g.active_rsa_kid)
      LEFT JOIN LATERAL (
        SELECT k.kid, k.active_from FROM svc.oauth_key k
         WHERE k.tenant_id = y.tenant_id AND k.alg = y.alg AND k.kid <> y.kid
           AND k.retired_at IS NULL AND k.revoked_at IS NULL
         ORDER BY k.active_from, k.kid LIMIT 1) n ON true
     WHERE y.retired_at IS NOT NULL AND y.revoked_at IS NULL;
END
$$;


-- As oauth_key_turn() did.  made: each with "alg", too, without which it is of P-256.
-- needs: the alg of a key that is needed; NULL of the tenants whose published keys are
-- others now.  A tenant whose keys of both are due has the second turn in the next round.

CREATE FUNCTION svc.oauth_key_turns(made json, most integer)
    RETURNS TABLE (n bigint, tenant uuid, needs text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET jit = off AS $$
DECLARE
    changed  uuid[];
    turned   uuid[];
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('svc.oauth_key_turn')) THEN
        RETURN QUERY SELECT 0::bigint, NULL::uuid, NULL::text;
        RETURN;
    END IF;

    UPDATE svc.oauth_key k SET retired_at = now() + interval '1 day'
      FROM (SELECT y.tenant_id, y.kid FROM svc.oauth_key y
              JOIN svc.oauth_tenant g ON g.tenant_id = y.tenant_id
                                     AND y.kid IN (g.active_kid, g.active_rsa_kid)
             WHERE y.retired_at IS NULL AND y.revoked_at IS NULL
               AND y.active_from < now() - interval '89 days'
             ORDER BY y.active_from LIMIT most) o
     WHERE k.tenant_id = o.tenant_id AND k.kid = o.kid
       AND k.retired_at IS NULL AND k.revoked_at IS NULL;

    WITH i AS (
        INSERT INTO svc.oauth_key AS k (tenant_id, kid, alg, public, sealed, active_from)
        SELECT o.tenant, m ->> 'kid', o.alg, m -> 'public', decode(m ->> 'sealed', 'base64'),
               greatest(o.ends, now() + interval '23 hours')
          FROM json_array_elements(made) m
          JOIN svc.oauth_key_retiring() o ON o.tenant = (m ->> 'tenant')::uuid
                                         AND o.alg = coalesce(m ->> 'alg', 'ES256')
                                         AND o.next IS NULL
         ORDER BY 1
        RETURNING k.tenant_id
    )
    SELECT array_agg(i.tenant_id) INTO changed FROM i;

    WITH o AS (
        SELECT DISTINCT ON (k.tenant) * FROM svc.oauth_key_retiring() k WHERE k.due
         ORDER BY k.tenant, k.alg LIMIT most
    ), g AS (
        UPDATE svc.oauth_tenant t
           SET active_kid = CASE o.alg WHEN 'ES256' THEN o.next ELSE t.active_kid END,
               active_rsa_kid = CASE o.alg WHEN 'RS256' THEN o.next
                                ELSE t.active_rsa_kid END
          FROM o
         WHERE t.tenant_id = o.tenant AND o.old IN (t.active_kid, t.active_rsa_kid)
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
                                WHERE g.tenant_id = y.tenant_id
                                  AND y.kid IN (g.active_kid, g.active_rsa_kid))
             ORDER BY y.retired_at LIMIT most) o
     WHERE k.tenant_id = o.tenant_id AND k.kid = o.kid AND k.revoked_at IS NULL;

    RETURN QUERY
        WITH short AS MATERIALIZED (
            SELECT o.tenant, o.alg FROM svc.oauth_key_retiring() o WHERE o.next IS NULL
             ORDER BY 1, 2 LIMIT most
        )
        SELECT (SELECT count(*) FROM short), NULL::uuid, NULL::text
        UNION ALL
        SELECT NULL, short.tenant, short.alg FROM short
        UNION ALL
        SELECT NULL, c, NULL FROM unnest(changed || turned) c;
END
$$;


-- For modules of before: they make keys of P-256.

CREATE OR REPLACE FUNCTION svc.oauth_key_turn(made json, most integer)
    RETURNS TABLE (n bigint, tenant uuid, needs boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT turns.n, turns.tenant,
           CASE WHEN turns.tenant IS NOT NULL THEN turns.needs IS NOT NULL END
      FROM svc.oauth_key_turns(made, most) turns
     WHERE turns.needs IS DISTINCT FROM 'RS256';
END
$$;

DROP FUNCTION svc.oauth_key_old();

REVOKE ALL ON FUNCTION svc.oauth_key_retiring, svc.oauth_key_turns FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.oauth_key_turns TO svc_app;
