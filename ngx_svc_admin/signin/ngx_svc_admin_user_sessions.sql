-- statement: admin_user_sessions_total
-- The same sessions count as in the user's own list: full ones, neither ended, nor over, nor
-- idle for too long, nor older than the last cut-off.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   session_idle   int4 ngx_svc_param_setting(NGX_SVC_SET_SESSION_IDLE)
SELECT (SELECT count(*)
          FROM (SELECT session.*
                  FROM svc.session session
                 WHERE session.tenant_id = :tenant
                   AND session.user_id BETWEEN :user_id AND :user_id
                   AND session.ended_at IS NULL
                 ORDER BY session.user_id OFFSET 0) live
         WHERE live.expires_at > now()
           AND live.stage = 'full'
           AND live.last_seen_at > now() - make_interval(secs => :session_idle::int4)
           AND live.created_at >= coalesce(account.valid_after, '-infinity'))
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id;


-- statement: admin_user_sessions_list
--
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   session_idle   int4 ngx_svc_param_setting(NGX_SVC_SET_SESSION_IDLE)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT live.id, live.created_at AS "createdAt", live.last_seen_at AS "lastSeenAt",
       live.expires_at AS "expiresAt", host(live.ip) AS ip, live.country,
       live.user_agent AS "userAgent", array_to_json(array_remove(live.methods, 'hwk')) AS methods
  FROM (SELECT account.valid_after
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant AND account.id = :user_id) account
  CROSS JOIN LATERAL (
       SELECT session.*
         FROM svc.session session
        WHERE session.tenant_id = :tenant
          AND session.user_id BETWEEN :user_id AND :user_id
          AND session.ended_at IS NULL
        ORDER BY session.user_id OFFSET 0) live
 WHERE live.expires_at > now()
   AND live.stage = 'full'
   AND live.last_seen_at > now() - make_interval(secs => :session_idle::int4)
   AND live.created_at >= coalesce(account.valid_after, '-infinity')
 ORDER BY live.created_at DESC, live.id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_user_session_end
-- One that has ended already is not an error: it was of the user, still.
--
-- missing: NGX_SVC_ADMIN_NO_USER_SESSION
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   session_id     uuid ngx_svc_param_path_id(1, NGX_SVC_ADMIN_NO_USER_SESSION)
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
WITH old AS MATERIALIZED (
    SELECT id, role
      FROM svc.user_account
     WHERE tenant_id = :tenant AND id = :user_id
     FOR NO KEY UPDATE
), decided AS MATERIALIZED (
    SELECT session.id, session.user_id, session.ended_at,
           CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
           END AS verdict
      FROM old
      CROSS JOIN LATERAL (
           SELECT session.id, session.user_id, session.ended_at
             FROM svc.session session
            WHERE session.tenant_id = :tenant
              AND session.id BETWEEN :session_id::uuid AND :session_id::uuid
            ORDER BY session.id
            LIMIT 1
            FOR UPDATE) session
     WHERE session.user_id = old.id
), ended AS (
    UPDATE svc.session
       SET ended_at = now()
     WHERE tenant_id = :tenant
       AND (user_id, id) = (SELECT decided.user_id, decided.id
                              FROM decided
                             WHERE decided.verdict IS NULL AND decided.ended_at IS NULL)
    RETURNING user_id, id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'session.revoked', 'session', ended.id::text, NULL,
           jsonb_build_object('userId', ended.user_id)
      FROM ended
)
SELECT decided.verdict AS _verdict
  FROM decided;


-- statement: admin_user_factors_total
-- A user has 20 factors at most, and ten recovery codes.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
-- columns
--   _total         int8         answer
--   codes          int8
SELECT (SELECT count(*)
          FROM (SELECT factor.*
                  FROM svc.factor factor
                 WHERE factor.tenant_id = :tenant AND factor.user_id BETWEEN :user_id AND :user_id
                 ORDER BY factor.user_id OFFSET 0) factor
         WHERE factor.confirmed_at IS NOT NULL
            OR factor.created_at > :unconfirmed_since) AS _total,
       (SELECT count(*)
          FROM (SELECT
                  FROM svc.recovery_code recovery_code
                 WHERE recovery_code.tenant_id = :tenant
                   AND recovery_code.user_id BETWEEN :user_id AND :user_id
                 ORDER BY recovery_code.user_id OFFSET 0) recovery_code) AS codes
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id;


-- statement: admin_user_factors_list
--
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT factor.id, factor.type, factor.name, factor.created_at AS "createdAt",
       factor.last_used_at AS "lastUsedAt", factor.confirmed_at IS NOT NULL AS confirmed,
       (SELECT passkey.bs
          FROM svc.passkey passkey
         WHERE passkey.tenant_id = factor.tenant_id
           AND passkey.user_id = factor.user_id
           AND passkey.factor_id = factor.id) AS "backedUp"
  FROM (SELECT factor.*
          FROM svc.factor factor
         WHERE factor.tenant_id = :tenant AND factor.user_id BETWEEN :user_id AND :user_id
         ORDER BY factor.user_id OFFSET 0) factor
 WHERE factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since
 ORDER BY factor.created_at, factor.id
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;
