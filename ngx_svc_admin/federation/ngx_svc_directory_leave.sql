-- Who has left the directory: its users whose entries the import that ends has not seen, or has
-- seen disabled. Whoever has signed in meanwhile is there. Both go through the identities of the
-- connection piece by piece, by their hashes.


-- statement: directory_leave_count
-- An owner stays, whatever the directory says: nobody else could mend it. Who has come since the
-- import began does not make it one of fewer.
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
       count(*) FILTER (WHERE account.active AND piece.linked_at < import.started_at)::int4
       AS active,
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
-- the import that has done it. Rows are found as by directory_page_known. Who signs in at this
-- moment is told from the locked rows.
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
    SELECT import.started_at
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
    SELECT account.spot, identity.*
      FROM absent
      CROSS JOIN import
      CROSS JOIN LATERAL (
           SELECT account.ctid AS spot
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant
              AND account.id BETWEEN absent.user_id AND absent.user_id
              AND account.status = 'active'
              AND account.source = 'ldap'
              AND account.role <> 'owner'
            ORDER BY account.id
            LIMIT 1
            FOR NO KEY UPDATE) account
      CROSS JOIN LATERAL (
           SELECT identity.subject_hash, identity.id, identity.user_id, identity.subject,
                  identity.import_run, identity.import_disabled, identity.linked_at,
                  identity.last_at
             FROM svc.federated_identity identity
            WHERE identity.tenant_id = :tenant
              AND identity.connection_id = :connection_id
              AND identity.subject_hash BETWEEN absent.subject_hash AND absent.subject_hash
            ORDER BY identity.subject_hash
            LIMIT 1
            FOR NO KEY UPDATE) identity
     WHERE identity.import_run IS DISTINCT FROM :run::text::int8
           AND greatest(identity.linked_at, identity.last_at) < import.started_at
        OR identity.import_run = :run::text::int8 AND identity.import_disabled
), updated AS (
    UPDATE svc.user_account account
       SET status = 'deactivated', valid_after = clock_timestamp(),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
      FROM old
     WHERE account.tenant_id = :tenant AND account.ctid = old.spot
    RETURNING account.id, account.valid_after, old.subject_hash, old.id AS link, old.subject
), remembered AS (
    INSERT INTO svc.federated_identity
        (tenant_id, connection_id, subject_hash, id, user_id, subject, import_ended_at)
    SELECT :tenant, :connection_id, updated.subject_hash, updated.link, updated.id,
           updated.subject, updated.valid_after
      FROM updated
    ON CONFLICT ON CONSTRAINT federated_identity_pkey DO UPDATE
       SET import_ended_at = excluded.import_ended_at
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.deactivated', 'user', updated.id::text, NULL,
           '{"source":"ldap","changed":["status"]}'::jsonb
      FROM updated
), counted AS (
    UPDATE svc.ldap_sync import
       SET deactivated = import.deactivated + (SELECT count(*) FROM updated)
     WHERE import.tenant_id = :tenant AND EXISTS (SELECT FROM updated)
)
SELECT count(*)::int4 AS taken, max(encode(piece.subject_hash, 'hex') COLLATE "C") AS last
  FROM piece;
