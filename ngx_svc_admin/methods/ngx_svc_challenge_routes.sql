-- statement: challenge_open
-- A session has one challenge, its root's, and gets another one when that is over. Without
-- a row all attempts of it are made: a session that waits for a factor gets no other one
-- while it lasts.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   challenge_id   uuid  ngx_svc_param_new_id()
--   attempts_max   int4  ngx_svc_param_setting(NGX_SVC_SET_MFA_CHALLENGE_ATTEMPTS)
--   challenge_ttl  int4  ngx_svc_param_setting(NGX_SVC_SET_MFA_CHALLENGE_TTL)
-- columns
--   :stepup_tried
WITH session AS (
    SELECT session.root_id, session.user_id, session.stage
      FROM svc.session session
     WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
     ORDER BY session.token_hash
     LIMIT 1
), challenge AS (
    INSERT INTO svc.challenge AS challenge (tenant_id, root_id, id, user_id, attempts, expires_at)
    SELECT tenant.id, session.root_id, :challenge_id::uuid, session.user_id, 0,
           now() + make_interval(secs => :challenge_ttl::int4)
      FROM svc.tenant tenant, session
     WHERE tenant.id = :tenant
    ON CONFLICT (tenant_id, root_id) DO UPDATE
       SET id = CASE
                    WHEN NOT challenge.expires_at > now()
                         OR challenge.attempts >= :attempts_max::int4
                        THEN excluded.id
                    ELSE challenge.id
                END,
           attempts = 0 + CASE
                              WHEN NOT challenge.expires_at > now()
                                   OR challenge.attempts >= :attempts_max::int4
                                  THEN 0
                              ELSE challenge.attempts
                          END,
           expires_at = CASE
                            WHEN NOT challenge.expires_at > now()
                                 OR challenge.attempts >= :attempts_max::int4
                                THEN excluded.expires_at
                            ELSE challenge.expires_at
                        END,
           mail_id = CASE
                         WHEN NOT challenge.expires_at > now()
                              OR challenge.attempts >= :attempts_max::int4
                             THEN NULL
                         ELSE challenge.mail_id
                     END
     WHERE NOT challenge.expires_at > now()
        OR challenge.attempts < :attempts_max::int4
        OR (SELECT session.stage FROM session) = 'full'
    RETURNING challenge.id, challenge.attempts, challenge.expires_at
)
SELECT challenge.id AS "challengeId", challenge.attempts, challenge.expires_at AS "expiresAt",
       true AS own
  FROM (VALUES (1)) always
  LEFT JOIN challenge ON true;
