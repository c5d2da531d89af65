-- What the caller has let applications do: what was consented to, and what living grants
-- are for, since an application that did not have to ask has a grant alone.  It is kept as
-- pairs of a resource and a scope, with a space between; either may be empty.


-- statement: admin_consents_total
--
-- parameters
--   session        bytea ngx_svc_param_session()
WITH kept AS NOT MATERIALIZED (
    SELECT application.*
      FROM (SELECT account.id AS user_id, account.valid_after
              FROM (SELECT session.user_id
                      FROM svc.session session
                     WHERE session.tenant_id = :tenant
                       AND session.token_hash BETWEEN :session AND :session
                     ORDER BY session.token_hash
                     LIMIT 1) session
              CROSS JOIN LATERAL (
                   SELECT account.id, account.valid_after
                     FROM svc.user_account account
                    WHERE account.tenant_id = :tenant
                      AND account.id BETWEEN session.user_id AND session.user_id
                    ORDER BY account.id
                    LIMIT 1) account) owner
      CROSS JOIN LATERAL (
           SELECT given.client_id, min(given.created_at) AS created_at,
                  max(given.updated_at) AS updated_at, array_agg(DISTINCT access.pair) AS allowed
             FROM ((SELECT consent.client_id, consent.allowed, consent.created_at,
                           consent.updated_at
                      FROM svc.oauth_consent consent
                     WHERE consent.tenant_id = :tenant
                       AND consent.user_id BETWEEN owner.user_id AND owner.user_id
                     ORDER BY consent.user_id, consent.client_id OFFSET 0)
                   UNION ALL
                   (SELECT consented.client_id,
                           ARRAY(SELECT resource || ' ' || scope COLLATE "C"
                                   FROM unnest(coalesce(nullif(consented.resource_keys, '{}'),
                                                        '{""}')) resource,
                                        unnest('{""}' || consented.scopes) scope) AS allowed,
                           consented.created_at, consented.created_at
                      FROM (SELECT consented.client_id, consented.resource_keys, consented.scopes,
                                   consented.created_at, consented.revoked_at, consented.expires_at,
                                   consented.session_at
                              FROM svc.oauth_grant consented
                             WHERE consented.tenant_id = :tenant
                               AND consented.user_id BETWEEN owner.user_id AND owner.user_id
                             ORDER BY consented.user_id OFFSET 0) consented
                     WHERE consented.revoked_at IS NULL
                       AND consented.expires_at > now()
                       AND consented.session_at >= coalesce(owner.valid_after, '-infinity'))) given
             CROSS JOIN LATERAL unnest(given.allowed) access (pair)
            GROUP BY given.client_id) application
)
SELECT count(*)
  FROM kept;


-- statement: admin_consents_list
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   page_limit     int4  ngx_svc_param_limit()
--   page_offset    int4  ngx_svc_param_offset()
WITH kept AS NOT MATERIALIZED (
    SELECT application.*
      FROM (SELECT account.id AS user_id, account.valid_after
              FROM (SELECT session.user_id
                      FROM svc.session session
                     WHERE session.tenant_id = :tenant
                       AND session.token_hash BETWEEN :session AND :session
                     ORDER BY session.token_hash
                     LIMIT 1) session
              CROSS JOIN LATERAL (
                   SELECT account.id, account.valid_after
                     FROM svc.user_account account
                    WHERE account.tenant_id = :tenant
                      AND account.id BETWEEN session.user_id AND session.user_id
                    ORDER BY account.id
                    LIMIT 1) account) owner
      CROSS JOIN LATERAL (
           SELECT given.client_id, min(given.created_at) AS created_at,
                  max(given.updated_at) AS updated_at, array_agg(DISTINCT access.pair) AS allowed
             FROM ((SELECT consent.client_id, consent.allowed, consent.created_at,
                           consent.updated_at
                      FROM svc.oauth_consent consent
                     WHERE consent.tenant_id = :tenant
                       AND consent.user_id BETWEEN owner.user_id AND owner.user_id
                     ORDER BY consent.user_id, consent.client_id OFFSET 0)
                   UNION ALL
                   (SELECT consented.client_id,
                           ARRAY(SELECT resource || ' ' || scope COLLATE "C"
                                   FROM unnest(coalesce(nullif(consented.resource_keys, '{}'),
                                                        '{""}')) resource,
                                        unnest('{""}' || consented.scopes) scope) AS allowed,
                           consented.created_at, consented.created_at
                      FROM (SELECT consented.client_id, consented.resource_keys, consented.scopes,
                                   consented.created_at, consented.revoked_at, consented.expires_at,
                                   consented.session_at
                              FROM svc.oauth_grant consented
                             WHERE consented.tenant_id = :tenant
                               AND consented.user_id BETWEEN owner.user_id AND owner.user_id
                             ORDER BY consented.user_id OFFSET 0) consented
                     WHERE consented.revoked_at IS NULL
                       AND consented.expires_at > now()
                       AND consented.session_at >= coalesce(owner.valid_after, '-infinity'))) given
             CROSS JOIN LATERAL unnest(given.allowed) access (pair)
            GROUP BY given.client_id) application
)
SELECT page.client_id AS "clientId", client.name, client.type,
       (SELECT coalesce(json_agg(DISTINCT access.part ORDER BY access.part), '[]')
          FROM (SELECT split_part(pair, ' ', 2) COLLATE "C" AS part
                  FROM unnest(page.allowed) pair) access
         WHERE access.part <> '') AS scopes,
       (SELECT coalesce(json_agg(DISTINCT access.part ORDER BY access.part), '[]')
          FROM (SELECT split_part(pair, ' ', 1) COLLATE "C" AS part
                  FROM unnest(page.allowed) pair) access
         WHERE access.part <> '') AS resources,
       (SELECT coalesce(json_agg(json_build_object('resource', nullif(access.key, ''),
                                                   'scopes', access.scopes)
                                 ORDER BY access.key),
                        '[]')
          FROM (SELECT split_part(pair, ' ', 1) COLLATE "C" AS key,
                       coalesce(json_agg(split_part(pair, ' ', 2) ORDER BY pair)
                                    FILTER (WHERE split_part(pair, ' ', 2) <> ''),
                                '[]') AS scopes
                  FROM unnest(page.allowed) pair
                 GROUP BY 1) access) AS access,
       page.created_at AS "createdAt", page.updated_at AS "updatedAt"
  FROM (SELECT kept.*
          FROM kept
         ORDER BY kept.updated_at DESC, kept.client_id
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) page
  CROSS JOIN LATERAL (
       SELECT client.name, client.type
         FROM svc.application client
        WHERE client.tenant_id = :tenant
          AND client.client_id BETWEEN page.client_id AND page.client_id
        ORDER BY client.client_id
        LIMIT 1) client
 ORDER BY page.updated_at DESC, page.client_id;


-- statement: admin_consent_delete
-- The consent goes first: what was granted by it while this has waited is seen by the
-- statement behind.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   client_id      text  ngx_svc_param_application(0)
DELETE FROM svc.oauth_consent consent
 WHERE consent.tenant_id = :tenant
   AND (consent.user_id, consent.client_id) = (
           SELECT consent.user_id, consent.client_id
             FROM (SELECT session.user_id
                     FROM svc.session session
                    WHERE session.tenant_id = :tenant
                      AND session.token_hash BETWEEN :session AND :session
                    ORDER BY session.token_hash
                    LIMIT 1) session
             CROSS JOIN LATERAL (
                  SELECT consent.user_id, consent.client_id
                    FROM svc.oauth_consent consent
                   WHERE consent.tenant_id = :tenant
                     AND consent.user_id BETWEEN session.user_id AND session.user_id
                     AND consent.client_id BETWEEN :client_id AND :client_id
                   ORDER BY consent.user_id, consent.client_id
                   LIMIT 1) consent)
RETURNING set_config('svc.consent', consent.client_id, true);


-- statement: admin_consent_grants
-- Revokes the grants that live by it.  Nothing was there to revoke when the statement before
-- has deleted no consent and there is no such grant.
--
-- missing: NGX_SVC_ADMIN_NO_CONSENT
-- parameters
--   session        bytea ngx_svc_param_session()
--   client_id      text  ngx_svc_param_application(0)
WITH living AS (
    SELECT consented.id
      FROM (SELECT session.user_id
              FROM svc.session session
             WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
             ORDER BY session.token_hash
             LIMIT 1) session
      CROSS JOIN LATERAL (
           SELECT consented.id, consented.client_id, consented.revoked_at, consented.expires_at
             FROM svc.oauth_grant consented
            WHERE consented.tenant_id = :tenant
              AND consented.user_id BETWEEN session.user_id AND session.user_id
            ORDER BY consented.user_id OFFSET 0) consented
     WHERE consented.client_id = :client_id
       AND consented.revoked_at IS NULL
       AND consented.expires_at > now()
), revoked AS (
    UPDATE svc.oauth_grant consented
       SET revoked_at = now(), reason = 'consent_revoked'
     WHERE consented.tenant_id = :tenant
       AND consented.id = ANY (ARRAY(SELECT living.id FROM living))
       AND consented.revoked_at IS NULL
    RETURNING consented.id
), counted AS (
    SELECT count(revoked.id) AS grants FROM revoked
), found AS (
    SELECT counted.grants
      FROM counted
     WHERE counted.grants > 0 OR current_setting('svc.consent', true) = :client_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'consent.revoked', 'application', :client_id, client.name,
           jsonb_build_object('grants', found.grants)
      FROM found
      LEFT JOIN LATERAL (
           SELECT client.name
             FROM svc.application client
            WHERE client.tenant_id = :tenant
              AND client.client_id BETWEEN :client_id AND :client_id
            ORDER BY client.client_id
            LIMIT 1) client ON true
)
SELECT grants
  FROM found;
