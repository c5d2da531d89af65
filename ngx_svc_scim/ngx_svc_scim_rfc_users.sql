-- Users of svc_scim_mode rfc. Who was deleted is a user still, and no resource: "scim_deleted"
-- is compared in other words than those of its partial indexes, for while these are empty
-- they are better than any key to the planner.
--
-- Whose address would change is a way to become that user: 'fixed' are those who may do more
-- than others, and whom the identity provider has not brought.


-- statement: scim_rfc_get
--
-- missing: NGX_SVC_SCIM_NO_USER
-- parameters
--   user_id        uuid  ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)
-- columns
--   :scim_user
SELECT :scim_user
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id AND account.scim_deleted::int4 = 0;


-- statement: scim_rfc_yield
-- Of two deleted users the one with the userName comes back; the other one, whom no
-- client sees, has to leave it the externalId: before, as a constraint looks at each
-- row by itself.
--
-- parameters
--   user_name      text  ngx_svc_param_text(ngx_svc_scim_user_t, user_name)
--   external_id    text  ngx_svc_param_text(ngx_svc_scim_user_t, external_id)
WITH yielded AS (
    UPDATE svc.user_account account
       SET external_id = NULL,
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
     WHERE account.tenant_id = :tenant
       AND account.scim_deleted::int4 = 1
       AND account.id = (SELECT hidden.id
                           FROM svc.user_account hidden
                          WHERE hidden.tenant_id = :tenant
                            AND hidden.scim_deleted::int4 = 1
                            AND hidden.external_id = :external_id::text
                            AND EXISTS (SELECT
                                          FROM svc.user_account named
                                         WHERE named.tenant_id = :tenant
                                           AND named.scim_deleted::int4 = 1
                                           AND named.user_name_key
                                               = svc.address_key(:user_name::text)
                                           AND named.id <> hidden.id))
    RETURNING account.id
)
INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
SELECT 'user.updated', 'user', yielded.id::text, NULL, '{"source":"scim","changed":["externalId"]}'
  FROM yielded;


-- statement: scim_rfc_create
-- As scim_create, but for "old", a deleted user whom it brings back: locked, so that of two
-- who create the same one is a conflict. All of it is as of a new one, but for what SCIM
-- does not know of: the role, the password.
--
-- parameters
--   new_id         uuid  ngx_svc_param_new_id()
--   user_name      text  ngx_svc_param_text(ngx_svc_scim_user_t, user_name)
--   external_id    text  ngx_svc_param_text(ngx_svc_scim_user_t, external_id)
--   status         text  ngx_svc_param_call(ngx_svc_scim_status)
--   first_name     text  ngx_svc_param_text(ngx_svc_scim_user_t, first_name)
--   last_name      text  ngx_svc_param_text(ngx_svc_scim_user_t, last_name)
--   display_name   text  ngx_svc_param_text(ngx_svc_scim_user_t, display_name)
--   title          text  ngx_svc_param_text(ngx_svc_scim_user_t, title)
--   department     text  ngx_svc_param_text(ngx_svc_scim_user_t, department)
--   locale         text  ngx_svc_param_text(ngx_svc_scim_user_t, locale)
-- verdicts
--   ngx_svc_verdict_precondition
--   fixed          mutability      "userName" of this user cannot be changed through SCIM:
--                                  the user has a role, and did not come by it.
-- columns
--   :scim_created
WITH old AS (
    SELECT account.id, account.user_name, account.status, account.role, account.source,
           account.external_id, account.first_name, account.last_name, account.display_name,
           account.title, account.department, account.locale
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant
       AND account.scim_deleted::int4 = 1
       AND account.id = (SELECT coalesce(
               (SELECT named.id
                  FROM svc.user_account named
                 WHERE named.tenant_id = :tenant
                   AND named.scim_deleted::int4 = 1
                   AND named.user_name_key = svc.address_key(:user_name::text)),
               (SELECT known.id
                  FROM svc.user_account known
                 WHERE known.tenant_id = :tenant
                   AND known.scim_deleted::int4 = 1
                   AND known.external_id = :external_id::text)))
     FOR UPDATE
), wanted AS (
    SELECT old.id,
           CASE
               WHEN svc.address_key(:user_name::text) <> svc.address_key(old.user_name)
                    AND (old.role <> 'member' AND old.source <> 'scim') THEN 'fixed'
               ELSE svc.user_conflict(
                        CASE WHEN svc.address_key(:user_name::text)
                                  <> svc.address_key(old.user_name) THEN :user_name::text END,
                        CASE WHEN :external_id::text <> coalesce(old.external_id, '')
                                 THEN :external_id::text END)
           END AS verdict
      FROM old
), revived AS (
    UPDATE svc.user_account account
       SET user_name = :user_name,
           user_name_key = CASE
                               WHEN svc.address_key(:user_name::text)
                                    <> svc.address_key(account.user_name)
                                   THEN svc.address_key(:user_name::text)
                               ELSE account.user_name_key
                           END,
           external_id = :external_id,
           status = CASE account.status
                        WHEN 'suspended' THEN account.status
                        ELSE coalesce(:status, 'active')
                    END,
           email_verified = true, first_name = :first_name, last_name = :last_name,
           display_name = :display_name, title = :title, department = :department,
           locale = :locale,
           search = svc.user_search(:user_name::text, :display_name::text, :first_name::text,
                                    :last_name::text),
           valid_after = clock_timestamp(),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond'),
           scim_deleted = false
     WHERE account.tenant_id = :tenant
       AND account.id = (SELECT wanted.id FROM wanted WHERE wanted.verdict IS NULL)
    RETURNING :scim_user
), created AS (
    INSERT INTO svc.user_account AS account
        (tenant_id, id, user_name, external_id, status, email_verified, source, first_name,
         last_name, display_name, title, department, locale)
    SELECT :tenant_or_null, :new_id::uuid, :user_name, :external_id,
           coalesce(:status, 'active'), true, 'scim', :first_name, :last_name, :display_name,
           :title, :department, :locale
     WHERE current_setting('svc.tenant', true) <> '' AND NOT EXISTS (SELECT FROM old)
    ON CONFLICT DO NOTHING
    RETURNING :scim_user
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.created', 'user', created.id::text, NULL, '{"source":"scim"}'::jsonb
      FROM created
    UNION ALL
    SELECT CASE
               WHEN revived.status = 'active' AND old.status = 'deactivated'
                   THEN 'user.reactivated'
               ELSE 'user.updated'
           END,
           'user', revived.id::text, NULL,
           '{"source":"scim"}' || jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN revived.user_name IS DISTINCT FROM old.user_name THEN 'email' END,
               CASE WHEN revived.external_id IS DISTINCT FROM old.external_id THEN 'externalId' END,
               CASE WHEN revived.first_name IS DISTINCT FROM old.first_name THEN 'firstName' END,
               CASE WHEN revived.last_name IS DISTINCT FROM old.last_name THEN 'lastName' END,
               CASE WHEN revived.display_name IS DISTINCT FROM old.display_name
                        THEN 'displayName' END,
               CASE WHEN revived.title IS DISTINCT FROM old.title THEN 'title' END,
               CASE WHEN revived.department IS DISTINCT FROM old.department THEN 'department' END,
               CASE WHEN revived.locale IS DISTINCT FROM old.locale THEN 'locale' END,
               CASE WHEN revived.status IS DISTINCT FROM old.status THEN 'status' END
           ], NULL)))
      FROM revived, old
)
SELECT account.*,
       CASE
           WHEN account.id IS NULL AND current_setting('svc.tenant', true) <> ''
               THEN coalesce((SELECT wanted.verdict FROM wanted),
                             svc.user_conflict(:user_name, :external_id),
                             'user_account_user_name_key')
       END AS _verdict,
       CASE
           WHEN EXISTS (SELECT FROM created)
               THEN array_to_string(ARRAY(SELECT endpoint.id
                                           FROM svc.webhook_endpoint endpoint
                                          WHERE endpoint.tenant_id = :tenant
                                            AND endpoint.enabled
                                            AND 'user.created' = ANY (endpoint.events)), ',')
       END AS subscribers
  FROM (SELECT) always
  LEFT JOIN (SELECT * FROM created UNION ALL SELECT * FROM revived) account ON true;


-- statement: scim_rfc_change
-- As scim_change, with the address, of which all is as when an administrator changes
-- it: the new one is not verified, unless it is the same one written otherwise, nobody
-- is signed in any more, and the old one is told by mail.
--
-- missing: NGX_SVC_SCIM_NO_USER
-- parameters
--   user_id             uuid  ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)
--   external_id_given   bool  ngx_svc_param_given(ngx_svc_scim_user_t, external_id)
--   external_id         text  ngx_svc_param_text(ngx_svc_scim_user_t, external_id)
--   first_name_given    bool  ngx_svc_param_given(ngx_svc_scim_user_t, first_name)
--   first_name          text  ngx_svc_param_text(ngx_svc_scim_user_t, first_name)
--   last_name_given     bool  ngx_svc_param_given(ngx_svc_scim_user_t, last_name)
--   last_name           text  ngx_svc_param_text(ngx_svc_scim_user_t, last_name)
--   display_name_given  bool  ngx_svc_param_given(ngx_svc_scim_user_t, display_name)
--   display_name        text  ngx_svc_param_text(ngx_svc_scim_user_t, display_name)
--   title_given         bool  ngx_svc_param_given(ngx_svc_scim_user_t, title)
--   title               text  ngx_svc_param_text(ngx_svc_scim_user_t, title)
--   department_given    bool  ngx_svc_param_given(ngx_svc_scim_user_t, department)
--   department          text  ngx_svc_param_text(ngx_svc_scim_user_t, department)
--   locale_given        bool  ngx_svc_param_given(ngx_svc_scim_user_t, locale)
--   locale              text  ngx_svc_param_text(ngx_svc_scim_user_t, locale)
--   status              text  ngx_svc_param_call(ngx_svc_scim_status)
--   user_name_given     bool  ngx_svc_param_given(ngx_svc_scim_user_t, user_name)
--   user_name           text  ngx_svc_param_text(ngx_svc_scim_user_t, user_name)
--   if_match            text  ngx_svc_param_scim_if_match()
--   wanted_notice       text  ngx_svc_param_notice()
-- verdicts
--   ngx_svc_verdict_precondition
--   fixed          mutability      "userName" of this user cannot be changed through SCIM:
--                                  the user has a role, and did not come by it.
WITH old AS (
    SELECT account.id, account.role, account.source, account.updated_at, account.status,
           :user_name_given
           AND svc.address_key(:user_name::text) <> svc.address_key(account.user_name) AS moves,
           account.user_name, account.external_id, account.first_name, account.last_name,
           account.display_name, account.title, account.department, account.locale
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant
       AND account.id = :user_id
       AND account.scim_deleted::int4 = 0
     FOR UPDATE
), wanted AS (
    SELECT old.id, old.status AS old_status,
           CASE WHEN :user_name_given THEN :user_name ELSE old.user_name END AS user_name,
           CASE WHEN :external_id_given THEN :external_id ELSE old.external_id END AS external_id,
           CASE WHEN :first_name_given THEN :first_name ELSE old.first_name END AS first_name,
           CASE WHEN :last_name_given THEN :last_name ELSE old.last_name END AS last_name,
           CASE WHEN :display_name_given
                    THEN :display_name ELSE old.display_name END AS display_name,
           CASE WHEN :title_given THEN :title ELSE old.title END AS title,
           CASE WHEN :department_given THEN :department ELSE old.department END AS department,
           CASE WHEN :locale_given THEN :locale ELSE old.locale END AS locale,
           CASE
               WHEN :status = 'deactivated'
                    OR :status = 'active' AND old.status = 'deactivated' THEN :status
               ELSE old.status
           END AS status,
           CASE
               WHEN NOT (:if_match::text IS NULL
                         OR to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSMS')::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
               WHEN old.moves AND (old.role <> 'member' AND old.source <> 'scim') THEN 'fixed'
               WHEN old.moves
                    OR :external_id_given AND :external_id <> coalesce(old.external_id, '')
                   THEN svc.user_conflict(
                            CASE WHEN old.moves THEN :user_name::text END,
                            CASE WHEN :external_id_given
                                      AND :external_id <> coalesce(old.external_id, '')
                                     THEN :external_id::text END)
           END AS verdict
      FROM old
), differing AS (
    SELECT wanted.*, old.moves
      FROM wanted, old
     WHERE wanted.verdict IS NULL
       AND (wanted.status, wanted.user_name, wanted.external_id, wanted.first_name,
            wanted.last_name, wanted.display_name, wanted.title, wanted.department,
            wanted.locale)
           IS DISTINCT FROM
           (old.status, old.user_name, old.external_id, old.first_name, old.last_name,
            old.display_name, old.title, old.department, old.locale)
), updated AS (
    UPDATE svc.user_account account
       SET status = differing.status,
           email_verified = account.email_verified AND NOT differing.moves,
           valid_after = CASE
                             WHEN differing.status IN ('active', account.status)
                                  AND NOT differing.moves THEN account.valid_after
                             ELSE clock_timestamp()
                         END,
           user_name_key = CASE
                               WHEN differing.moves THEN svc.address_key(differing.user_name)
                               ELSE account.user_name_key
                           END,
           search = svc.user_search(differing.user_name, differing.display_name,
                                    differing.first_name, differing.last_name),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond'),
           user_name = differing.user_name, external_id = differing.external_id,
           first_name = differing.first_name, last_name = differing.last_name,
           display_name = differing.display_name, title = differing.title,
           department = differing.department, locale = differing.locale
      FROM differing
     WHERE account.tenant_id = :tenant AND account.id = :user_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT CASE
               WHEN differing.status = 'deactivated' AND old.status <> 'deactivated'
                   THEN 'user.deactivated'
               WHEN differing.status = 'active' AND old.status = 'deactivated'
                   THEN 'user.reactivated'
               ELSE 'user.updated'
           END,
           'user', differing.id::text, NULL,
           '{"source":"scim"}' || jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               NULL,
               CASE WHEN differing.user_name IS DISTINCT FROM old.user_name THEN 'email' END,
               CASE WHEN differing.external_id IS DISTINCT FROM old.external_id
                        THEN 'externalId' END,
               CASE WHEN differing.first_name IS DISTINCT FROM old.first_name THEN 'firstName' END,
               CASE WHEN differing.last_name IS DISTINCT FROM old.last_name THEN 'lastName' END,
               CASE WHEN differing.display_name IS DISTINCT FROM old.display_name
                        THEN 'displayName' END,
               CASE WHEN differing.title IS DISTINCT FROM old.title THEN 'title' END,
               CASE WHEN differing.department IS DISTINCT FROM old.department THEN 'department' END,
               CASE WHEN differing.locale IS DISTINCT FROM old.locale THEN 'locale' END,
               CASE WHEN differing.status IS DISTINCT FROM old.status THEN 'status' END
           ], NULL)))
      FROM differing, old
)
SELECT wanted.verdict AS _verdict, notice.*
  FROM wanted
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
          AND (wanted.verdict IS NULL AND (SELECT old.moves FROM old))) notice ON true
 WHERE wanted.verdict IS NOT NULL
    OR wanted.old_status <> 'deactivated'
    OR :status IS DISTINCT FROM 'deactivated'
    OR svc.ldap_sync_forget(:tenant, wanted.id);


-- statement: scim_rfc_delete
-- The user stays, deactivated, with all that others refer to; SCIM does not see it any more.
--
-- missing: NGX_SVC_SCIM_NO_USER
-- parameters
--   user_id        uuid  ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)
--   if_match       text  ngx_svc_param_scim_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT account.status, account.updated_at
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant
       AND account.id = :user_id
       AND account.scim_deleted::int4 = 0
     FOR NO KEY UPDATE
), decided AS (
    SELECT CASE
               WHEN NOT (:if_match::text IS NULL
                         OR to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSMS')::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict
      FROM old
), updated AS (
    UPDATE svc.user_account account
       SET status = 'deactivated', valid_after = clock_timestamp(),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond'),
           scim_deleted = true
      FROM decided
     WHERE account.tenant_id = :tenant AND account.id = :user_id AND decided.verdict IS NULL
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT CASE old.status WHEN 'deactivated' THEN 'user.updated' ELSE 'user.deactivated' END,
           'user', updated.id::text, NULL,
           jsonb_build_object('source', 'scim', 'deleted', true, 'changed',
                              CASE old.status
                                  WHEN 'deactivated' THEN '[]'::jsonb
                                  ELSE '["status"]'
                              END)
      FROM updated, old
)
SELECT decided.verdict AS _verdict
  FROM decided;
