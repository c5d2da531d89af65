-- What a target lists itself: which user each of its resources is.


-- statement: push_match (shared)
-- Who of the resources that are listed is whom: by our id, as long as no other resource is
-- that user; by the name the one that is that user already.
--
-- parameters
--   target_id      text
--   helper         text
--   resources      text
-- columns
--   number         int4         of the resource
--   :push_wanted
WITH target AS MATERIALIZED (
    :push_leased
), client AS MATERIALIZED (
    SELECT application.*
      FROM target
      CROSS JOIN LATERAL (
           SELECT application.client_id, application.enabled, application.assignment
             FROM svc.application application
            WHERE application.tenant_id = :tenant
              AND application.client_id BETWEEN target.client_id AND target.client_id
            ORDER BY application.client_id
            LIMIT 1) application
), listed AS MATERIALIZED (
    SELECT listed.*
      FROM target
      CROSS JOIN json_to_recordset(:resources::text::json) AS listed (
               number integer, external uuid, name text, remote text)
), found AS MATERIALIZED (
    SELECT listed.number, listed.remote, account.id, false AS named
      FROM listed
      CROSS JOIN LATERAL (
           SELECT account.id
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant
              AND account.id BETWEEN listed.external AND listed.external
            ORDER BY account.id
            LIMIT 1) account
    UNION ALL
    SELECT listed.number, listed.remote, account.id, true
      FROM listed
      CROSS JOIN LATERAL (
           SELECT account.id
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant
              AND account.user_name_key
                  BETWEEN svc.address_key(listed.name) AND svc.address_key(listed.name)
            ORDER BY account.user_name_key
            LIMIT 1) account
     WHERE listed.external IS NULL
), concerned AS MATERIALIZED (
    SELECT found.id FROM found GROUP BY found.id HAVING count(*) = 1
), :push_scoped
SELECT found.number, wanted.user_id, coalesce(item.wanted_rev, 0) AS wanted_rev, wanted.gone,
       wanted.active IS TRUE AS active, wanted.hash, wanted.user_name, wanted.display_name,
       wanted.first_name, wanted.last_name, wanted.title, wanted.locale, wanted.department,
       item.sent
  FROM target
  CROSS JOIN found
  JOIN wanted ON wanted.user_id = found.id
  LEFT JOIN LATERAL (
         SELECT item.*
           FROM svc.scim_item item
          WHERE item.tenant_id = :tenant
            AND (item.target_id, item.user_id)
                BETWEEN (target.id, found.id) AND (target.id, found.id)
          ORDER BY item.target_id, item.user_id
          LIMIT 1) item ON true
 WHERE NOT wanted.gone
   AND (item.user_id IS NOT NULL OR wanted.active)
   AND (item.remote_id = found.remote OR item.remote_id IS NULL AND NOT found.named);


-- statement: push_listed (shared)
-- These users are there as they are to be, of that version of the target; its list goes on
-- at list_next, or has ended. Who has been marked since they were matched is pushed as any
-- other.
--
-- parameters
--   target_id      text
--   helper         text
--   results        text
--   version        int4
--   list_next      int4
WITH target AS MATERIALIZED (
    :push_leased
    FOR NO KEY UPDATE
), stored AS (
    INSERT INTO svc.scim_item AS item
        (target_id, user_id, wanted_rev, done_rev, remote_id, remote_hash, remote_active, state,
         priority, seen, synced_at)
    SELECT target.id, result.id, result.rev, result.rev, result.remote,
           decode(result.hash, 'hex'), result.active, 'synced',
           CASE WHEN result.active THEN 1 ELSE 0 END, target.sync_id, now()
      FROM target
      CROSS JOIN json_to_recordset(:results::text::json) AS result (
               id uuid, rev int8, remote text, hash text, active boolean)
     WHERE target.version = :version::int4
    ON CONFLICT (tenant_id, target_id, user_id) DO UPDATE
       SET done_rev = excluded.done_rev, compare = false, remote_id = excluded.remote_id,
           remote_hash = excluded.remote_hash, remote_active = excluded.remote_active,
           state = 'synced', attempts = 0, error = NULL, error_at = NULL, absent_at = NULL,
           seen = excluded.seen, synced_at = excluded.synced_at
     WHERE item.wanted_rev = excluded.wanted_rev
       AND (item.remote_id IS NULL OR item.remote_id = excluded.remote_id)
    RETURNING 1
)
UPDATE svc.scim_target listing
   SET list_next = :list_next::int4
  FROM target
 WHERE listing.tenant_id = :tenant
   AND listing.id = target.id
   AND listing.list_next IS NOT NULL
   AND listing.version = :version::int4;
