-- Idempotency-Key: a create that is sent again is not carried out again. A key is of the
-- credential that shows it, by the settings of the transaction, and of a path.


-- statement: idempotency_claim
-- It claims the key, or one that is older than a day, in the transaction of the create. When
-- the key is taken it unsets the tenant, so that the statements behind it find nothing to do,
-- and has the answer that is kept. Some old keys of the tenant go on the way.
--
-- parameters
--   path           text
--   key            text
--   body_hash      bytea
-- columns
--   claimed        bool
--   same           bool         as text: whether the body is the one before; NULL: there is none
--   status         int4         as text: NULL until there is an answer
--   reply          text
--   tenant         text         answer
WITH caller AS (
    SELECT :tenant_or_null AS tenant_id,
           nullif(current_setting('svc.actor_id', true), '')::uuid AS credential_id
), claimed AS (
    INSERT INTO svc.idempotency AS kept (tenant_id, credential_id, path, key, body_hash)
    SELECT caller.tenant_id, caller.credential_id, :path, :key, :body_hash
      FROM caller
     WHERE caller.tenant_id IS NOT NULL
    ON CONFLICT (tenant_id, credential_id, path, key) DO UPDATE
       SET body_hash = excluded.body_hash, created_at = now(), status = NULL, reply = NULL
     WHERE kept.created_at < now() - interval '1 day'
    RETURNING true
), expired AS (
    DELETE FROM svc.idempotency kept
     WHERE kept.tenant_id = :tenant
       AND kept.ctid = ANY (ARRAY(SELECT old.ctid
                                    FROM svc.idempotency old
                                   WHERE old.tenant_id = :tenant
                                     AND old.created_at < now() - interval '1 day 1 hour'
                                     AND old.key <> :key
                                   ORDER BY old.created_at
                                   LIMIT 10
                                   FOR UPDATE SKIP LOCKED))
)
SELECT EXISTS (SELECT FROM claimed) AS claimed, kept.body_hash = :body_hash AS same,
       kept.status, kept.reply,
       CASE
           WHEN NOT EXISTS (SELECT FROM claimed) THEN set_config('svc.tenant', '', true)
       END AS tenant
  FROM caller
  LEFT JOIN svc.idempotency kept
       ON kept.tenant_id = :tenant
      AND kept.credential_id = caller.credential_id
      AND kept.path = :path
      AND kept.key = :key
 WHERE caller.tenant_id IS NOT NULL;


-- statement: idempotency_keep
-- By a second transaction, before the answer is sent: should it fail, the key stays taken,
-- and its answer unknown.
--
-- parameters
--   path           text
--   key            text
--   body_hash      bytea
--   status         int4
--   reply          text
WITH caller AS (
    SELECT nullif(current_setting('svc.actor_id', true), '')::uuid AS credential_id
)
UPDATE svc.idempotency kept
   SET status = :status::int4, reply = :reply
  FROM caller
 WHERE kept.tenant_id = :tenant
   AND kept.credential_id = caller.credential_id
   AND kept.path = :path
   AND kept.key = :key
   AND kept.body_hash = :body_hash;


-- statement: idempotency_release
-- A refusal gives the key back: what stood in the way may not do so later.
--
-- parameters
--   path           text
--   key            text
--   body_hash      bytea
WITH caller AS (
    SELECT nullif(current_setting('svc.actor_id', true), '')::uuid AS credential_id
)
DELETE FROM svc.idempotency kept
 USING caller
 WHERE kept.tenant_id = :tenant
   AND kept.credential_id = caller.credential_id
   AND kept.path = :path
   AND kept.key = :key
   AND kept.body_hash = :body_hash;
