-- statement: challenge_try
-- It takes an attempt of the session's challenge, which is made if there is none. Without a
-- row there are no more of them, or the challenge that is presented is over; "own" says that it
-- is the session's.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   challenge_id   uuid  ngx_svc_param_new_id()
--   attempts_max   int4  ngx_svc_param_setting(NGX_SVC_SET_MFA_CHALLENGE_ATTEMPTS)
--   challenge_ttl  int4  ngx_svc_param_setting(NGX_SVC_SET_MFA_CHALLENGE_TTL)
--   presented_id       uuid  ngx_svc_stepup_param(challenge)
-- columns
--   :stepup_tried
WITH session AS (
    SELECT session.root_id, session.user_id
      FROM svc.session session
     WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
     ORDER BY session.token_hash
     LIMIT 1
), challenge AS (
    INSERT INTO svc.challenge AS challenge (tenant_id, root_id, id, user_id, attempts, expires_at)
    SELECT tenant.id, session.root_id, :challenge_id::uuid, session.user_id, 1,
           now() + make_interval(secs => :challenge_ttl::int4)
      FROM svc.tenant tenant, session
     WHERE tenant.id = :tenant
       AND (:presented_id::uuid IS NULL
            OR EXISTS (SELECT
                         FROM svc.challenge presented
                        WHERE presented.tenant_id = :tenant
                          AND presented.root_id = (SELECT session.root_id FROM session)
                          AND presented.id = :presented_id))
    ON CONFLICT (tenant_id, root_id) DO UPDATE
       SET id = CASE WHEN NOT challenge.expires_at > now() THEN excluded.id ELSE challenge.id END,
           attempts = 1 + CASE
                              WHEN NOT challenge.expires_at > now() THEN 0
                              ELSE challenge.attempts
                          END,
           expires_at = CASE
                            WHEN NOT challenge.expires_at > now() THEN excluded.expires_at
                            ELSE challenge.expires_at
                        END,
           mail_id = CASE WHEN NOT challenge.expires_at > now() THEN NULL ELSE challenge.mail_id END
     WHERE CASE
               WHEN challenge.expires_at > now()
                   THEN challenge.attempts < :attempts_max::int4
                        AND coalesce(challenge.id = :presented_id, true)
               ELSE :presented_id IS NULL
           END
    RETURNING challenge.id, challenge.attempts, challenge.expires_at
)
SELECT challenge.id AS "challengeId", challenge.attempts, challenge.expires_at AS "expiresAt",
       :presented_id IS NULL
       OR EXISTS (SELECT
                    FROM svc.challenge presented
                   WHERE presented.tenant_id = :tenant
                     AND presented.root_id = (SELECT session.root_id FROM session)
                     AND presented.id = :presented_id) AS own
  FROM (VALUES (1)) always
  LEFT JOIN challenge ON true;
