-- statement: admin_user_unlock
-- A lock that has run out is none, but goes with the count of failures. Only a sub-select
-- as a whole is compared by an index below row-level security. Whoever helps may lift
-- anybody's lock, but a token is not to try passwords of owners, or of its maker, without
-- end.
--
-- missing: There is no such user.
-- parameters
--   user_id        uuid ngx_svc_param_call(ngx_svc_admin_unlock_id)
--   email          text ngx_svc_param_text(ngx_svc_admin_unlock_t, email)
--   lockout_window int4 ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW)
-- verdicts
--   NGX_SVC_ADMIN_TOKEN_VERDICT
-- columns
--   _verdict       text
--   unlocked       bool
--   _email         text
--   _failures      int4         as text
WITH old AS (
    SELECT id, role, user_name,
           coalesce(locked_until > now(), false) AS locked,
           failed_logins > 0 OR locked_until IS NOT NULL AS failed,
           CASE
               WHEN account.failed_since > now() - make_interval(secs => :lockout_window::int4)
                   THEN account.failed_logins
               ELSE 0
           END AS failures
      FROM svc.user_account account
     WHERE tenant_id = :tenant
       AND id = (SELECT coalesce(:user_id::uuid,
                                 (SELECT named.id
                                    FROM svc.user_account named
                                   WHERE named.tenant_id = :tenant
                                     AND named.user_name_key = svc.address_key(:email::text))))
     FOR UPDATE
), decided AS (
    SELECT CASE WHEN NOT svc.token_acts(old.id, old.role) THEN 'token' END AS verdict
      FROM old
), unlocked AS (
    UPDATE svc.user_account account
       SET failed_logins = 0, failed_since = NULL, locked_until = NULL
     WHERE account.tenant_id = :tenant
       AND account.id = (SELECT old.id
                           FROM old, decided
                          WHERE old.failed AND decided.verdict IS NULL)
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.unlocked', 'user', unlocked.id::text, NULL,
           jsonb_build_object('wasLocked', old.locked)
      FROM unlocked, old
)
SELECT decided.verdict AS _verdict, old.locked AS unlocked, old.user_name AS _email,
       old.failures AS _failures
  FROM old, decided;
