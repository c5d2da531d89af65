-- statement: factor_read (shared)
-- What is known of the caller before a factor is added, removed or shown: the session and
-- its user, the password, how many factors there are, and what the policies need. Of a
-- session that waits it says how many ms ago its sign-in has begun; who accepts an
-- invitation or signs up has been counted as a login by no address: of that one nothing is
-- known.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   client_ip      text  ngx_svc_login_param(client.ip)
-- columns
--   :login_session
--   _name          text
--   _slug          text
--   _hash          bytea
--   stage          text
--   locked         int8
--   expired        bool
--   total          int8
--   unconfirmed    int8
--   mfa_enrolled   bool
--   verified       bool
--   proved         bool
--   by_mail        bool
--   forced         bool
SELECT governance.access_policy AS _policy, governance.access_number AS _version,
       account.tenant_id AS _tenant,
       EXISTS (SELECT
                 FROM svc.ip_block block
                WHERE block.tenant_id = account.tenant_id
                  AND block.ip = :client_ip::text::inet
                  AND coalesce(block.expires_at > now(), true)) AS blocked,
       account.id AS _user, account.user_name AS _email, password.version AS _password,
       session.risk, session.signals, host(session.ip) AS _ip,
       CASE
           WHEN session.stage <> 'full'
                AND (account.source NOT IN ('invitation', 'local')
                     OR account.last_login_at IS NOT NULL)
                THEN extract(epoch FROM clock_timestamp() - (
                         SELECT root.created_at
                           FROM svc.session root
                          WHERE root.tenant_id = :tenant
                            AND root.id BETWEEN session.root_id AND session.root_id
                          ORDER BY root.id
                          LIMIT 1))::numeric(20, 3) * 1000
       END::bigint AS _age,
       tenant.name AS _name, tenant.slug AS _slug, password.hash AS _hash, session.stage,
       CASE
           WHEN account.locked_until > now()
                THEN greatest(ceil(extract(epoch FROM account.locked_until - now())
                                   - 0.001)::bigint,
                              1)
       END AS locked,
       'password' = ANY (session.methods) AND coalesce(:password_expired, false) AS expired,
       factor.total, factor.unconfirmed, account.mfa_enrolled, account.email_verified AS verified,
       session.proved_at IS NOT NULL AS proved,
       coalesce(session.methods[1] = 'email', false) AS by_mail,
       svc.sign_in_by(tenant.id, tenant.sign_in_forced, account.user_name) IS NOT NULL AS forced
  FROM (SELECT session.*
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT account.*
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN session.user_id AND session.user_id
        ORDER BY account.id
        LIMIT 1) account
  JOIN svc.tenant tenant ON tenant.id = account.tenant_id
  JOIN svc.governance governance ON governance.tenant_id = account.tenant_id
  LEFT JOIN svc.password password
       ON password.tenant_id = account.tenant_id AND password.user_id = account.id
  CROSS JOIN LATERAL (
       -- one that is not confirmed in 15 minutes is none any more
       SELECT count(*) AS total, count(*) FILTER (WHERE factor.confirmed_at IS NULL) AS unconfirmed
         FROM (SELECT factor.*
                 FROM svc.factor factor
                WHERE factor.tenant_id = :tenant
                  AND factor.user_id BETWEEN account.id AND account.id
                ORDER BY factor.user_id OFFSET 0) factor
        WHERE factor.confirmed_at IS NOT NULL
           OR factor.created_at > :unconfirmed_since) factor;


-- statement: factor_check (shared)
-- Behind the user's lock: whether the session is still the user's, and alive. Otherwise
-- there is no tenant for the rest.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   session        bytea ngx_svc_param_session()
SELECT judged.verdict,
       CASE WHEN judged.verdict IS NULL THEN set_config('svc.tenant', '', true) END
  FROM (VALUES (1)) always
  LEFT JOIN (SELECT 'go' AS verdict
               FROM svc.user_account account
              WHERE account.tenant_id = :tenant
                AND account.id = :user
                AND account.status = 'active'
                AND EXISTS (SELECT
                              FROM (SELECT session.*
                                      FROM svc.session session
                                     WHERE session.tenant_id = :tenant
                                       AND session.token_hash BETWEEN :session AND :session
                                     ORDER BY session.token_hash
                                     LIMIT 1) session
                             WHERE session.ended_at IS NULL
                               AND session.user_id = account.id
                               AND session.stage <> 'locked'
                               AND session.created_at
                                   >= coalesce(account.valid_after, '-infinity'))
             OFFSET 0) judged ON true;


-- statement: factor_added (shared)
-- What a factor brings once it is confirmed: with the first one recovery codes, an event,
-- and a mail. Whoever waits for something else in another session has not met this factor:
-- that sign-in begins anew.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   factor_id      uuid  ngx_svc_factor_param(id)
--   code_macs      text  ngx_svc_factor_param(macs)
--   wanted_notice  text  ngx_svc_param_notice()
--   session        bytea ngx_svc_param_session()
--   mac_key_id     text  ngx_svc_factor_param(macs_key)
WITH added AS (
    SELECT factor.*,
           NOT EXISTS (SELECT
                         FROM (SELECT earlier.*
                                 FROM svc.factor earlier
                                WHERE earlier.tenant_id = :tenant
                                  AND earlier.user_id BETWEEN :user AND :user
                                ORDER BY earlier.user_id OFFSET 0) earlier
                        WHERE earlier.id <> factor.id
                          AND earlier.confirmed_at IS NOT NULL) AS first
      FROM (SELECT factor.*
              FROM svc.factor factor
             WHERE factor.tenant_id = :tenant
               AND (factor.user_id, factor.id) BETWEEN (:user, :factor_id) AND (:user, :factor_id)
             ORDER BY factor.user_id, factor.id
             LIMIT 1) factor
     WHERE factor.confirmed_at IS NOT NULL
), recovery_code AS (
    INSERT INTO svc.recovery_code (tenant_id, user_id, mac, key_id)
    SELECT added.tenant_id, added.user_id, code.mac, :mac_key_id
      FROM added, unnest(:code_macs::text::bytea[]) code (mac)
     WHERE added.first
), ended AS (
    UPDATE svc.session session
       SET ended_at = now()
     WHERE session.tenant_id = :tenant
       AND session.user_id = :user
       AND session.id = ANY (ARRAY(
               SELECT pending.id
                 FROM svc.session pending
                WHERE pending.tenant_id = :tenant
                  AND pending.user_id = :user
                  AND pending.stage <> 'full'
                  AND pending.ended_at IS NULL
                  AND pending.root_id <> (SELECT own.root_id
                                            FROM svc.session own
                                           WHERE own.tenant_id = :tenant
                                             AND own.token_hash BETWEEN :session AND :session
                                           ORDER BY own.token_hash
                                           LIMIT 1)
                  AND EXISTS (SELECT FROM added)))
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'mfa.factor_added', 'user', added.user_id::text, NULL,
           jsonb_build_object('factorId', added.id, 'type', added.type, 'name', added.name)
      FROM added
)
SELECT added.id, added.type, added.name, added.created_at AS "createdAt",
       added.last_used_at AS "lastUsedAt", added.confirmed_at IS NOT NULL AS confirmed,
       (SELECT passkey.bs
          FROM svc.passkey passkey
         WHERE passkey.tenant_id = added.tenant_id
           AND passkey.user_id = added.user_id
           AND passkey.factor_id = added.id) AS "backedUp",
       added.first AS _first,
       nullif(current_setting('svc.ip', true), '') AS _ip, mail.*
  FROM added
  LEFT JOIN LATERAL (:notice) mail ON true;


-- statement: factor_rotate (shared)
-- The session goes on under a new cookie, with the proof that was presented, and its
-- challenge is over. What begins a session counts as such, any other proof as a second
-- factor. In another stage another time is left.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   new_session    bytea ngx_svc_param_new_session()
--   session_ttl    int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_ABSOLUTE)
--   pending_ttl    int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_PENDING)
--   stage          text  ngx_svc_login_param(written.stage)
--   method         text  ngx_svc_factor_param(method)
--   more_methods   text  ngx_svc_factor_param(more)
--   reauth         bool  ngx_svc_param_call(ngx_svc_factor_bind_reauth)
WITH ended AS (
    :signin_end RETURNING *
), challenge AS (
    DELETE FROM svc.challenge challenge
     WHERE challenge.tenant_id = :tenant
       AND challenge.root_id = (SELECT ended.root_id FROM ended)
)
INSERT INTO svc.session
    (tenant_id, id, user_id, token_hash, root_id, stage, methods, auth_time, expires_at, mfa_at,
     reauth_at, ip, country, user_agent, risk, signals, connection_id, upstream_sid,
     upstream_subject, upstream_acr)
SELECT ended.tenant_id, gen_random_uuid(), ended.user_id, :new_session::bytea, ended.root_id,
       :stage,
       CASE
           WHEN :method = ANY (ended.methods) THEN ended.methods
           ELSE ended.methods || :method::text
       END
       || ARRAY(SELECT more FROM unnest(:more_methods::text::text[]) more
                 WHERE more <> ALL (ended.methods)),
       CASE :stage WHEN 'full' THEN coalesce(ended.auth_time, clock_timestamp()) END,
       CASE
           WHEN ended.stage = :stage THEN ended.expires_at
           ELSE now() + make_interval(secs => CASE :stage
                                                  WHEN 'full' THEN :session_ttl::int4
                                                  ELSE :pending_ttl::int4
                                              END)
       END,
       CASE WHEN :reauth::bool THEN ended.mfa_at ELSE clock_timestamp() END,
       CASE WHEN :reauth::bool THEN clock_timestamp() ELSE ended.reauth_at END,
       ended.ip, ended.country, ended.user_agent, ended.risk, ended.signals,
       ended.connection_id, ended.upstream_sid, ended.upstream_subject, ended.upstream_acr
  FROM ended;
