-- statement: email_verify_store
-- Of an address that is another one by now nothing has been shown.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   email          text ngx_svc_factor_param(email)
WITH old AS (
    SELECT account.user_name, account.email_verified
      FROM (SELECT account.*
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant AND account.id BETWEEN :user AND :user
             ORDER BY account.id
             LIMIT 1) account
     WHERE account.user_name_key = svc.address_key(:email)
), account AS (
    UPDATE svc.user_account account
       SET email_verified = true,
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
      FROM old
     WHERE account.tenant_id = :tenant AND account.id = :user AND NOT old.email_verified
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'email.verified', 'user', account.id::text, NULL, '{}'
      FROM account
)
SELECT old.user_name AS email, true AS "emailVerified"
  FROM old;
