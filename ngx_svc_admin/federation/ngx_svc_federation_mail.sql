-- statement: federation_mail_lock
-- For how many seconds whom the flow has found is locked: a code can be guessed.
--
-- columns
--   locked         int8
SELECT ceil(extract(epoch FROM account.locked_until - now()) - 0.001)::bigint AS locked
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant
   AND account.id BETWEEN nullif(current_setting('svc.found', true), '')::uuid
                      AND nullif(current_setting('svc.found', true), '')::uuid
 ORDER BY account.id
 LIMIT 1;


-- statement: federation_mail_open
-- A challenge for whom the flow has found, bound to the subject of the proof. The row of the
-- user is locked: whose address is just being changed gets the mail at the new one, where the
-- code is good for nothing.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   challenge_id   uuid  ngx_svc_login_param(mailed.id)
--   kind           text  ngx_svc_login_param(mailed.kind)
--   email_mac      bytea ngx_svc_login_param(mailed.mac)
--   code_mac       bytea ngx_svc_login_param(mailed.code_mac)
--   data           bytea ngx_svc_login_param(mailed.data)
--   code_ttl       int4  ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_TTL)
-- columns
--   :challenge_mailed
WITH account AS MATERIALIZED (
    SELECT account.id, account.user_name, account.display_name, account.locale
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant AND account.id = :user
     FOR KEY SHARE
), :email_code_limits, challenge AS (
    INSERT INTO svc.email_challenge
        (tenant_id, id, kind, user_id, email_mac, code_mac, data, void, expires_at)
    SELECT tenant.id, :challenge_id, :kind, account.id, :email_mac, :code_mac, :data, limits.void,
           now() + make_interval(secs => :code_ttl::int4)
      FROM svc.tenant tenant
      CROSS JOIN limits
      CROSS JOIN account
     WHERE tenant.id = :tenant
    RETURNING id, expires_at, void
)
SELECT account.id AS user_id, challenge.id AS "challengeId", challenge.expires_at AS "expiresAt",
       challenge.void AS voided, account.user_name, account.display_name, account.locale,
       tenant.name AS tenant_name, tenant.branding ->> 'primary' AS color,
       tenant.slug || '/logo?v=' || tenant.logo_etag AS logo, tenant.slug
  FROM svc.tenant tenant
  CROSS JOIN challenge
  CROSS JOIN account
 WHERE tenant.id = :tenant;
