-- serves: 1
--
-- What the console asks for: a link to set a password that an administrator has sent, and
-- lists of users by more than their state.


-- Links that administrators have sent are counted apart from those that people ask for
-- themselves, which are limited by address: nobody keeps an administrator from sending one.

ALTER TABLE svc.password_reset ADD COLUMN by_administrator boolean NOT NULL DEFAULT false;


-- A page of the users that have all of what is asked for, the newest first; NULL: anything
-- does. "named" is an id, which comes before what "q" is as a text. The fewest are looked at
-- that an index has: those of the group, of the role, whom the search finds, of the state, or
-- else all; and of these the newest 100,000, so that no list reads a large tenant. An index of
-- those who are locked, or have a factor, would be opened by each sign-in.

CREATE FUNCTION svc.user_find(q text, named uuid, wanted text, held text, is_locked boolean,
    has_factor boolean, inside uuid, page integer, skip integer, OUT total bigint, OUT ids uuid[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    tenant   uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    looked   integer := 100000;
    most     integer := 10000;
    pattern  text := coalesce(svc.search_text(btrim(q)), '');
    newest   text := ' ORDER BY u.created_at DESC, u.id DESC';
    account  text := ' CROSS JOIN LATERAL (SELECT u.* FROM svc.user_account u'
                     ' WHERE u.tenant_id = $1 AND u.id = i.id ORDER BY u.id LIMIT 1) u';
    users    text := 'SELECT u.* FROM svc.user_account u WHERE u.tenant_id = $1';
    has      text := ' WHERE true'
                     || coalesce(' AND u.status = ' || quote_literal(wanted), '')
                     || coalesce(' AND u.role = ' || quote_literal(held), '')
                     || CASE WHEN is_locked THEN ' AND u.locked_until > now()'
                             WHEN NOT is_locked THEN ' AND coalesce(u.locked_until <= now(), true)'
                             ELSE '' END
                     || CASE WHEN has_factor THEN ' AND u.mfa_enrolled'
                             WHEN NOT has_factor THEN ' AND NOT u.mfa_enrolled'
                             ELSE '' END;
    found    uuid[];
BEGIN
    IF named IS NOT NULL THEN
        EXECUTE 'SELECT ARRAY(SELECT u.id FROM (' || users || ' AND u.id = $2) u' || has
                || CASE WHEN inside IS NULL THEN ''
                        ELSE ' AND EXISTS (SELECT FROM svc.group_member m WHERE m.tenant_id = $1'
                             ' AND m.group_id = $3 AND m.user_id = u.id)' END
                || ')'
           INTO ids USING tenant, named, inside;
    END IF;

    IF cardinality(ids) IS DISTINCT FROM 1 THEN

        IF char_length(pattern) IN (1, 2) THEN
            pattern := ' ' || pattern;
        END IF;

        IF inside IS NOT NULL THEN
            users := 'SELECT u.* FROM (SELECT m.user_id AS id FROM svc.group_member m'
                     ' WHERE m.tenant_id = $1 AND m.group_id = $3'
                     ' ORDER BY m.added_at DESC, m.user_id DESC LIMIT $4) i' || account;

        ELSIF held <> 'member' THEN
            users := users || ' AND u.role = ' || quote_literal(held) || newest || ' LIMIT $4';

        ELSIF pattern <> '' THEN
            SELECT p.ids INTO found FROM svc.user_page(q, wanted, most, 0) p;

            users := 'SELECT u.* FROM unnest($5) i (id)' || account;
            pattern := '';

        ELSIF wanted <> 'active' THEN
            users := 'SELECT u.* FROM (SELECT u.id FROM svc.user_inactive u'
                     ' WHERE u.tenant_id = $1 AND u.status = ' || quote_literal(wanted)
                     || newest || ' LIMIT $4) i' || account;

        ELSE
            users := users || newest || ' LIMIT $4';
        END IF;

        EXECUTE 'SELECT ARRAY(SELECT u.id FROM (' || users || ') u' || has
                || CASE WHEN pattern <> '' THEN ' AND u.search LIKE $2' ELSE '' END
                || newest || ' LIMIT $6)'
           INTO ids USING tenant, '%' || pattern || '%', inside, looked, found, most;
    END IF;

    total := cardinality(ids);
    ids := ids[least(skip, most) + 1 : least(skip, most) + page];
END
$$;

REVOKE ALL ON FUNCTION svc.user_find FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.user_find TO svc_app;
