-- Who has left the directory: its users whose entries the import that ends has not seen, or has
-- seen disabled. Whoever has signed in meanwhile is there. Both go through the identities of the
-- connection piece by piece, by their hashes.


-- statement: directory_leave_count
-- An owner stays, whatever the directory says: nobody else could mend it.
--
-- parameters
--   connection_id  uuid
--   run            text
--   after          text
--   most           int4
-- columns
--   taken          int4
--   last           text
--   active         int4
--   ending         int4
WITH import AS (
    SELECT import.started_at FROM svc.ldap_sync import WHERE import.tenant_id = :tenant
), piece AS MATERIALIZED (
    SELECT identity.*
      FROM svc.federated_identity identity
     WHERE identity.tenant_id = :tenant
       AND identity.connection_id = :connection_id::uuid
       AND identity.subject_hash > (SELECT decode(:after::text, 'hex'))
     ORDER BY identity.subject_hash
     LIMIT :most::int4
)
SELECT count(*)::int4 AS taken,
       max(encode(piece.subject_hash, 'hex') COLLATE "C") AS last,
       count(*) FILTER (WHERE account.active)::int4 AS active,
       count(*) FILTER (WHERE account.active AND NOT account.owner
                          AND (piece.import_run IS DISTINCT FROM :run::text::int8
                               AND greatest(piece.linked_at, piece.last_at) < import.started_at
                               OR piece.import_run = :run::text::int8 AND piece.import_disabled)
                       )::int4 AS ending
  FROM piece
  CROSS JOIN import
  LEFT JOIN LATERAL (
       SELECT account.status = 'active' AND account.source = 'ldap' AS active,
              account.role = 'owner' AS owner
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN piece.user_id AND piece.user_id
        ORDER BY account.id
        LIMIT 1) account ON true;


-- statement: directory_leave
-- Who is deactivated has no session from before. The identity remembers by which moment it was
-- the import that has done it.
--
-- parameters
--   connection_id  uuid
--   run            text
--   after          text
--   most           int4
-- columns
--   taken          int4
--   last           text
WITH import AS MATERIALIZED (
    SELECT import.started_at, clock_timestamp() AS moment
      FROM svc.ldap_sync import
     WHERE import.tenant_id = :tenant
), piece AS MATERIALIZED (
    SELECT identity.*
      FROM svc.federated_identity identity
     WHERE identity.tenant_id = :tenant
       AND identity.connection_id = :connection_id::uuid
       AND identity.subject_hash > (SELECT decode(:after::text, 'hex'))
     ORDER BY identity.subject_hash
     LIMIT :most::int4
), absent AS MATERIALIZED (
    SELECT piece.user_id, piece.subject_hash
      FROM piece
      CROSS JOIN import
     WHERE piece.import_run IS DISTINCT FROM :run::text::int8
           AND greatest(piece.linked_at, piece.last_at) < import.started_at
        OR piece.import_run = :run::text::int8 AND piece.import_disabled
     ORDER BY piece.user_id
), old AS MATERIALIZED (
    SELECT account.id, absent.subject_hash
      FROM absent
      CROSS JOIN LATERAL (
           SELECT account.id, account.status, account.source, account.role
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant
              AND account.id BETWEEN absent.user_id AND absent.user_id
              AND account.status = 'active'
              AND account.source = 'ldap'
              AND account.role <> 'owner'
            ORDER BY account.id
            LIMIT 1
            FOR NO KEY UPDATE) account
), updated AS (
    UPDATE svc.user_account account
       SET status = 'deactivated', valid_after = (SELECT import.moment FROM import),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
     WHERE account.tenant_id = :tenant AND account.id = ANY (ARRAY(SELECT old.id FROM old))
), remembered AS (
    UPDATE svc.federated_identity identity
       SET import_ended_at = (SELECT import.moment FROM import)
     WHERE identity.tenant_id = :tenant
       AND identity.connection_id = :connection_id
       AND identity.subject_hash = ANY (ARRAY(SELECT old.subject_hash FROM old))
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.deactivated', 'user', old.id::text, NULL,
           '{"source":"ldap","changed":["status"]}'::jsonb
      FROM old
), counted AS (
    UPDATE svc.ldap_sync import
       SET deactivated = import.deactivated + (SELECT count(*) FROM old)
     WHERE import.tenant_id = :tenant AND EXISTS (SELECT FROM old)
)
SELECT count(*)::int4 AS taken, max(encode(piece.subject_hash, 'hex') COLLATE "C") AS last
  FROM piece;
