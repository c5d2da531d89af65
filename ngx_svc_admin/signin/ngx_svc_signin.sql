-- statement: signin_session (shared)
-- What GET /v1/auth/session says. The methods are the kinds of what the user can show as a
-- second factor, in the order in which a challenge offers them: a mail is none to an
-- address that is not verified, nor after a mail has been the first factor.
--
-- parameters
--   session        bytea ngx_svc_param_session()
SELECT account.id AS "user.id", account.user_name AS "user.email",
       account.display_name AS "user.displayName", account.locale AS "user.locale",
       tenant.id AS "tenant.id", tenant.slug AS "tenant.slug", tenant.name AS "tenant.name",
       account.role,
       array_to_json(CASE
                         WHEN account.role IN ('owner', 'admin')
                              THEN (ARRAY['', 'apps:manage', 'audit:view', 'groups:manage',
                                          'members:manage', 'roles:manage', 'tenant:manage',
                                          'users:view'])[2:]
                         ELSE coalesce(role.permissions, '{}')
                     END) AS permissions,
       account.mfa_enrolled AS "mfa.enrolled",
       array_to_json(CASE
           WHEN account.mfa_enrolled
                THEN ARRAY(SELECT factor.type
                             FROM (SELECT factor.type, factor.confirmed_at
                                     FROM svc.factor factor
                                    WHERE factor.tenant_id = :tenant
                                      AND factor.user_id BETWEEN account.id AND account.id
                                    ORDER BY factor.user_id OFFSET 0) factor
                            WHERE factor.confirmed_at IS NOT NULL
                              AND (factor.type <> 'email'
                                   OR account.email_verified
                                      AND session.methods[1] IS DISTINCT FROM 'email')
                            GROUP BY factor.type
                            ORDER BY factor.type = 'email', factor.type)
                     || CASE
                            WHEN EXISTS (SELECT code.mac, code.key_id
                                           FROM svc.recovery_code code
                                          WHERE code.tenant_id = :tenant
                                            AND code.user_id BETWEEN account.id AND account.id
                                          ORDER BY code.user_id OFFSET 0)
                                 THEN ARRAY['recovery']
                        END
           ELSE '{}'
       END) AS "mfa.methods",
       session.mfa_at AS "mfa.verifiedAt", session.expires_at AS "expiresAt"
  FROM (SELECT session.*
          FROM svc.session session
         WHERE session.tenant_id = :tenant
           AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT account.*
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN session.user_id AND session.user_id
        ORDER BY account.id
        LIMIT 1) account
  JOIN svc.tenant tenant ON tenant.id = session.tenant_id
  LEFT JOIN svc.role role ON role.tenant_id = session.tenant_id AND role.key = account.role;


-- statement: signin_rotate (shared)
-- The session goes on under a new cookie, while the old one ends.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   new_session    bytea ngx_svc_param_new_session()
WITH ended AS (
    :signin_end RETURNING *
)
INSERT INTO svc.session
    (tenant_id, id, user_id, token_hash, root_id, stage, methods, auth_time, expires_at, mfa_at,
     reauth_at, ip, country, user_agent, risk, signals, connection_id, upstream_sid,
     upstream_subject, upstream_acr)
SELECT ended.tenant_id, gen_random_uuid(), ended.user_id, :new_session::bytea, ended.root_id,
       ended.stage, ended.methods, ended.auth_time, ended.expires_at, ended.mfa_at,
       ended.reauth_at, ended.ip, ended.country, ended.user_agent, ended.risk, ended.signals,
       ended.connection_id, ended.upstream_sid, ended.upstream_subject, ended.upstream_acr
  FROM ended;


-- statement: signin_logout (shared)
--
-- parameters
--   session        bytea ngx_svc_param_session()
WITH ended AS (
    :signin_end RETURNING id
)
INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
SELECT 'session.revoked', 'session', ended.id::text, NULL, '{}'
  FROM ended;
