-- statement: profile_get
--
-- parameters
--   session        bytea ngx_svc_param_session()
SELECT account.id, account.user_name AS email, account.email_verified AS "emailVerified",
       account.display_name AS "displayName", account.first_name AS "firstName",
       account.last_name AS "lastName", account.title, account.department, account.locale,
       account.role, account.source, account.mfa_enrolled AS "mfaEnrolled",
       account.last_login_at AS "lastLoginAt", account.created_at AS "createdAt",
       account.updated_at AS "updatedAt"
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant
   AND account.id = (SELECT session.user_id
                       FROM (SELECT session.*
                               FROM svc.session session
                              WHERE session.tenant_id = :tenant
                                AND session.token_hash BETWEEN :session AND :session
                              ORDER BY session.token_hash
                              LIMIT 1) session);


-- statement: profile_patch
-- Whom an identity provider provisions it alone changes. The row is written, and the
-- journal too, only if something differs.
--
-- parameters
--   session            bytea ngx_svc_param_session()
--   first_name_given   bool  ngx_svc_param_given(ngx_svc_own_profile_t, first_name)
--   first_name         text  ngx_svc_param_text(ngx_svc_own_profile_t, first_name)
--   last_name_given    bool  ngx_svc_param_given(ngx_svc_own_profile_t, last_name)
--   last_name          text  ngx_svc_param_text(ngx_svc_own_profile_t, last_name)
--   display_name_given bool  ngx_svc_param_given(ngx_svc_own_profile_t, display_name)
--   display_name       text  ngx_svc_param_text(ngx_svc_own_profile_t, display_name)
--   locale_given       bool  ngx_svc_param_given(ngx_svc_own_profile_t, locale)
--   locale             text  ngx_svc_param_text(ngx_svc_own_profile_t, locale)
-- verdicts
--   scim           forbidden       The profile comes from an identity provider: change it
--                                  there.
WITH old AS (
    SELECT id, user_name, source, first_name, last_name, display_name, locale
      FROM svc.user_account
     WHERE tenant_id = :tenant
       AND id = (SELECT session.user_id
                   FROM (SELECT session.*
                           FROM svc.session session
                          WHERE session.tenant_id = :tenant
                            AND session.token_hash BETWEEN :session AND :session
                          ORDER BY session.token_hash
                          LIMIT 1) session)
     FOR UPDATE
), wanted AS (
    SELECT id, user_name,
           CASE WHEN :first_name_given THEN :first_name ELSE first_name END AS first_name,
           CASE WHEN :last_name_given THEN :last_name ELSE last_name END AS last_name,
           CASE WHEN :display_name_given THEN :display_name ELSE display_name END AS display_name,
           CASE WHEN :locale_given THEN :locale ELSE locale END AS locale
      FROM old
     WHERE source <> 'scim'
), changed AS (
    SELECT wanted.*
      FROM wanted, old
     WHERE (wanted.id, wanted.first_name, wanted.last_name, wanted.display_name, wanted.locale)
           IS DISTINCT FROM
           (old.id, old.first_name, old.last_name, old.display_name, old.locale)
), updated AS (
    UPDATE svc.user_account account
       SET search = svc.user_search(changed.user_name, changed.display_name, changed.first_name,
                                    changed.last_name),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond'),
           first_name = changed.first_name,
           last_name = changed.last_name,
           display_name = changed.display_name,
           locale = changed.locale
      FROM changed
     WHERE account.tenant_id = :tenant AND account.id = changed.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.updated', 'user', changed.id::text, NULL,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               NULL,
               CASE WHEN changed.first_name IS DISTINCT FROM old.first_name THEN 'firstName' END,
               CASE WHEN changed.last_name IS DISTINCT FROM old.last_name THEN 'lastName' END,
               CASE WHEN changed.display_name IS DISTINCT FROM old.display_name
                    THEN 'displayName' END,
               CASE WHEN changed.locale IS DISTINCT FROM old.locale THEN 'locale' END],
               NULL)))
      FROM changed, old
)
SELECT CASE old.source WHEN 'scim' THEN 'scim' END AS _verdict
  FROM old;
