-- Writes of a sign-in whose proof is right: statements of one pipeline. Without a tenant,
-- which the check may take away, those after it find nothing and store nothing.


-- statement: signin_tenant_write (shared)
-- The tenant once more, and who acts: nobody yet. The first column is what
-- ngx_svc_committed_tenant() reads.
--
-- parameters
--   host           text ngx_svc_login_param(asked.host)
--   slug           text ngx_svc_login_param(asked.slug)
--   client_ip      text ngx_svc_login_param(client.ip)
--   user_agent     text ngx_svc_login_param(client.user_agent)
--   request_id     text ngx_svc_login_param(asked.request_id)
SELECT set_config('svc.tenant', tenant.id::text, true),
       set_config('svc.actor_type', 'anonymous', true)
       || set_config('svc.ip', coalesce(:client_ip, ''), true)
       || set_config('svc.user_agent', :user_agent, true)
       || set_config('svc.request_id', :request_id, true) IS NULL
  FROM svc.sign_in_tenant(:host, :slug) tenant
 WHERE NOT tenant.suspended;


-- statement: signin_tenant_again (shared)
-- The same of a tenant that has just been found, by its id, and whether it is still there:
-- nothing is seen of it otherwise.
--
-- parameters
--   tenant_id      uuid ngx_svc_param_call(ngx_svc_login_bind_tenant)
--   client_ip      text ngx_svc_login_param(client.ip)
--   user_agent     text ngx_svc_login_param(client.user_agent)
--   request_id     text ngx_svc_login_param(asked.request_id)
SELECT named.id AS _id, tenant.id AS "tenant.id", tenant.slug AS "tenant.slug",
       tenant.name AS "tenant.name",
       set_config('svc.tenant', CASE WHEN tenant.id IS NOT NULL THEN named.id ELSE '' END, true)
       || set_config('svc.actor_type', 'anonymous', true)
       || set_config('svc.ip', coalesce(:client_ip, ''), true)
       || set_config('svc.user_agent', :user_agent, true)
       || set_config('svc.request_id', :request_id, true) IS NULL AS _set
  FROM (SELECT set_config('svc.tenant', :tenant_id::uuid::text, true) AS id) named
  LEFT JOIN (SELECT tenant.id, tenant.slug, tenant.name
               FROM svc.tenant tenant
              WHERE tenant.id = :tenant AND tenant.suspended_at IS NULL OFFSET 0) tenant ON true;


-- statement: signin_lock (shared)
-- The user's lock comes first, and signin_check behind it: that one sees what others have
-- committed until they let go of the lock.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
SELECT
  FROM svc.user_account
 WHERE tenant_id = :tenant AND id = :user
 FOR NO KEY UPDATE;


-- statement: signin_lock_user
-- The lock, and what the answer to a complete sign-in says of its user. A role of the
-- system has all permissions, but "member", which has none.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
SELECT account.id AS "user.id", account.user_name AS "user.email",
       account.display_name AS "user.displayName", account.locale AS "user.locale", account.role,
       array_to_json(CASE
                         WHEN account.role IN ('owner', 'admin')
                              THEN (ARRAY['', 'apps:manage', 'audit:view', 'groups:manage',
                                          'members:manage', 'roles:manage', 'tenant:manage',
                                          'users:view'])[2:]
                         ELSE coalesce((SELECT role.permissions
                                          FROM svc.role role
                                         WHERE role.tenant_id = :tenant
                                           AND role.key = account.role),
                                       '{}')
                     END) AS permissions
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user
 FOR NO KEY UPDATE OF account;


-- statement: signin_check (shared)
-- Whether all is still as it was when the hash was begun. Then it is the user who acts;
-- otherwise there is no tenant for the rest. One row in any case, for
-- ngx_svc_login_lost(), which also says for how many seconds the user is locked.
--
-- parameters
--   user             uuid ngx_svc_login_param(user)
--   password_version text ngx_svc_login_param(password.version)
-- columns
--   :login_checked
SELECT judged.verdict,
       CASE judged.verdict
           WHEN 'go'
                THEN set_config('svc.actor_type', 'user', true)
                     || set_config('svc.actor_id', judged.id::text, true)
           ELSE set_config('svc.tenant', '', true)
       END IS NULL,
       judged.locked
  FROM (VALUES (1)) always
  LEFT JOIN (SELECT account.id,
                    CASE
                        WHEN account.locked_until > now()
                             THEN greatest(ceil(extract(epoch FROM account.locked_until - now())
                                                - 0.001)::bigint,
                                           1)
                    END AS locked,
                    CASE
                        WHEN account.status <> 'active'
                             OR password.version IS DISTINCT FROM :password_version::text::bigint
                             THEN 'other'
                        WHEN account.locked_until > now() THEN 'locked'
                        ELSE 'go'
                    END AS verdict
               FROM svc.user_account account
               LEFT JOIN svc.password password
                    ON password.tenant_id = account.tenant_id AND password.user_id = account.id
              WHERE account.tenant_id = :tenant AND account.id = :user OFFSET 0) judged ON true;


-- statement: signin_session_new (shared)
-- The new session, which has an auth_time when it is full. Its proof counts as a second
-- factor, as a passkey does, or as a password.
--
-- parameters
--   new_id         uuid  ngx_svc_param_new_id()
--   user           uuid  ngx_svc_login_param(user)
--   new_session    bytea ngx_svc_param_new_session()
--   stage          text  ngx_svc_login_param(written.stage)
--   session_ttl    int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_ABSOLUTE)
--   pending_ttl    int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_PENDING)
--   client_ip      text  ngx_svc_login_param(client.ip)
--   client_country text  ngx_svc_login_param(client.country)
--   user_agent     text  ngx_svc_login_param(client.user_agent)
--   score          int4  ngx_svc_param_call(ngx_svc_login_bind_score)
--   signals        text  ngx_svc_login_param(risk.signals)
--   methods        text  ngx_svc_login_param(written.methods)
--   factor_presented   bool  ngx_svc_param_call(ngx_svc_login_bind_trusted)
INSERT INTO svc.session
    (tenant_id, id, user_id, token_hash, root_id, stage, methods, auth_time, expires_at, mfa_at,
     reauth_at, ip, country, user_agent, risk, signals)
SELECT :tenant_or_null AS tenant_id, :new_id::uuid, :user, :new_session::bytea, :new_id::uuid,
       :stage, :methods::text::text[],
       CASE :stage WHEN 'full' THEN clock_timestamp() END,
       now() + make_interval(secs => CASE :stage
                                         WHEN 'full' THEN :session_ttl::int4
                                         ELSE :pending_ttl::int4
                                     END),
       CASE WHEN :factor_presented THEN clock_timestamp() END,
       CASE WHEN NOT :factor_presented THEN clock_timestamp() END,
       :client_ip::text::inet, :client_country, :user_agent, :score::int4, :signals::text::text[]
 WHERE :tenant_or_null IS NOT NULL;


-- statement: signin_session_first
-- The same, and what is said of a complete one of who has no second factor.
--
-- parameters
--   new_id         uuid  ngx_svc_param_new_id()
--   user           uuid  ngx_svc_login_param(user)
--   new_session    bytea ngx_svc_param_new_session()
--   stage          text  ngx_svc_login_param(written.stage)
--   session_ttl    int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_ABSOLUTE)
--   pending_ttl    int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_PENDING)
--   client_ip      text  ngx_svc_login_param(client.ip)
--   client_country text  ngx_svc_login_param(client.country)
--   user_agent     text  ngx_svc_login_param(client.user_agent)
--   score          int4  ngx_svc_param_call(ngx_svc_login_bind_score)
--   signals        text  ngx_svc_login_param(risk.signals)
--   methods        text  ngx_svc_login_param(written.methods)
--   factor_presented   bool  ngx_svc_param_call(ngx_svc_login_bind_trusted)
INSERT INTO svc.session
    (tenant_id, id, user_id, token_hash, root_id, stage, methods, auth_time, expires_at, mfa_at,
     reauth_at, ip, country, user_agent, risk, signals)
SELECT :tenant_or_null AS tenant_id, :new_id::uuid, :user, :new_session::bytea, :new_id::uuid,
       :stage, :methods::text::text[],
       CASE :stage WHEN 'full' THEN clock_timestamp() END,
       now() + make_interval(secs => CASE :stage
                                         WHEN 'full' THEN :session_ttl::int4
                                         ELSE :pending_ttl::int4
                                     END),
       CASE WHEN :factor_presented THEN clock_timestamp() END,
       CASE WHEN NOT :factor_presented THEN clock_timestamp() END,
       :client_ip::text::inet, :client_country, :user_agent, :score::int4, :signals::text::text[]
 WHERE :tenant_or_null IS NOT NULL
RETURNING false AS "mfa.enrolled", '[]'::json AS "mfa.methods", mfa_at AS "mfa.verifiedAt",
          expires_at AS "expiresAt";


-- statement: signin_session_old (shared)
-- The session of the cookie that came with the sign-in ends, whoever's it is.
--
-- parameters
--   old_session    bytea ngx_svc_login_param(asked.old_session)
UPDATE svc.session
   SET ended_at = now()
 WHERE tenant_id = :tenant
   AND (user_id, id) = (SELECT session.user_id, session.id
                          FROM svc.session session
                         WHERE session.tenant_id = :tenant
                           AND session.token_hash BETWEEN :old_session AND :old_session
                         ORDER BY session.token_hash
                         LIMIT 1)
   AND ended_at IS NULL;


-- statement: signin_sessions
-- The newest 50 sessions of the user stay.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   new_id         uuid ngx_svc_param_new_id()
UPDATE svc.session session
   SET ended_at = now()
 WHERE session.tenant_id = :tenant
   AND session.user_id = :user
   AND session.id = ANY (ARRAY(SELECT live.id
                                 FROM (SELECT live.id, live.created_at
                                         FROM svc.session live
                                        WHERE live.tenant_id = :tenant
                                          AND live.user_id BETWEEN :user AND :user
                                          AND live.ended_at IS NULL
                                        ORDER BY live.user_id OFFSET 0) live
                                WHERE live.id <> :new_id::uuid
                                ORDER BY live.created_at DESC OFFSET 49));


-- statement: signin_user_kept (shared)
-- What a complete sign-in sets of its user when no failures are to be taken back: there are
-- none, or it was by passkey, whose a lock is not.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
UPDATE svc.user_account
   SET last_login_at = now(),
       last_active_day = greatest(last_active_day,
                                  (now()::timestamptz(3) AT TIME ZONE 'UTC')::date)
 WHERE tenant_id = :tenant AND id = :user;


-- statement: signin_rehash (shared)
-- The same password by today's parameters, unless it has been changed meanwhile.
--
-- parameters
--   user             uuid  ngx_svc_login_param(user)
--   password_version text  ngx_svc_login_param(password.version)
--   new_hash         bytea ngx_svc_login_param(password.rehash)
UPDATE svc.password
   SET hash = :new_hash
 WHERE tenant_id = :tenant AND user_id = :user AND version = :password_version::text::bigint;


-- statement: signin_user_done (shared)
-- A complete sign-in takes back what has failed from the same address. Of what has failed
-- elsewhere it takes back nothing: who guesses there would see that somebody has signed
-- in, and so that there is somebody. A time of svc.sign_in is one of whole ms.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   client_ip      text ngx_svc_login_param(client.ip)
UPDATE svc.user_account account
   SET last_login_at = now(),
       last_active_day = greatest(account.last_active_day,
                                  (now()::timestamptz(3) AT TIME ZONE 'UTC')::date),
       (failed_logins, failed_since, locked_until) = (
           SELECT count(*), min(failure.at), NULL::timestamptz
             FROM svc.sign_in failure
            WHERE failure.tenant_id = :tenant
              AND failure.user_id = :user
              AND failure.outcome = 'failure'
              AND failure.at > account.failed_since - interval '1 ms'
              AND account.locked_until IS NULL
              AND failure.ip IS DISTINCT FROM :client_ip::text::inet)
 WHERE account.tenant_id = :tenant AND account.id = :user;


-- statement: signin_done (shared)
-- A complete sign-in is written down, with the methods of its session, and the connection
-- that it came by; and who of the webhooks is told of it.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   score          int4  ngx_svc_param_call(ngx_svc_login_bind_score)
--   signals        text  ngx_svc_login_param(risk.signals)
--   new_session    bytea ngx_svc_param_new_session()
-- columns
--   :login_done
WITH event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.login', 'user', :user::uuid::text, NULL,
           jsonb_build_object('score', :score::int4, 'signals', to_jsonb(:signals::text::text[]))
           || coalesce((SELECT jsonb_strip_nulls(jsonb_build_object(
                                   'methods', to_jsonb(array_remove(session.methods, 'hwk')),
                                   'connection', svc.connection_key(session.tenant_id,
                                                                    session.connection_id),
                                   'upstreamAcr', session.upstream_acr))
                          FROM svc.session session
                         WHERE session.tenant_id = :tenant
                           AND session.token_hash BETWEEN :new_session AND :new_session
                         ORDER BY session.token_hash
                         LIMIT 1),
                       '{}')
     WHERE :tenant_or_null IS NOT NULL
    RETURNING target_id, id, created_at
)
SELECT event.target_id AS _user, event.id AS _number, event.created_at AS _at,
       array_to_string(ARRAY(SELECT endpoint.id
                               FROM svc.webhook_endpoint endpoint
                              WHERE endpoint.tenant_id = :tenant
                                AND endpoint.enabled
                                AND 'user.login' = ANY (endpoint.events)),
                       ',') AS _subscribers
  FROM event;


-- statement: signin_done_first
-- The same of a session whose methods are those of the first step alone.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   score          int4 ngx_svc_param_call(ngx_svc_login_bind_score)
--   signals        text ngx_svc_login_param(risk.signals)
--   methods        text ngx_svc_login_param(written.methods)
-- columns
--   :login_done
WITH event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.login', 'user', :user::uuid::text, NULL,
           jsonb_build_object('score', :score::int4, 'signals', to_jsonb(:signals::text::text[]),
                              'methods', to_jsonb(array_remove(:methods::text::text[], 'hwk')))
     WHERE :tenant_or_null IS NOT NULL
    RETURNING target_id, id, created_at
)
SELECT event.target_id AS _user, event.id AS _number, event.created_at AS _at,
       array_to_string(ARRAY(SELECT endpoint.id
                               FROM svc.webhook_endpoint endpoint
                              WHERE endpoint.tenant_id = :tenant
                                AND endpoint.enabled
                                AND 'user.login' = ANY (endpoint.events)),
                       ',') AS _subscribers
  FROM event;


-- statement: signin_session_made (shared)
-- What signin_session says, of the session that has just been made.
--
-- parameters
--   new_session    bytea ngx_svc_param_new_session()
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
           AND session.token_hash BETWEEN :new_session AND :new_session
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


-- statement: signin_waits (shared)
-- The proof is right, and the sign-in is refused until more is done than to present a
-- factor.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   stage          text ngx_svc_login_param(written.stage)
INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
SELECT 'failure', 'user.login_failed', 'user', :user::uuid::text,
       (SELECT account.user_name
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant AND account.id BETWEEN :user::uuid AND :user::uuid
         ORDER BY account.id
         LIMIT 1),
       jsonb_build_object('reason',
                          CASE :stage::text
                              WHEN 'enroll' THEN 'mfa_enrollment_required'
                              ELSE 'password_expired'
                          END)
  FROM svc.tenant tenant
 WHERE tenant.id = :tenant;
