-- statement: admin_user_reset_mfa
-- Of somebody who may do what the caller may not, or of an owner, it would be a way to
-- become one: with the mailbox, or the password, of somebody else. All that the user began
-- before is over.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   wanted_notice  text ngx_svc_param_notice()
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
WITH old AS (
    SELECT id, role
      FROM svc.user_account
     WHERE tenant_id = :tenant AND id = :user_id
     FOR NO KEY UPDATE
), decided AS (
    SELECT old.id,
           CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
           END AS verdict
      FROM old
), removed AS (
    DELETE FROM svc.factor factor
     WHERE factor.tenant_id = :tenant
       AND factor.user_id = (SELECT decided.id FROM decided WHERE decided.verdict IS NULL)
    RETURNING factor.confirmed_at
), cut_off AS (
    UPDATE svc.user_account account
       SET valid_after = clock_timestamp()
      FROM decided
     WHERE account.tenant_id = :tenant AND account.id = :user_id AND decided.verdict IS NULL
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'mfa.reset', 'user', cut_off.id::text, NULL,
           jsonb_build_object('factors', (SELECT count(removed.confirmed_at) FROM removed))
      FROM cut_off
)
SELECT decided.verdict AS _verdict, notice.*
  FROM decided
  LEFT JOIN LATERAL (
       SELECT :notice_tenant,
              coalesce(nullif(current_setting('svc.base_url', true), ''), :wanted_notice::text)
              || '/login?tenant=' || tenant.slug AS _link,
              account.user_name AS _to, account.display_name AS _name, account.locale AS _locale
         FROM svc.tenant tenant
         LEFT JOIN LATERAL (
              SELECT account.user_name, account.display_name, account.locale, account.status
                FROM svc.user_account account
               WHERE account.tenant_id = :tenant AND account.id BETWEEN :user_id AND :user_id
               ORDER BY account.id
               LIMIT 1) account ON account.status = 'active'
        WHERE tenant.id = :tenant
          AND :wanted_notice::text IS NOT NULL
          AND decided.verdict IS NULL
          AND (SELECT count(removed.confirmed_at) FROM removed) > 0) notice ON true;
