-- statement: signup_read
-- These are the columns of ngx_svc_signup_allowed(), and those that
-- ngx_svc_new_password_job() reads, of somebody who is new: the tenant's own policy holds.
--
-- parameters
--   client_ip      text ngx_svc_login_param(client.ip)
--   email          text ngx_svc_login_param(asked.email)
--   display_name   text ngx_svc_account_param(display_name)
-- columns
--   :login_denied
--   allowed           bool
--   _slug             text
--   _name             text
--   _email            text
--   _first            text
--   _last             text
--   _display          text
--   min_length        int4
--   reject_breached   bool
--   reject_contextual bool
--   require_lower     bool
--   require_upper     bool
--   require_digit     bool
--   require_symbol    bool
--   _hash             text
--   _history          text
SELECT :login_governance, NULL::bigint AS locked,
       tenant.branding -> 'allowSelfSignup' IS NOT DISTINCT FROM 'true' AS allowed,
       tenant.slug AS _slug, tenant.name AS _name, :email::text AS _email, NULL::text AS _first,
       NULL::text AS _last, :display_name::text AS _display, governance.min_length,
       governance.reject_breached, governance.reject_contextual, governance.require_lower,
       governance.require_upper, governance.require_digit, governance.require_symbol,
       NULL::text AS _hash, NULL::text AS _history
  FROM svc.governance governance
  JOIN svc.tenant tenant ON tenant.id = governance.tenant_id
 WHERE governance.tenant_id = :tenant;


-- statement: signup_open
-- Of an address that is taken the row is the same, and is good for nothing: its owner is
-- told by the mail.
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
--   email          text  ngx_svc_login_param(asked.email)
-- columns
--   :challenge_mailed
--   set_config     text         unread
WITH account AS MATERIALIZED (
    SELECT account.id, account.user_name, account.display_name, account.locale
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant
       AND account.user_name_key = (SELECT svc.address_key(:email::text))
), :email_code_limits, challenge AS (
    INSERT INTO svc.email_challenge
        (tenant_id, id, kind, user_id, root_id, email_mac, code_mac, token_hash, binding_hash, data,
         void, expires_at)
    SELECT tenant.id, :challenge_id, :kind, NULL::uuid, NULL::uuid, :email_mac,
           :code_mac, :token_hash, :binding_hash, :data, limits.void,
           now() + make_interval(secs => :code_ttl::int4)
      FROM svc.tenant tenant
      CROSS JOIN limits
      LEFT JOIN account ON true
     WHERE tenant.id = :tenant
    RETURNING id, expires_at, void
)
SELECT account.id AS user_id, challenge.id AS "challengeId", challenge.expires_at AS "expiresAt",
       challenge.void AS voided, account.user_name, account.display_name, account.locale,
       tenant.name AS tenant_name, tenant.branding ->> 'primary' AS color,
       tenant.slug || '/logo?v=' || tenant.logo_etag AS logo, tenant.slug,
       set_config('synchronous_commit', 'off', true)
  FROM svc.tenant tenant
  CROSS JOIN challenge
  LEFT JOIN account ON true
 WHERE tenant.id = :tenant;
