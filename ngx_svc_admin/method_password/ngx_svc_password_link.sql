-- statement: password_link_address
-- The address that is counted. What it is when the link is made decides.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid  ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
-- columns
--   user_name      text
SELECT account.user_name
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id;


-- statement: password_link
-- The token is as one that a user has asked for, and good as long. Its user must be able to
-- use it: nothing is sent to whose password the directory has, or who has to come in by a
-- connection.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- when: ngx_svc_password_link_later
-- parameters
--   user_id        uuid  ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   address        text  ngx_svc_param_call(ngx_svc_password_link_bind_address)
--   token_hash     bytea ngx_svc_param_call(ngx_svc_password_link_bind_hash)
--   links_max      int4  ngx_svc_param_constant(NGX_SVC_PASSWORD_LINKS)
--   wanted_notice  text  ngx_svc_param_notice()
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
--   NGX_SVC_PASSWORD_LINK_VERDICTS
--   inactive       conflict  The user is not active, and cannot sign in.
--   changed        conflict  The user's address has just been changed: try again.
-- columns
--   _verdict       text
--   wait           int4         seconds until another link may be sent; NULL: one is sent
--   _notice        uuid         unread
--   _tenant_name   text         unread
--   _slug          text
--   _color         text         unread
--   _logo          text         unread
--   _to            text         unread
--   _name          text         unread
--   _locale        text         unread
WITH old AS MATERIALIZED (
    SELECT id, role, status, user_name, display_name, locale
      FROM svc.user_account
     WHERE tenant_id = :tenant AND id = :user_id
     FOR NO KEY UPDATE
), sent AS (
    SELECT count(*) AS links, min(reset.expires_at) AS first_expires
      FROM (SELECT reset.*
              FROM svc.password_reset reset
             WHERE reset.tenant_id = :tenant AND reset.user_id BETWEEN :user_id AND :user_id
             ORDER BY reset.user_id OFFSET 0) reset
     WHERE reset.by_administrator AND reset.expires_at > now()
), decided AS MATERIALIZED (
    SELECT old.id, old.user_name, old.display_name, old.locale,
           CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
               WHEN old.status <> 'active' THEN 'inactive'
               WHEN old.user_name <> :address::text THEN 'changed'
               WHEN svc.directory_account(:tenant, tenant.directory, old.id) THEN 'directory'
               WHEN svc.sign_in_by(:tenant, tenant.sign_in_forced, old.user_name) IS NOT NULL
                   THEN 'forced'
           END AS verdict,
           CASE
               WHEN sent.links >= :links_max::int4
                   THEN greatest(ceil(extract(epoch FROM sent.first_expires - now())), 1)::int4
           END AS wait
      FROM old
      JOIN svc.tenant tenant ON tenant.id = :tenant
      CROSS JOIN sent
), reset AS (
    INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at, by_administrator)
    SELECT :tenant, :token_hash, decided.id, now() + interval '30 minutes', true
      FROM decided
     WHERE decided.verdict IS NULL AND decided.wait IS NULL
    RETURNING user_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'password.reset_requested', 'user', reset.user_id::text, NULL,
           '{"source": "administrator"}'
      FROM reset
)
SELECT decided.verdict AS _verdict, decided.wait, :notice_tenant, decided.user_name AS _to,
       decided.display_name AS _name, decided.locale AS _locale
  FROM decided
  JOIN svc.tenant tenant ON tenant.id = :tenant;
