-- Whose a token is.  It acts on owners only if an owner, or an operator, has made it, and
-- on its maker never: otherwise whoever may make one would be more by it than alone.  As
-- its scopes this is frozen when it is made.

ALTER TABLE svc.credential
    ADD COLUMN maker  uuid,                             -- NULL: an operator's, or nobody's
    ADD COLUMN owner  boolean NOT NULL DEFAULT false;   -- it may act on owners

CREATE INDEX credential_maker_idx ON svc.credential (tenant_id, maker)
    WHERE maker IS NOT NULL AND revoked_at IS NULL;


-- The tokens there are: the maker is who stands at the beginning, when tokens have made
-- tokens.  Who is an owner now counts as one of then; whoever is not known does not.

WITH RECURSIVE origin AS (
    SELECT token.tenant_id, token.id, token.created_by_type AS type,
           token.created_by_id AS creator
      FROM svc.credential token
    UNION
    SELECT origin.tenant_id, origin.id, parent.created_by_type, parent.created_by_id
      FROM origin
      JOIN svc.credential parent
        ON parent.tenant_id = origin.tenant_id AND parent.id::text = origin.creator
     WHERE origin.type = 'apiToken'
), made AS (
    SELECT origin.tenant_id, origin.id, origin.type IS NULL AS by_operator,
           CASE WHEN origin.type = 'user'
                 AND origin.creator ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                THEN origin.creator::uuid END AS maker
      FROM origin WHERE origin.type IS DISTINCT FROM 'apiToken'
)
UPDATE svc.credential token
   SET maker = made.maker,
       owner = made.by_operator OR EXISTS (
           SELECT FROM svc.user_account account
            WHERE account.tenant_id = made.tenant_id AND account.id = made.maker
              AND account.role = 'owner')
  FROM made
 WHERE token.tenant_id = made.tenant_id AND token.id = made.id;


-- Those to come.  What makes them names who did; svcctl names nobody.

CREATE FUNCTION svc.credential_maker() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.maker := NULL;
    NEW.owner := NEW.created_by_type IS NULL;

    IF NEW.created_by_type = 'user' THEN
        NEW.maker := NEW.created_by_id::uuid;
        NEW.owner := EXISTS (
            SELECT FROM svc.user_account account
             WHERE account.tenant_id = NEW.tenant_id AND account.id = NEW.maker
               AND account.role = 'owner');

    ELSIF NEW.created_by_type = 'apiToken' THEN
        SELECT parent.maker INTO NEW.maker FROM svc.credential parent
         WHERE parent.tenant_id = NEW.tenant_id AND parent.id = NEW.created_by_id::uuid;
    END IF;

    RETURN NEW;
END
$$;

CREATE TRIGGER credential_maker BEFORE INSERT ON svc.credential
    FOR EACH ROW EXECUTE FUNCTION svc.credential_maker();


-- Whether the caller, if it is a token, may act on a user, or on nobody yet, who has a
-- role, or is to have it.

CREATE FUNCTION svc.token_acts(who uuid, held text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    tenant  uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    caller  uuid;
    token   record;
BEGIN
    IF coalesce(current_setting('svc.actor_type', true), '') NOT IN ('apiToken', 'scim') THEN
        RETURN true;
    END IF;

    caller := nullif(current_setting('svc.actor_id', true), '')::uuid;

    SELECT c.maker, c.owner INTO token FROM svc.credential c
     WHERE c.tenant_id = tenant AND c.id = caller;

    RETURN coalesce(token.owner OR held <> 'owner', false)
       AND coalesce(token.maker <> who, true);
END
$$;


-- What a token does, whichever statement does it.  That its maker is deactivated is not
-- kept from a directory: who has made its token leaves, too.

CREATE FUNCTION svc.user_token_check() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT svc.token_acts(NEW.id, CASE WHEN 'owner' IN (OLD.role, NEW.role) THEN 'owner'
                                       ELSE NEW.role END)
    THEN
        RAISE EXCEPTION 'a token acts on an owner, or on its maker'
            USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                  CONSTRAINT = 'user_account_token_check';
    END IF;

    RETURN NULL;
END
$$;

CREATE TRIGGER user_token_check AFTER UPDATE OF role, status, user_name, user_name_key
    ON svc.user_account FOR EACH ROW
    WHEN (current_setting('svc.actor_type', true) IN ('apiToken', 'scim')
          AND (OLD.role <> NEW.role OR OLD.user_name_key <> NEW.user_name_key
               OR OLD.status <> NEW.status
                  AND (OLD.role = 'owner' OR NEW.status = 'active')))
    EXECUTE FUNCTION svc.user_token_check();


-- Nor does it have the role of its maker grant more.

CREATE FUNCTION svc.role_token_check() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM svc.credential token
          JOIN svc.user_account account
            ON account.tenant_id = token.tenant_id AND account.id = token.maker
         WHERE token.tenant_id = NEW.tenant_id
           AND token.id = current_setting('svc.actor_id', true)::uuid
           AND account.role = NEW.key)
    THEN
        RAISE EXCEPTION 'a token has the role of its maker grant more'
            USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'role',
                  CONSTRAINT = 'role_token_check';
    END IF;

    RETURN NULL;
END
$$;

CREATE TRIGGER role_token_check AFTER UPDATE OF permissions ON svc.role FOR EACH ROW
    WHEN (current_setting('svc.actor_type', true) = 'apiToken'
          AND NOT NEW.permissions <@ OLD.permissions)
    EXECUTE FUNCTION svc.role_token_check();


-- A token outlives what its maker may do.  That is an incident where it manages members,
-- roles or the tenant; lost: those of the three that the maker has no more.

CREATE FUNCTION svc.token_maker_lost(tenant uuid, who uuid, why text, lost text[])
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made     uuid := gen_random_uuid();
    told     uuid;
    told_of  jsonb;
BEGIN
    SELECT jsonb_build_object('userId', who, 'reason', why, 'tokens', count(*),
                              'tokenIds', jsonb_agg(live.id ORDER BY live.n)
                                          FILTER (WHERE live.n <= 20))
      INTO told_of
      FROM (SELECT token.id,
                   row_number() OVER (ORDER BY token.created_at DESC, token.id) AS n
              FROM svc.credential token
             WHERE token.tenant_id = tenant AND token.maker = who
               AND token.revoked_at IS NULL
               AND coalesce(token.expires_at > now(), true)
               AND token.permissions && lost) live
    HAVING count(*) > 0;

    IF NOT FOUND THEN
        RETURN;
    END IF;

    INSERT INTO svc.incident AS open (tenant_id, id, type, subject, severity, title, details,
                                      count, last_seen_at)
    VALUES (tenant, made, 'token_maker_lost', who::text, 'high',
            'Whoever has made a live API token may not do any more what it does.',
            told_of, 1, now())
    ON CONFLICT (tenant_id, type, subject) WHERE acknowledged_at IS NULL
    DO UPDATE SET count = open.count + 1, details = excluded.details, last_seen_at = now()
    RETURNING open.id INTO told;

    IF told = made THEN
        INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
        VALUES (tenant, 'incident.created', 'incident', told::text,
                jsonb_build_object('type', 'token_maker_lost', 'severity', 'high')
                || told_of);
    END IF;
END
$$;


-- A tenant that is being deleted takes its users, and what there is to say of them, along.

CREATE FUNCTION svc.user_maker_lost() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    three  text[] := '{members:manage,roles:manage,tenant:manage}';
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT FROM svc.tenant t WHERE t.id = OLD.tenant_id) THEN
            PERFORM svc.token_maker_lost(OLD.tenant_id, OLD.id, 'erased', three);
        END IF;

    ELSIF NEW.status <> 'active' THEN
        PERFORM svc.token_maker_lost(NEW.tenant_id, NEW.id, NEW.status, three);

    ELSE
        PERFORM svc.token_maker_lost(NEW.tenant_id, NEW.id, 'role', ARRAY(
            SELECT unnest(three)
            EXCEPT
            SELECT unnest(r.permissions) FROM svc.role r
             WHERE r.tenant_id = NEW.tenant_id AND r.key = NEW.role));
    END IF;

    RETURN NULL;
END
$$;

CREATE TRIGGER user_maker_lost AFTER UPDATE OF role, status ON svc.user_account FOR EACH ROW
    WHEN (OLD.role <> 'member'
          AND (OLD.status = 'active' AND NEW.status <> 'active'
               OR OLD.role <> NEW.role AND NEW.role <> 'owner' AND NEW.role <> 'admin'))
    EXECUTE FUNCTION svc.user_maker_lost();
CREATE TRIGGER user_maker_gone AFTER DELETE ON svc.user_account FOR EACH ROW
    WHEN (OLD.role <> 'member')
    EXECUTE FUNCTION svc.user_maker_lost();


CREATE FUNCTION svc.role_maker_lost() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    lost  text[] := ARRAY(
        SELECT unnest('{members:manage,roles:manage,tenant:manage}'::text[])
        INTERSECT
        SELECT unnest(OLD.permissions)
        EXCEPT
        SELECT unnest(NEW.permissions));
BEGIN
    PERFORM svc.token_maker_lost(NEW.tenant_id, maker.id, 'role', lost)
       FROM (SELECT DISTINCT account.id FROM svc.credential token
               JOIN svc.user_account account
                 ON account.tenant_id = token.tenant_id AND account.id = token.maker
              WHERE token.tenant_id = NEW.tenant_id AND token.maker IS NOT NULL
                AND token.revoked_at IS NULL AND token.permissions && lost
                AND account.role = NEW.key) maker;

    RETURN NULL;
END
$$;

CREATE TRIGGER role_maker_lost AFTER UPDATE OF permissions ON svc.role FOR EACH ROW
    WHEN (NOT OLD.permissions <@ NEW.permissions)
    EXECUTE FUNCTION svc.role_maker_lost();


REVOKE ALL ON FUNCTION svc.credential_maker, svc.token_acts, svc.user_token_check,
    svc.role_token_check, svc.token_maker_lost, svc.user_maker_lost, svc.role_maker_lost
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.token_acts TO svc_app;
