-- What is pushed of each user, and what came of it.


-- statement: push_take (shared)
-- Who is next, but not who is under way, of the users of the target whose mark is due;
-- deactivate: whether somebody may be deactivated. None is while more than 20 are to be, and
-- more than half of those that the target has: then it is held. Who has become inactive since
-- the mark waits for the next one, with which they are counted.
--
-- parameters
--   target_id      text
--   helper         text
--   items_max      int4
--   busy           text
--   deactivate     bool
-- columns
--   held           bool         nobody is taken
--   ended          int8
--   users          int8
--   :push_wanted
--   remote_id      text
--   remote_hash    bytea
--   remote_active  bool
--   compare        bool
--   attempts       int2
--   absent         int8
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
), ending AS MATERIALIZED (
    SELECT count(*) AS items
      FROM (SELECT
              FROM svc.scim_item item
             WHERE item.tenant_id = :tenant
               AND :deactivate::bool
               AND item.target_id = (SELECT target.id FROM target)
               AND item.priority = 0
               AND item.done_rev < item.wanted_rev
               AND item.remote_active
             ORDER BY item.target_id, item.priority, item.next_at
             LIMIT 21) item
), counted AS MATERIALIZED (
    SELECT count(*) FILTER (WHERE item.priority = 0 AND item.done_rev < item.wanted_rev) AS ended,
           count(*) AS users
      FROM svc.scim_item item
     WHERE item.tenant_id = :tenant
       AND item.target_id = (SELECT target.id FROM target)
       AND item.remote_active
       AND (SELECT ending.items > 20 AND NOT target.sync_confirm FROM ending, target)
), decided AS MATERIALIZED (
    SELECT ending.items > 20 AND NOT target.sync_confirm
           AND 2 * counted.ended > counted.users AS held,
           counted.ended, counted.users
      FROM ending, counted, target
), due AS MATERIALIZED (
    SELECT item.*
      FROM decided
      CROSS JOIN (VALUES (0::int2), (1::int2)) queue (priority)
      CROSS JOIN LATERAL (
           SELECT item.*
             FROM svc.scim_item item
            WHERE item.tenant_id = :tenant
              AND item.target_id = (SELECT target.id FROM target)
              AND item.priority = queue.priority
              AND item.done_rev < item.wanted_rev
              AND item.next_at <= now()
              AND item.user_id <> ALL (:busy::text::uuid[])
            ORDER BY item.target_id, item.priority, item.next_at
            LIMIT :items_max::int4) item
     WHERE NOT decided.held AND (queue.priority > 0 OR :deactivate::bool)
     ORDER BY item.priority, item.next_at
     LIMIT :items_max::int4
), concerned AS MATERIALIZED (
    SELECT due.user_id AS id FROM due
), :push_scoped, taken AS (
    SELECT due.*, wanted.gone, wanted.active, wanted.hash, wanted.user_name, wanted.display_name,
           wanted.first_name, wanted.last_name, wanted.title, wanted.locale, wanted.department
      FROM due
      JOIN wanted ON wanted.user_id = due.user_id
     WHERE due.priority = 0 OR wanted.active OR NOT due.remote_active
)
SELECT decided.held, decided.ended, decided.users, taken.user_id, taken.wanted_rev,
       taken.gone, taken.active IS TRUE AS active, taken.hash, taken.user_name,
       taken.display_name, taken.first_name, taken.last_name, taken.title, taken.locale,
       taken.department, taken.sent, taken.remote_id, taken.remote_hash, taken.remote_active,
       taken.compare, taken.attempts,
       CASE
           WHEN taken.absent_at IS NOT NULL
               THEN greatest(1, ceil(extract(epoch FROM now() - taken.absent_at)))
           ELSE 0
       END::int8 AS absent
  FROM decided
  LEFT JOIN taken ON true
 ORDER BY taken.priority, taken.next_at;


-- statement: push_record (shared)
-- What came of pushes, by the version of the target that was pushed to. A mark that has
-- been made meanwhile stays; who is gone here goes when the target knows. When the user was
-- absent first stays until the user is shown, which an infinite time does not say. The items
-- are there, and each conflicts: an UPDATE that joins them may read all that the tenant has.
--
-- parameters
--   target_id      text
--   helper         text
--   results        text
--   version        int4
WITH target AS MATERIALIZED (
    :push_leased
    FOR NO KEY UPDATE
), result AS MATERIALIZED (
    SELECT result.*
      FROM target
      CROSS JOIN json_to_recordset(:results::text::json) AS result (
               id uuid, rev int8, done boolean, failed boolean, gone boolean, remote text,
               hash text, active boolean, absent boolean, tries integer, delay int8, error text,
               sent int2)
     WHERE target.version = :version::int4
), deleted AS (
    DELETE FROM svc.scim_item item
     USING target, result
     WHERE item.tenant_id = :tenant
       AND item.target_id = target.id
       AND item.user_id = result.id
       AND result.done
       AND result.gone
), old AS MATERIALIZED (
    SELECT result.id, item.state
      FROM target
      CROSS JOIN result
      CROSS JOIN LATERAL (
           SELECT item.state
             FROM svc.scim_item item
            WHERE item.tenant_id = :tenant
              AND (item.target_id, item.user_id)
                  BETWEEN (target.id, result.id) AND (target.id, result.id)
            ORDER BY item.target_id, item.user_id
            LIMIT 1) item
), stored AS (
    INSERT INTO svc.scim_item AS item
        (target_id, user_id, wanted_rev, remote_id, remote_hash, remote_active, state, next_at,
         attempts, error, error_at, absent_at, sent)
    SELECT target.id, result.id, result.rev, result.remote, decode(result.hash, 'hex'),
           result.active,
           CASE
               WHEN result.done THEN 'synced'
               WHEN result.failed THEN 'error'
               ELSE 'pending'
           END,
           now() + result.delay * interval '1 ms', result.tries, result.error,
           CASE WHEN result.error IS NOT NULL THEN now() END,
           CASE
               WHEN result.done OR NOT result.absent THEN NULL
               WHEN result.absent THEN now()
               ELSE 'infinity'
           END,
           result.sent
      FROM target
      CROSS JOIN result
      JOIN old ON old.id = result.id
     WHERE NOT (result.done AND result.gone)
    ON CONFLICT (tenant_id, target_id, user_id) DO UPDATE
       SET done_rev = CASE
                          WHEN excluded.state = 'synced' THEN excluded.wanted_rev
                          ELSE item.done_rev
                      END,
           compare = item.compare
                     AND NOT (excluded.state = 'synced' AND item.wanted_rev = excluded.wanted_rev),
           remote_id = excluded.remote_id, remote_hash = excluded.remote_hash,
           remote_active = excluded.remote_active,
           state = CASE
                       WHEN item.wanted_rev > excluded.wanted_rev THEN 'pending'
                       WHEN excluded.state = 'pending' THEN item.state
                       ELSE excluded.state
                   END,
           next_at = CASE
                         WHEN item.wanted_rev > excluded.wanted_rev AND excluded.state <> 'pending'
                             THEN item.next_at
                         ELSE excluded.next_at
                     END,
           attempts = CASE
                          WHEN excluded.state = 'synced' OR item.wanted_rev > excluded.wanted_rev
                              THEN 0
                          ELSE excluded.attempts
                      END,
           absent_at = CASE
                           WHEN excluded.absent_at IS NOT NULL
                               THEN coalesce(item.absent_at,
                                             nullif(excluded.absent_at, 'infinity'))
                       END,
           sent = excluded.sent, error = excluded.error, error_at = excluded.error_at,
           synced_at = CASE WHEN excluded.state = 'synced' THEN now() ELSE item.synced_at END
    RETURNING item.user_id, item.state, item.error
)
INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
SELECT 'failure', 'scim.user_failed', 'user', stored.user_id::text, NULL,
       jsonb_build_object('targetId', target.id, 'targetName', target.name, 'error', stored.error)
  FROM target, stored
  JOIN old ON old.id = stored.user_id
 WHERE stored.state = 'error' AND old.state <> 'error';


-- statement: push_owner (shared)
-- Whether the id is a user's, or of one who is gone and not yet there.
--
-- parameters
--   target_id      text
--   helper         text
--   user_id        text
-- columns
--   known          bool
--   pending        bool
WITH target AS MATERIALIZED (
    :push_leased
), wanted AS MATERIALIZED (
    SELECT :user_id::text::uuid AS id
)
SELECT item.user_id IS NOT NULL OR account.id IS NOT NULL AS known,
       (item.done_rev < item.wanted_rev AND item.state = 'pending') IS TRUE AS pending
  FROM target
  CROSS JOIN wanted
  LEFT JOIN LATERAL (
         SELECT item.*
           FROM svc.scim_item item
          WHERE item.tenant_id = :tenant
            AND (item.target_id, item.user_id)
                BETWEEN (target.id, wanted.id) AND (target.id, wanted.id)
          ORDER BY item.target_id, item.user_id
          LIMIT 1) item ON true
  LEFT JOIN LATERAL (
       SELECT account.id
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN wanted.id AND wanted.id
        ORDER BY account.id
        LIMIT 1) account ON true;
