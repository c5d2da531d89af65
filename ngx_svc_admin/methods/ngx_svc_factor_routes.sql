-- statement: factors_list
-- One that nobody has confirmed is none any more after 15 minutes.
--
-- parameters
--   session        bytea ngx_svc_param_session()
SELECT factor.id, factor.type, factor.name, factor.created_at AS "createdAt",
       factor.last_used_at AS "lastUsedAt", factor.confirmed_at IS NOT NULL AS confirmed,
       (SELECT passkey.bs
          FROM svc.passkey passkey
         WHERE passkey.tenant_id = factor.tenant_id
           AND passkey.user_id = factor.user_id
           AND passkey.factor_id = factor.id) AS "backedUp"
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT factor.*
         FROM svc.factor factor
        WHERE factor.tenant_id = :tenant
          AND factor.user_id BETWEEN session.user_id AND session.user_id
        ORDER BY factor.user_id OFFSET 0) factor
 WHERE factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since
 ORDER BY factor.created_at, factor.id;


-- statement: factors_codes
--
-- parameters
--   session        bytea ngx_svc_param_session()
-- columns
--   codes          int8
SELECT count(*) AS codes
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT
         FROM svc.recovery_code recovery_code
        WHERE recovery_code.tenant_id = :tenant
          AND recovery_code.user_id BETWEEN session.user_id AND session.user_id
        ORDER BY recovery_code.user_id OFFSET 0) recovery_code;


-- statement: factor_rename
--
-- missing: NGX_SVC_FACTOR_NONE
-- parameters
--   session        bytea ngx_svc_param_session()
--   factor_id      uuid  ngx_svc_param_path_id(0, NGX_SVC_FACTOR_NONE)
--   name           text  ngx_svc_param_text(ngx_svc_factor_body_t, name)
WITH old AS (
    SELECT factor.*
      FROM (SELECT session.user_id
              FROM svc.session session
             WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
             ORDER BY session.token_hash
             LIMIT 1) session
      CROSS JOIN LATERAL (
           SELECT factor.*
             FROM svc.factor factor
            WHERE factor.tenant_id = :tenant
              AND (factor.user_id, factor.id) BETWEEN (session.user_id, :factor_id::uuid)
                                                  AND (session.user_id, :factor_id::uuid)
            ORDER BY factor.user_id, factor.id
            LIMIT 1) factor
     WHERE factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since
), renamed AS (
    UPDATE svc.factor factor
       SET name = :name
     WHERE factor.tenant_id = :tenant
       AND (factor.user_id, factor.id) = (SELECT old.user_id, old.id FROM old)
       AND factor.name <> :name
    RETURNING factor.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'mfa.factor_updated', 'user', renamed.user_id::text, NULL,
           jsonb_build_object('factorId', renamed.id, 'type', renamed.type, 'name', renamed.name)
      FROM renamed
)
SELECT old.id
  FROM old;


-- statement: factor_get
--
-- missing: NGX_SVC_FACTOR_NONE
-- parameters
--   session        bytea ngx_svc_param_session()
--   factor_id      uuid  ngx_svc_param_path_id(0, NGX_SVC_FACTOR_NONE)
-- columns
--   id             uuid
--   type           text         answer
--   name           text         answer
--   createdAt      timestamptz  answer
--   lastUsedAt     timestamptz  answer
--   confirmed      bool         answer
--   backedUp       bool         answer
SELECT factor.id, factor.type, factor.name, factor.created_at AS "createdAt",
       factor.last_used_at AS "lastUsedAt", factor.confirmed_at IS NOT NULL AS confirmed,
       (SELECT passkey.bs
          FROM svc.passkey passkey
         WHERE passkey.tenant_id = factor.tenant_id
           AND passkey.user_id = factor.user_id
           AND passkey.factor_id = factor.id) AS "backedUp"
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT factor.*
         FROM svc.factor factor
        WHERE factor.tenant_id = :tenant
          AND (factor.user_id, factor.id) BETWEEN (session.user_id, :factor_id::uuid)
                                              AND (session.user_id, :factor_id::uuid)
        ORDER BY factor.user_id, factor.id
        LIMIT 1) factor
 WHERE factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since;


-- statement: factor_remove
-- The last one that counts stays where a factor is needed; one that is not confirmed has
-- never counted. A passkey that is the last way in stays, too. When nothing is removed there
-- is no tenant for the rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   factor_id      uuid ngx_svc_factor_param(id)
--   factor_needed  bool ngx_svc_param_call(ngx_svc_factor_bind_needed)
--   wanted_notice  text ngx_svc_param_notice()
WITH old AS (
    SELECT factor.*,
           factor.confirmed_at IS NOT NULL
           AND NOT EXISTS (SELECT
                             FROM (SELECT owned.*
                                     FROM svc.factor owned
                                    WHERE owned.tenant_id = :tenant
                                      AND owned.user_id BETWEEN :user AND :user
                                    ORDER BY owned.user_id OFFSET 0) remaining
                            WHERE remaining.id <> factor.id
                              AND remaining.confirmed_at IS NOT NULL) AS last,
           factor.type = 'passkey'
           AND svc.way_in_last(:tenant, :user, factor.id, :wanted_notice::text IS NOT NULL) AS way
      FROM (SELECT factor.*
              FROM svc.factor factor
             WHERE factor.tenant_id = :tenant
               AND (factor.user_id, factor.id) BETWEEN (:user, :factor_id) AND (:user, :factor_id)
             ORDER BY factor.user_id, factor.id
             LIMIT 1) factor
     WHERE factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since
), removed AS (
    DELETE FROM svc.factor factor
     WHERE factor.tenant_id = :tenant
       AND (factor.user_id, factor.id) = (SELECT old.user_id, old.id
                                            FROM old
                                           WHERE NOT (old.last AND :factor_needed::bool)
                                             AND NOT old.way)
    RETURNING factor.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'mfa.factor_removed', 'user', removed.user_id::text, NULL,
           jsonb_build_object('factorId', removed.id, 'type', removed.type, 'name', removed.name)
      FROM removed
     WHERE removed.confirmed_at IS NOT NULL
)
SELECT removed.id, old.id IS NOT NULL AS last, old.way,
       CASE WHEN removed.id IS NULL THEN set_config('svc.tenant', '', true) END,
       nullif(current_setting('svc.ip', true), '') AS _ip, notice.*
  FROM (VALUES (1)) always
  LEFT JOIN old ON true
  LEFT JOIN removed ON true
  LEFT JOIN LATERAL (
       SELECT :notice_tenant,
              coalesce(nullif(current_setting('svc.base_url', true), ''), :wanted_notice::text)
              || '/login?tenant=' || tenant.slug AS _link,
              account.user_name AS _to, account.display_name AS _name, account.locale AS _locale
         FROM svc.tenant tenant
         LEFT JOIN LATERAL (
              SELECT account.user_name, account.display_name, account.locale, account.status
                FROM svc.user_account account
               WHERE account.tenant_id = :tenant AND account.id BETWEEN :user AND :user
               ORDER BY account.id
               LIMIT 1) account ON account.status = 'active'
        WHERE tenant.id = :tenant
          AND :wanted_notice::text IS NOT NULL
          AND removed.confirmed_at IS NOT NULL) notice ON true;


-- statement: factor_codes
-- Who has a factor gets new recovery codes, which take the place of all that there were.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   macs           text ngx_svc_factor_param(macs)
--   wanted_notice  text ngx_svc_param_notice()
--   mac_key_id     text ngx_svc_factor_param(macs_key)
WITH account AS (
    SELECT account.tenant_id, account.id
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant AND account.id = :user AND account.mfa_enrolled
), former AS (
    DELETE FROM svc.recovery_code recovery_code
     WHERE recovery_code.tenant_id = :tenant
       AND recovery_code.user_id = (SELECT account.id FROM account)
), recovery_code AS (
    INSERT INTO svc.recovery_code (tenant_id, user_id, mac, key_id)
    SELECT account.tenant_id, account.id, code.mac, :mac_key_id
      FROM account, unnest(:macs::text::bytea[]) code (mac)
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'mfa.recovery_codes_created', 'user', account.id::text, NULL, '{}'
      FROM account
)
SELECT account.id, nullif(current_setting('svc.ip', true), '') AS _ip, notice.*
  FROM account
  LEFT JOIN LATERAL (:notice) notice ON true;
