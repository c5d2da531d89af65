-- statement: email_change_read
-- Whom an identity provider provisions has the address from there.
--
-- parameters
--   session        bytea ngx_svc_param_session()
-- columns
--   scim           bool
SELECT account.source = 'scim' AS scim
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT account.source
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN session.user_id AND session.user_id
        ORDER BY account.id
        LIMIT 1) account;


-- statement: email_change_open
-- Of an address that is taken the challenge is the same, and the mail its owner's, who is
-- told so if active. It is good in the session that asks, which its root tells.
--
-- parameters
--   challenge_id   uuid  ngx_svc_login_param(mailed.id)
--   kind           text  ngx_svc_login_param(mailed.kind)
--   email_mac      bytea ngx_svc_login_param(mailed.mac)
--   code_mac       bytea ngx_svc_login_param(mailed.code_mac)
--   token_hash     bytea ngx_svc_login_param(mailed.token_hash)
--   binding_hash   bytea ngx_svc_login_param(mailed.binding_hash)
--   data           bytea ngx_svc_login_param(mailed.data)
--   code_ttl       int4  ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_TTL)
--   user           uuid  ngx_svc_login_param(user)
--   address        text  ngx_svc_own_email_param(address)
--   session        bytea ngx_svc_param_session()
-- columns
--   :challenge_mailed
--   set_config     text         unread
WITH recipient AS MATERIALIZED (
    SELECT CASE
               WHEN owner.id IS NULL THEN account.id
               WHEN owner.status = 'active' THEN owner.id
           END AS id,
           coalesce(owner.user_name, :address::text) AS user_name,
           CASE WHEN owner.id IS NULL THEN account.display_name ELSE owner.display_name END
               AS display_name,
           CASE WHEN owner.id IS NULL THEN account.locale ELSE owner.locale END AS locale
      FROM (SELECT account.*
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant AND account.id BETWEEN :user AND :user
             ORDER BY account.id
             LIMIT 1) account
      LEFT JOIN LATERAL (
           SELECT owner.*
             FROM svc.user_account owner
            WHERE owner.tenant_id = :tenant
              AND owner.user_name_key BETWEEN svc.address_key(:address)
                                          AND svc.address_key(:address)
            ORDER BY owner.user_name_key
            LIMIT 1) owner ON true
), :email_code_limits, challenge AS (
    INSERT INTO svc.email_challenge
        (tenant_id, id, kind, user_id, root_id, email_mac, code_mac, token_hash, binding_hash, data,
         void, expires_at)
    SELECT tenant.id, :challenge_id, :kind, :user,
           (SELECT session.root_id
              FROM (SELECT session.root_id
                      FROM svc.session session
                     WHERE session.tenant_id = :tenant
                       AND session.token_hash BETWEEN :session AND :session
                     ORDER BY session.token_hash
                     LIMIT 1) session),
           :email_mac, :code_mac, :token_hash, :binding_hash, :data, limits.void,
           now() + make_interval(secs => :code_ttl::int4)
      FROM svc.tenant tenant
      CROSS JOIN limits
      LEFT JOIN recipient ON true
     WHERE tenant.id = :tenant
    RETURNING id, expires_at, void
)
SELECT recipient.id AS user_id, challenge.id AS "challengeId", challenge.expires_at AS "expiresAt",
       challenge.void AS voided, recipient.user_name, recipient.display_name, recipient.locale,
       tenant.name AS tenant_name, tenant.branding ->> 'primary' AS color,
       tenant.slug || '/logo?v=' || tenant.logo_etag AS logo, tenant.slug,
       set_config('synchronous_commit', 'off', true)
  FROM svc.tenant tenant
  CROSS JOIN challenge
  LEFT JOIN recipient ON true
 WHERE tenant.id = :tenant;


-- statement: email_change_lock
-- Whoever asks for a link to set a password waits for this one.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
SELECT
  FROM svc.user_account
 WHERE tenant_id = :tenant AND id = :user
 FOR UPDATE;


-- statement: email_change_store
-- Nothing is stored when the address is somebody's by now; then there is no tenant for the
-- rest. All that began before is over. What the old address is told is in the row, too.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   address        text ngx_svc_own_email_param(address)
--   client_ip      text ngx_svc_login_param(client.ip)
--   client_country text ngx_svc_login_param(client.country)
--   wanted_notice  text ngx_svc_param_notice()
WITH old AS MATERIALIZED (
    SELECT account.*
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant AND account.id BETWEEN :user AND :user
     ORDER BY account.id
     LIMIT 1
), free AS MATERIALIZED (
    SELECT
      FROM old
     WHERE old.source <> 'scim' AND svc.user_conflict(:address, NULL) IS NULL
), wanted AS (
    SELECT :address::text AS user_name, old.display_name, old.first_name, old.last_name
      FROM old, free
), moved AS (
    UPDATE svc.user_account account
       SET user_name = wanted.user_name,
           user_name_key = svc.address_key(wanted.user_name),
           email_verified = true,
           valid_after = clock_timestamp(),
           search = svc.user_search(wanted.user_name, wanted.display_name, wanted.first_name,
                                    wanted.last_name),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
      FROM wanted
     WHERE account.tenant_id = :tenant AND account.id = :user
    RETURNING account.id, account.tenant_id, account.user_name
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.updated', 'user', moved.id::text, NULL, '{"changed":["email"]}'::jsonb
      FROM moved
    UNION ALL
    SELECT 'email.changed', 'user', moved.id::text, NULL, '{}'::jsonb
      FROM moved
)
SELECT moved.user_name AS email, true AS "emailVerified", old.user_name AS _to,
       old.display_name AS _name, old.locale AS _locale, :notice_tenant, :client_ip::text AS _ip,
       :client_country::text AS _country,
       CASE WHEN moved.id IS NULL THEN set_config('svc.tenant', '', true) END AS _end
  FROM (VALUES (1)) always
  LEFT JOIN moved ON true
  LEFT JOIN old ON true
  LEFT JOIN svc.tenant tenant ON tenant.id = moved.tenant_id;
