-- fragment: live_sessions
-- The sessions of the caller's user that are alive: full ones, neither ended, nor over, nor
-- idle for too long, nor older than the user's last cut-off; and which of them is the
-- caller's. Of the parameters session and session_idle.
SELECT caller.user_id, caller.id AS current_id, live.id, live.created_at, live.last_seen_at,
       live.expires_at, live.ip, live.country, live.user_agent, live.methods
  FROM (SELECT session.id, session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) caller
  CROSS JOIN LATERAL (
       SELECT account.valid_after
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN caller.user_id AND caller.user_id
        ORDER BY account.id
        LIMIT 1) account
  CROSS JOIN LATERAL (
       SELECT session.*
         FROM svc.session session
        WHERE session.tenant_id = :tenant
          AND session.user_id BETWEEN caller.user_id AND caller.user_id
          AND session.ended_at IS NULL
        ORDER BY session.user_id OFFSET 0) live
 WHERE live.expires_at > now()
   AND live.stage = 'full'
   AND live.last_seen_at > now() - make_interval(secs => :session_idle::int4)
   AND live.created_at >= coalesce(account.valid_after, '-infinity')


-- statement: admin_sessions_total
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   session_idle   int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_IDLE)
SELECT count(*)
  FROM (:live_sessions) live;


-- statement: admin_sessions_list
-- That a session is bound to a key is none of its methods for people.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   session_idle   int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_IDLE)
--   page_limit     int4  ngx_svc_param_limit()
--   page_offset    int4  ngx_svc_param_offset()
SELECT live.id, live.id = live.current_id AS current, live.created_at AS "createdAt",
       live.last_seen_at AS "lastSeenAt", live.expires_at AS "expiresAt", host(live.ip) AS ip,
       live.country, live.user_agent AS "userAgent",
       array_to_json(array_remove(live.methods, 'hwk')) AS methods
  FROM (:live_sessions) live
 ORDER BY live.created_at DESC, live.id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_session_end
-- One that has ended already is not an error: it was of the caller's user, still.
--
-- missing: NGX_SVC_ADMIN_NO_SESSION
-- parameters
--   session        bytea ngx_svc_param_session()
--   session_id     uuid  ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_SESSION)
WITH old AS (
    SELECT wanted.id, wanted.user_id, wanted.ended_at
      FROM (SELECT session.id, session.user_id
              FROM svc.session session
             WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
             ORDER BY session.token_hash
             LIMIT 1) caller
      CROSS JOIN LATERAL (
           SELECT session.id, session.user_id, session.ended_at
             FROM svc.session session
            WHERE session.tenant_id = :tenant
              AND session.id BETWEEN :session_id AND :session_id
            ORDER BY session.id
            LIMIT 1
            FOR UPDATE) wanted
     WHERE wanted.user_id = caller.user_id
), ended AS (
    UPDATE svc.session
       SET ended_at = now()
     WHERE tenant_id = :tenant
       AND (user_id, id) = (SELECT old.user_id, old.id FROM old WHERE old.ended_at IS NULL)
    RETURNING id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'session.revoked', 'session', ended.id::text, NULL, '{}'
      FROM ended
)
SELECT old.id
  FROM old;


-- statement: admin_sessions_lock
-- The user's row is locked: a sign-in that held it has begun before the cut-off, which is
-- made once the lock is had.
--
-- parameters
--   session        bytea ngx_svc_param_session()
SELECT
  FROM (SELECT session.id, session.user_id
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


-- statement: admin_sessions_revoke
-- All that began before now are over: the caller's goes on as another one, which the next
-- statement makes. Whoever else has ended the caller's in the meantime is seen behind the
-- lock, and then there is no tenant for that.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   session_idle   int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_IDLE)
-- columns
--   revokedSessions int8         as text; NULL: the session has ended
--   _ended          text         unread
WITH counted AS (
    SELECT live.user_id, count(*) - 1 AS others
      FROM (:live_sessions) live
     GROUP BY live.user_id
    HAVING bool_or(live.id = live.current_id)
), account AS (
    UPDATE svc.user_account account
       SET valid_after = clock_timestamp()
     WHERE account.tenant_id = :tenant AND account.id = (SELECT counted.user_id FROM counted)
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'session.revoked', 'session', NULL, NULL,
           jsonb_build_object('revokedSessions', counted.others)
      FROM counted, account
)
SELECT counted.others AS "revokedSessions",
       CASE WHEN counted.others IS NULL THEN set_config('svc.tenant', '', true) END AS _ended
  FROM (VALUES (1)) always
  LEFT JOIN counted ON true;
