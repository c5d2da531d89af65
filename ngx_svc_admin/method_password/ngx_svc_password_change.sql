-- statement: change_read
-- This is what is read for a change by the user, whose session may wait for it: then its
-- own sign-in, which began with its root, goes on.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   client_ip      text  ngx_svc_login_param(client.ip)
-- columns
--   :login_session
--   waiting           bool
--   directory         bool
--   locked            int8
--   _first            text
--   _last             text
--   _display          text
--   _slug             text
--   _name             text
--   min_length        int4
--   reject_breached   bool
--   reject_contextual bool
--   require_lower     bool
--   require_upper     bool
--   require_digit     bool
--   require_symbol    bool
--   _hash             bytea
--   _history          text
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
       session.stage = 'password' AS waiting,
       svc.directory_account(tenant.id, tenant.directory, account.id) AS directory,
       ceil(extract(epoch FROM account.locked_until - now()))::bigint AS locked,
       account.first_name AS _first, account.last_name AS _last, account.display_name AS _display,
       tenant.slug AS _slug, tenant.name AS _name, rules.min_length, rules.reject_breached,
       rules.reject_contextual, rules.require_lower, rules.require_upper, rules.require_digit,
       rules.require_symbol, password.hash AS _hash,
       (SELECT string_agg(encode(former.hash, 'hex'), ',' ORDER BY former.version DESC)
          FROM (SELECT former.hash, former.version
                  FROM svc.password_history former
                 WHERE former.tenant_id = account.tenant_id AND former.user_id = account.id
                 ORDER BY former.version DESC
                 LIMIT rules.history_count) former) AS _history
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
  -- The policies of the user's groups decide, and without one the tenant's does.
  CROSS JOIN LATERAL (
       SELECT coalesce(max(policy.min_length), governance.min_length) AS min_length,
              coalesce(max(policy.history_count), governance.history_count) AS history_count,
              coalesce(bool_or(policy.reject_breached), governance.reject_breached)
                  AS reject_breached,
              coalesce(bool_or(policy.reject_contextual), governance.reject_contextual)
                  AS reject_contextual,
              coalesce(bool_or(policy.require_lower), governance.require_lower) AS require_lower,
              coalesce(bool_or(policy.require_upper), governance.require_upper) AS require_upper,
              coalesce(bool_or(policy.require_digit), governance.require_digit) AS require_digit,
              coalesce(bool_or(policy.require_symbol), governance.require_symbol) AS require_symbol
         FROM svc.group_member member
         JOIN svc.group_password_policy policy
              ON policy.tenant_id = member.tenant_id AND policy.group_id = member.group_id
        WHERE member.tenant_id = governance.tenant_id AND member.user_id = account.id) rules
  LEFT JOIN svc.password password
       ON password.tenant_id = account.tenant_id AND password.user_id = account.id;


-- statement: change_check
-- The user is locked: a session that has ended while the hash was made changes nothing,
-- nor does one whose password is another one by now, and there is no tenant for the rest.
--
-- parameters
--   user             uuid  ngx_svc_login_param(user)
--   password_version text  ngx_svc_login_param(password.version)
--   session          bytea ngx_svc_param_session()
-- columns
--   :login_checked
SELECT decided.verdict,
       CASE decided.verdict
           WHEN 'go' THEN set_config('svc.actor_type', 'user', true)
                          || set_config('svc.actor_id', decided.id::text, true)
           ELSE set_config('svc.tenant', '', true)
       END IS NULL,
       decided.locked
  FROM (VALUES (1)) always
  LEFT JOIN (
       SELECT account.id,
              CASE
                  WHEN account.locked_until > now()
                      THEN greatest(ceil(extract(epoch FROM account.locked_until - now())
                                         - 0.001)::bigint,
                                    1)
              END AS locked,
              CASE
                  WHEN account.status <> 'active'
                       OR NOT (password.version IS NOT DISTINCT FROM :password_version::text::bigint
                               AND EXISTS (
                                       SELECT
                                         FROM (SELECT session.*
                                                 FROM svc.session session
                                                WHERE session.tenant_id = :tenant
                                                  AND session.token_hash BETWEEN :session
                                                                             AND :session
                                                ORDER BY session.token_hash
                                                LIMIT 1) session
                                        WHERE session.ended_at IS NULL
                                          AND session.user_id = account.id
                                          AND session.stage <> 'locked'
                                          AND session.created_at
                                              >= coalesce(account.valid_after, '-infinity')))
                      THEN 'other'
                  WHEN account.locked_until > now() THEN 'locked'
                  ELSE 'go'
              END AS verdict
         FROM svc.user_account account
         LEFT JOIN svc.password password
              ON password.tenant_id = account.tenant_id AND password.user_id = account.id
        WHERE account.tenant_id = :tenant AND account.id = :user OFFSET 0) decided ON true;


-- statement: change_store
--
-- parameters
--   user             uuid  ngx_svc_login_param(user)
--   password_hash    bytea ngx_svc_param_data(ngx_svc_change_t, sealed)
--   password_version text  ngx_svc_login_param(password.version)
--   wanted_notice    text  ngx_svc_param_notice()
WITH :password_stored, event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'password.changed', 'user', password.user_id::text, NULL, '{}'
      FROM password
)
SELECT password.user_id, nullif(current_setting('svc.ip', true), '') AS _ip, notice.*
  FROM password
  LEFT JOIN LATERAL (:notice) notice ON true;


-- statement: change_rotate
-- The session goes on, as a full one with an id and a digest of its own, after all that
-- began before it.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   new_session    bytea ngx_svc_param_new_session()
--   session_ttl    int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_ABSOLUTE)
WITH ended AS (
    :signin_end RETURNING *
)
INSERT INTO svc.session
    (tenant_id, id, user_id, token_hash, root_id, stage, methods, auth_time, expires_at, mfa_at,
     reauth_at, ip, country, user_agent, risk, signals, connection_id, upstream_sid,
     upstream_subject, upstream_acr)
SELECT tenant_id, gen_random_uuid(), user_id, :new_session::bytea, root_id, 'full', methods,
       coalesce(auth_time, clock_timestamp()),
       CASE stage
           WHEN 'full' THEN expires_at
           ELSE now() + make_interval(secs => :session_ttl::int4)
       END,
       mfa_at, clock_timestamp(), ip, country, user_agent, risk, signals, connection_id,
       upstream_sid, upstream_subject, upstream_acr
  FROM ended;
