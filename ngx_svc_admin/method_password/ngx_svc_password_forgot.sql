-- statement: password_forgot
-- It finds one row of a tenant that is not suspended. Nobody waits for the disk: a token
-- that a crash takes is asked for again. Whose address is just being changed is looked at
-- behind that, for the row is locked: a token that is newer than the change would be good,
-- in the old mailbox. Whose password the directory has is sent nothing.
--
-- parameters
--   email          text
--   token_hash     bytea
--   base_url       text
WITH account AS MATERIALIZED (
    SELECT account.id, account.user_name, account.display_name, account.locale
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant
       AND account.user_name_key = (SELECT svc.address_key(:email::text))
       AND account.status = 'active'
       AND NOT coalesce(svc.directory_account(:tenant, (SELECT tenant.directory
                                                          FROM svc.tenant tenant
                                                         WHERE tenant.id = :tenant), account.id),
                        false)
     FOR KEY SHARE
), reset AS (
    INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at)
    SELECT :tenant, :token_hash, account.id, now() + interval '30 minutes'
      FROM account
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'password.reset_requested', 'user', account.id::text, account.user_name,
           '{"source": "mail"}'::jsonb
      FROM account
)
SELECT account.user_name AS _to, account.display_name AS _name, account.locale AS _locale,
       tenant.id AS _notice, tenant.name AS _tenant_name, tenant.slug AS _slug,
       tenant.branding ->> 'primary' AS _color,
       coalesce(nullif(current_setting('svc.base_url', true), ''), :base_url::text)
       || '/v1/tenants/' || tenant.slug || '/logo?v=' || tenant.logo_etag AS _logo,
       set_config('synchronous_commit', 'off', true)
  FROM svc.tenant tenant
  LEFT JOIN account ON true
 WHERE tenant.id = :tenant;


-- statement: password_forgot_blocked
-- Nothing is mailed for an address that the tenant's administrator has blocked.
--
-- parameters
--   client_ip      text ngx_svc_login_param(client.ip)
-- columns
--   blocked        bool
SELECT EXISTS (SELECT
                 FROM svc.ip_block block
                WHERE block.tenant_id = :tenant
                  AND block.ip = :client_ip::text::inet
                  AND coalesce(block.expires_at > now(), true)) AS blocked;
