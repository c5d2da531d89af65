-- What a page of a directory's people makes of users. An entry has a place; "hash" and
-- "subject", sealed, of what a link hangs on; and the "key" of its address.


-- statement: directory_page_lock
-- A sign-in by an entry that is not linked may make its account at the same time: it waits, as
-- by federation_account_lock, or is waited for.
--
-- parameters
--   connection_id  uuid
--   entries        text
SELECT count(pg_advisory_xact_lock(hashtext('svc.federated_identity'),
                                  hashtext(encode(entry.hash, 'hex'))))
  FROM (SELECT entry.hash
          FROM json_to_recordset(:entries::text::json) AS entry (hash bytea)
          LEFT JOIN LATERAL (
               SELECT identity.user_id
                 FROM svc.federated_identity identity
                WHERE identity.tenant_id = :tenant
                  AND identity.connection_id = :connection_id::uuid
                  AND identity.subject_hash BETWEEN entry.hash AND entry.hash
                ORDER BY identity.subject_hash
                LIMIT 1) linked ON true
         WHERE entry.hash IS NOT NULL
           AND linked.user_id IS NULL
           AND :tenant_or_null IS NOT NULL
         ORDER BY entry.hash) entry;


-- statement: directory_page_new
-- Makes the accounts of those whom nobody here is linked with, as a first sign-in by the
-- directory does: it must be allowed to, and vouch for the address. An account that has the
-- address is not touched: its owner's first sign-in links it, or not; nor is made what an
-- invitation is to make. A directory that has somebody twice means the first one.
--
-- parameters
--   connection_id  uuid
--   run            text
--   entries        text
-- columns
--   :account_stored
WITH entry AS MATERIALIZED (
    SELECT entry.*, split_part(coalesce(entry.key, ''), '@', 2) AS domain, linked.user_id,
           linked.import_run IS NOT DISTINCT FROM :run::text::int8
           OR row_number() OVER (PARTITION BY entry.hash ORDER BY entry.place) > 1 AS twice
      FROM json_to_recordset(:entries::text::json)
           AS entry (place int, id uuid, link uuid, hash bytea, subject bytea, email text, key text,
                     disabled bool, first_name text, last_name text, display_name text)
      LEFT JOIN LATERAL (
           SELECT identity.user_id, coalesce(identity.import_run, 0) AS import_run
             FROM svc.federated_identity identity
            WHERE identity.tenant_id = :tenant
              AND identity.connection_id = :connection_id::uuid
              AND identity.subject_hash BETWEEN entry.hash AND entry.hash
            ORDER BY identity.subject_hash
            LIMIT 1) linked ON true
     WHERE :tenant_or_null IS NOT NULL
), domain AS MATERIALIZED (
    SELECT named.domain, connection.owned, connection.vouched, connection.vouched_owner,
           connection.enabled AND connection.jit_provisioning AS makes
      FROM (SELECT DISTINCT entry.domain FROM entry) named
      CROSS JOIN LATERAL svc.connection_of(:tenant, :connection_id, named.domain) connection
), judged AS MATERIALIZED (
    SELECT entry.*, domain.vouched, domain.vouched_owner,
           CASE
               WHEN entry.hash IS NULL THEN 'no_id'
               WHEN entry.twice THEN 'id_twice'
               WHEN entry.user_id IS NOT NULL OR entry.disabled THEN 'known'
               WHEN NOT domain.makes THEN 'known'
               WHEN entry.key IS NULL THEN 'no_email'
               WHEN NOT domain.owned THEN 'email_domain'
               WHEN svc.sign_in_by(:tenant, tenant.sign_in_forced, entry.email)
                    <> :connection_id THEN 'sso_required'
               WHEN invited.id IS NOT NULL THEN 'invited'
               WHEN holder.id IS NOT NULL THEN 'email_taken'
               WHEN row_number() OVER (PARTITION BY entry.key, entry.twice,
                                                    entry.user_id IS NULL AND NOT entry.disabled
                                           ORDER BY entry.place) > 1 THEN 'email_taken'
           END AS reason
      FROM entry
      JOIN svc.tenant tenant ON tenant.id = :tenant
      JOIN domain ON domain.domain = entry.domain
      LEFT JOIN LATERAL (
           SELECT account.id
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant
              AND account.user_name_key BETWEEN entry.key AND entry.key
            ORDER BY account.user_name_key
            LIMIT 1) holder ON entry.user_id IS NULL
      LEFT JOIN LATERAL (
           SELECT invitation.id
             FROM svc.invitation invitation
            WHERE invitation.tenant_id = :tenant
              AND invitation.email_key BETWEEN entry.key AND entry.key
              AND invitation.accepted_at IS NULL
              AND invitation.revoked_at IS NULL
              AND invitation.expires_at > now()
            ORDER BY invitation.email_key
            LIMIT 1) invited ON entry.user_id IS NULL
), account AS (
    INSERT INTO svc.user_account
        (tenant_id, id, user_name, first_name, last_name, display_name, role, email_verified,
         source)
    SELECT :tenant, judged.id, judged.email, judged.first_name, judged.last_name,
           judged.display_name, 'member', true, 'ldap'
      FROM judged
     WHERE judged.reason IS NULL
    ON CONFLICT DO NOTHING
    RETURNING id, user_name
), identity AS (
    INSERT INTO svc.federated_identity
        (tenant_id, connection_id, subject_hash, id, user_id, subject, email_seen, vouched,
         vouched_owner, import_run)
    SELECT :tenant, :connection_id, judged.hash, judged.link, account.id,
           judged.subject, judged.email, judged.vouched, judged.vouched_owner,
           :run::text::int8
      FROM account
      JOIN judged ON judged.id = account.id
    ON CONFLICT DO NOTHING
    RETURNING user_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.created', 'user', account.id::text, NULL,
           '{"source":"ldap","connection":"ldap"}'::jsonb
      FROM account
    UNION ALL
    SELECT 'federation.linked', 'user', identity.user_id::text, NULL, '{"connection":"ldap"}'
      FROM identity
), conflict AS (
    SELECT count(*) AS found,
           jsonb_agg(jsonb_strip_nulls(jsonb_build_object('email', judged.email,
                                                          'reason', judged.reason))
                     ORDER BY judged.place) AS list
      FROM judged
     WHERE judged.reason <> 'known'
), counted AS (
    UPDATE svc.ldap_sync import
       SET seen = import.seen + (SELECT count(*) FROM entry),
           created = import.created + (SELECT count(*) FROM account),
           conflicting = import.conflicting + conflict.found,
           conflicts = CASE
                           WHEN import.conflicting >= 100 OR conflict.found = 0
                                THEN import.conflicts
                           ELSE jsonb_path_query_array(import.conflicts || conflict.list,
                                                       '$[0 to 99]')
                       END
      FROM conflict
     WHERE import.tenant_id = :tenant
)
SELECT account.id AS _user, account.user_name AS _email, now()::timestamptz(3) AS _at,
       array_to_string(ARRAY(SELECT endpoint.id
                               FROM svc.webhook_endpoint endpoint
                              WHERE endpoint.tenant_id = :tenant
                                AND endpoint.enabled
                                AND 'user.created' = ANY (endpoint.events)),
                       ',') AS _subscribers
  FROM account;


-- statement: directory_page_known
-- Users of the directory are as it says, and come back when it was the import that has
-- deactivated them; of all others it is noted alone that their entries are there. Who differs is
-- told from the locked rows: users are locked before identities, as by a sign-in. All rows are
-- found by their keys, or where they were found, however large their tables were thought to be
-- when this was planned; whose row changes at this moment is for the next import.
--
-- parameters
--   connection_id  uuid
--   run            text
--   entries        text
WITH entry AS MATERIALIZED (
    SELECT DISTINCT ON (entry.hash) entry.*, linked.user_id, linked.import_ended_at
      FROM json_to_recordset(:entries::text::json)
           AS entry (place int, hash bytea, disabled bool, first_name text, last_name text,
                     display_name text)
      CROSS JOIN LATERAL (
           SELECT identity.user_id, identity.import_run, identity.import_ended_at
             FROM svc.federated_identity identity
            WHERE identity.tenant_id = :tenant
              AND identity.connection_id = :connection_id::uuid
              AND identity.subject_hash BETWEEN entry.hash AND entry.hash
            ORDER BY identity.subject_hash
            LIMIT 1) linked
     WHERE linked.import_run IS DISTINCT FROM :run::text::int8
     ORDER BY entry.hash, entry.place
), looked AS MATERIALIZED (
    SELECT entry.*
      FROM entry
      CROSS JOIN LATERAL (
           SELECT account.*
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant
              AND account.id BETWEEN entry.user_id AND entry.user_id
            ORDER BY account.id
            LIMIT 1) account
     WHERE account.source = 'ldap'
       AND ((coalesce(entry.first_name, account.first_name),
             coalesce(entry.last_name, account.last_name),
             coalesce(entry.display_name, account.display_name))
            IS DISTINCT FROM (account.first_name, account.last_name, account.display_name)
            OR account.status = 'deactivated' AND NOT entry.disabled
               AND account.valid_after = entry.import_ended_at)
     ORDER BY entry.user_id
), old AS MATERIALIZED (
    SELECT account.*, looked.hash, looked.disabled, looked.first_name AS first_said,
           looked.last_name AS last_said, looked.display_name AS display_said
      FROM looked
      CROSS JOIN LATERAL (
           SELECT account.ctid AS spot, account.id, account.user_name, account.status,
                  account.valid_after, account.first_name, account.last_name,
                  account.display_name
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant
              AND account.id BETWEEN looked.user_id AND looked.user_id
            ORDER BY account.id
            LIMIT 1
            FOR NO KEY UPDATE) account
), held AS MATERIALIZED (
    SELECT entry.disabled, identity.*
      FROM entry
      CROSS JOIN LATERAL (
           SELECT identity.subject_hash, identity.id, identity.user_id, identity.subject,
                  identity.import_ended_at
             FROM svc.federated_identity identity
            WHERE identity.tenant_id = :tenant
              AND identity.connection_id = :connection_id
              AND identity.subject_hash BETWEEN entry.hash AND entry.hash
              AND (SELECT count(*) FROM old) >= 0    -- once their users are locked
            ORDER BY identity.subject_hash
            LIMIT 1
            FOR NO KEY UPDATE) identity
), marked AS (
    INSERT INTO svc.federated_identity AS identity
        (tenant_id, connection_id, subject_hash, id, user_id, subject, import_run,
         import_disabled)
    SELECT :tenant, :connection_id, held.subject_hash, held.id, held.user_id, held.subject,
           :run::text::int8, held.disabled
      FROM held
    ON CONFLICT ON CONSTRAINT federated_identity_pkey DO UPDATE
       SET import_run = excluded.import_run, import_disabled = excluded.import_disabled
), changed AS MATERIALIZED (
    SELECT old.spot, old.user_name, judged.returns,
           coalesce(old.first_said, old.first_name) AS first_name,
           coalesce(old.last_said, old.last_name) AS last_name,
           coalesce(old.display_said, old.display_name) AS display_name,
           array_remove(ARRAY[
               CASE WHEN old.first_said <> coalesce(old.first_name, '') THEN 'firstName' END,
               CASE WHEN old.last_said <> coalesce(old.last_name, '') THEN 'lastName' END,
               CASE WHEN old.display_said <> coalesce(old.display_name, '') THEN 'displayName'
               END,
               CASE WHEN judged.returns THEN 'status' END], NULL) AS members
      FROM old
      JOIN held ON held.subject_hash = old.hash
      CROSS JOIN LATERAL (
           SELECT old.status = 'deactivated' AND NOT old.disabled
                  AND coalesce(old.valid_after = held.import_ended_at, false) AS returns) judged
), updated AS (
    UPDATE svc.user_account account
       SET status = CASE WHEN changed.returns THEN 'active' ELSE account.status END,
           search = svc.user_search(changed.user_name, changed.display_name, changed.first_name,
                                    changed.last_name),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond'),
           first_name = changed.first_name, last_name = changed.last_name,
           display_name = changed.display_name
      FROM changed
     WHERE account.tenant_id = :tenant
       AND account.ctid = changed.spot
       AND changed.members <> '{}'
    RETURNING account.id, changed.returns, changed.members
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT CASE WHEN updated.returns THEN 'user.reactivated' ELSE 'user.updated' END, 'user',
           updated.id::text, NULL,
           jsonb_build_object('source', 'ldap', 'changed', to_jsonb(updated.members))
      FROM updated
)
UPDATE svc.ldap_sync import
   SET updated = import.updated + counted.updated,
       reactivated = import.reactivated + counted.reactivated
  FROM (SELECT count(*) FILTER (WHERE NOT updated.returns) AS updated,
               count(*) FILTER (WHERE updated.returns) AS reactivated
          FROM updated) counted
 WHERE import.tenant_id = :tenant AND counted.updated + counted.reactivated > 0;
