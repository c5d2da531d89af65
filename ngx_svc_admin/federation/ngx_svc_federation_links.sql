-- statement: federation_own_total
--
-- parameters
--   session        bytea ngx_svc_param_session()
SELECT count(*)
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) caller
  CROSS JOIN LATERAL (
       SELECT
         FROM svc.federated_identity identity
        WHERE identity.tenant_id = :tenant
          AND identity.user_id BETWEEN caller.user_id AND caller.user_id
        ORDER BY identity.user_id OFFSET 0) identity;


-- statement: federation_own_list
-- A user has one identity of each connection at most. Its subject is told nobody.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   page_limit     int4  ngx_svc_param_limit()
--   page_offset    int4  ngx_svc_param_offset()
SELECT identity.id, connection.key AS connection, connection.kind, connection.label,
       identity.email_seen AS email, identity.linked_at AS "linkedAt",
       identity.last_at AS "lastAt"
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) caller
  CROSS JOIN LATERAL (
       SELECT identity.*
         FROM svc.federated_identity identity
        WHERE identity.tenant_id = :tenant
          AND identity.user_id BETWEEN caller.user_id AND caller.user_id
        ORDER BY identity.user_id OFFSET 0) identity
  LEFT JOIN LATERAL svc.connection_named(:tenant, identity.connection_id) connection ON true
 ORDER BY identity.linked_at DESC, identity.id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: federation_own_lock
-- The user's lock comes first: of two ways in that go at the same time the second one is seen
-- to be the last.
--
-- parameters
--   session        bytea ngx_svc_param_session()
SELECT
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) caller
  CROSS JOIN LATERAL (
       SELECT account.id
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN caller.user_id AND caller.user_id
        ORDER BY account.id
        LIMIT 1
        FOR NO KEY UPDATE) account;


-- statement: federation_own_remove
-- A trigger ends the sessions that began by the link.
--
-- missing: NGX_SVC_FEDERATION_NO_OWN
-- parameters
--   session        bytea ngx_svc_param_session()
--   link_id        uuid  ngx_svc_param_path_id(0, NGX_SVC_FEDERATION_NO_OWN)
--   wanted_notice  text  ngx_svc_param_notice()
-- verdicts
--   NGX_SVC_FEDERATION_LAST_VERDICT
WITH decided AS MATERIALIZED (
    SELECT identity.user_id, identity.connection_id, identity.subject_hash,
           CASE
               WHEN svc.way_in_last(:tenant, identity.user_id, identity.id,
                                    :wanted_notice::text IS NOT NULL)
                   THEN 'last'
           END AS verdict
      FROM (SELECT session.user_id
              FROM svc.session session
             WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
             ORDER BY session.token_hash
             LIMIT 1) caller
      CROSS JOIN LATERAL (
           SELECT identity.*
             FROM svc.federated_identity identity
            WHERE identity.tenant_id = :tenant
              AND identity.id BETWEEN :link_id::uuid AND :link_id::uuid
            ORDER BY identity.id
            LIMIT 1) identity
     WHERE identity.user_id = caller.user_id
), removed AS (
    DELETE FROM svc.federated_identity identity
     USING decided
     WHERE identity.tenant_id = :tenant
       AND identity.connection_id = decided.connection_id
       AND identity.subject_hash = decided.subject_hash
       AND decided.verdict IS NULL
    RETURNING identity.user_id, identity.connection_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'federation.unlinked', 'user', removed.user_id::text, NULL,
           jsonb_build_object('connection', svc.connection_key(:tenant, removed.connection_id))
      FROM removed
)
SELECT decided.verdict AS _verdict, nullif(current_setting('svc.ip', true), '') AS _ip, notice.*
  FROM decided
  LEFT JOIN LATERAL (
       SELECT :notice_tenant,
              coalesce(nullif(current_setting('svc.base_url', true), ''), :wanted_notice::text)
              || '/login?tenant=' || tenant.slug AS _link,
              account.user_name AS _to, account.display_name AS _name, account.locale AS _locale
         FROM svc.tenant tenant
         LEFT JOIN LATERAL (
              SELECT account.user_name, account.display_name, account.locale
                FROM svc.user_account account
               WHERE account.tenant_id = :tenant
                 AND account.id BETWEEN decided.user_id AND decided.user_id
               ORDER BY account.id
               LIMIT 1) account ON true
        WHERE tenant.id = :tenant
          AND :wanted_notice::text IS NOT NULL
          AND decided.verdict IS NULL) notice ON true;


-- statement: federation_links_total
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
SELECT (SELECT count(*)
          FROM (SELECT
                  FROM svc.federated_identity identity
                 WHERE identity.tenant_id = :tenant
                   AND identity.user_id BETWEEN :user_id AND :user_id
                 ORDER BY identity.user_id OFFSET 0) identity)
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id;


-- statement: federation_links_list
--
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT identity.id, connection.key AS connection, connection.kind, connection.label,
       identity.email_seen AS email, identity.linked_at AS "linkedAt",
       identity.last_at AS "lastAt"
  FROM (SELECT identity.*
          FROM svc.federated_identity identity
         WHERE identity.tenant_id = :tenant AND identity.user_id BETWEEN :user_id AND :user_id
         ORDER BY identity.user_id OFFSET 0) identity
  LEFT JOIN LATERAL svc.connection_named(:tenant, identity.connection_id) connection ON true
 ORDER BY identity.linked_at DESC, identity.id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: federation_links_remove
-- Whoever takes away the own last way in is refused here, too. Of somebody else it is allowed,
-- as a wrong link may be the only one.
--
-- missing: NGX_SVC_FEDERATION_NO_LINK
-- parameters
--   user           uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   link_id        uuid ngx_svc_param_path_id(1, NGX_SVC_FEDERATION_NO_LINK)
--   wanted_notice  text ngx_svc_param_notice()
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
--   NGX_SVC_FEDERATION_LAST_VERDICT
WITH old AS MATERIALIZED (
    SELECT id, role
      FROM svc.user_account
     WHERE tenant_id = :tenant AND id = :user
     FOR NO KEY UPDATE
), decided AS MATERIALIZED (
    SELECT identity.connection_id, identity.subject_hash,
           CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
               WHEN :caller_is_user
                    AND old.id::text = current_setting('svc.actor_id', true)
                    AND svc.way_in_last(:tenant, old.id, identity.id,
                                        :wanted_notice::text IS NOT NULL)
                   THEN 'last'
           END AS verdict
      FROM old
      CROSS JOIN LATERAL (
           SELECT identity.*
             FROM svc.federated_identity identity
            WHERE identity.tenant_id = :tenant
              AND identity.id BETWEEN :link_id::uuid AND :link_id::uuid
            ORDER BY identity.id
            LIMIT 1) identity
     WHERE identity.user_id = old.id
), removed AS (
    DELETE FROM svc.federated_identity identity
     USING decided
     WHERE identity.tenant_id = :tenant
       AND identity.connection_id = decided.connection_id
       AND identity.subject_hash = decided.subject_hash
       AND decided.verdict IS NULL
    RETURNING identity.user_id, identity.connection_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'federation.unlinked', 'user', removed.user_id::text, NULL,
           jsonb_build_object('connection', svc.connection_key(:tenant, removed.connection_id))
      FROM removed
)
SELECT decided.verdict AS _verdict, notice.*
  FROM decided
  LEFT JOIN LATERAL (:notice) notice ON decided.verdict IS NULL;
