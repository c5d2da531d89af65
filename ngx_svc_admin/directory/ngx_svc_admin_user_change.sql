-- statement: admin_user_lock (shared)
-- The user is locked by a statement of its own: the next one sees what the role grants once
-- the lock is held.
--
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
SELECT
  FROM svc.user_account
 WHERE tenant_id = :tenant AND id = :user_id
 FOR UPDATE;


-- statement: admin_user_put_lock
-- The same, of a change of the address only.
--
-- when: ngx_svc_admin_user_put_email
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
SELECT
  FROM svc.user_account
 WHERE tenant_id = :tenant AND id = :user_id
 FOR UPDATE;


-- statement: admin_user_owners_lock (shared)
-- The same, where an owner may go: all owners are locked before the user.
--
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
WITH :owners
SELECT
  FROM old;


-- statement: admin_user_put_profile
-- Without an address nobody is refused, and nobody gets a mail. Most of what a statement
-- costs is the start of its nodes and their columns, so this one has few, and its row is the
-- answer. What differs is told from the locked row, as it is once the lock is held.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- when: ngx_svc_admin_user_put_none
-- parameters
--   user_id            uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   client_ip          text ngx_svc_param_client_ip()
--   client_agent       text ngx_svc_param_client_agent()
--   first_name_given   bool ngx_svc_param_given(ngx_svc_admin_profile_t, first_name)
--   first_name         text ngx_svc_param_text(ngx_svc_admin_profile_t, first_name)
--   last_name_given    bool ngx_svc_param_given(ngx_svc_admin_profile_t, last_name)
--   last_name          text ngx_svc_param_text(ngx_svc_admin_profile_t, last_name)
--   display_name_given bool ngx_svc_param_given(ngx_svc_admin_profile_t, display_name)
--   display_name       text ngx_svc_param_text(ngx_svc_admin_profile_t, display_name)
--   title_given        bool ngx_svc_param_given(ngx_svc_admin_profile_t, title)
--   title              text ngx_svc_param_text(ngx_svc_admin_profile_t, title)
--   department_given   bool ngx_svc_param_given(ngx_svc_admin_profile_t, department)
--   department         text ngx_svc_param_text(ngx_svc_admin_profile_t, department)
--   locale_given       bool ngx_svc_param_given(ngx_svc_admin_profile_t, locale)
--   locale             text ngx_svc_param_text(ngx_svc_admin_profile_t, locale)
--   request_id         text ngx_svc_param_request_id()
--   if_match           text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
WITH wanted AS (
    SELECT id, user_name, email_verified, external_id, status, role, locked_until, mfa_enrolled,
           source, last_login_at, created_at, updated_at,
           CASE
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict,
           array_remove(ARRAY[
               NULL,
               CASE WHEN :first_name_given AND :first_name IS DISTINCT FROM first_name
                    THEN 'firstName' END,
               CASE WHEN :last_name_given AND :last_name IS DISTINCT FROM last_name
                    THEN 'lastName' END,
               CASE WHEN :display_name_given AND :display_name IS DISTINCT FROM display_name
                    THEN 'displayName' END,
               CASE WHEN :title_given AND :title IS DISTINCT FROM title THEN 'title' END,
               CASE WHEN :department_given AND :department IS DISTINCT FROM department
                    THEN 'department' END,
               CASE WHEN :locale_given AND :locale IS DISTINCT FROM locale THEN 'locale' END],
               NULL) AS changed,
           CASE WHEN :first_name_given THEN :first_name ELSE first_name END AS first_name,
           CASE WHEN :last_name_given THEN :last_name ELSE last_name END AS last_name,
           CASE WHEN :display_name_given THEN :display_name ELSE display_name END AS display_name,
           CASE WHEN :title_given THEN :title ELSE title END AS title,
           CASE WHEN :department_given THEN :department ELSE department END AS department,
           CASE WHEN :locale_given THEN :locale ELSE locale END AS locale
      FROM svc.user_account
     WHERE tenant_id = :tenant AND id = :user_id
     FOR NO KEY UPDATE
), updated AS (
    UPDATE svc.user_account account
       SET search = svc.user_search(wanted.user_name, wanted.display_name, wanted.first_name,
                                    wanted.last_name),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond'),
           first_name = wanted.first_name,
           last_name = wanted.last_name,
           display_name = wanted.display_name,
           title = wanted.title,
           department = wanted.department,
           locale = wanted.locale
      FROM wanted
     WHERE account.tenant_id = :tenant
       AND account.id = :user_id
       AND wanted.verdict IS NULL
       AND wanted.changed <> '{}'
    RETURNING account.id, wanted.changed, account.updated_at
), event AS (
    INSERT INTO svc.audit_event
        (ip, user_agent, request_id, action, target_type, target_id, target_name, details)
    SELECT :client_ip::text::inet, :client_agent::text, :request_id::text, 'user.updated', 'user',
           updated.id::text, NULL,
           jsonb_build_object('changed', to_jsonb(updated.changed))
      FROM updated
)
SELECT wanted.verdict AS _verdict, wanted.id, wanted.user_name AS email,
       wanted.email_verified AS "emailVerified",
       wanted.display_name AS "displayName", wanted.first_name AS "firstName",
       wanted.last_name AS "lastName", wanted.title, wanted.department, wanted.locale,
       wanted.external_id AS "externalId", wanted.status, wanted.role,
       coalesce(wanted.locked_until > CURRENT_TIMESTAMP, false) AS locked,
       wanted.mfa_enrolled AS "mfaEnrolled", wanted.source, wanted.last_login_at AS "lastLoginAt",
       wanted.created_at AS "createdAt",
       coalesce(updated.updated_at, wanted.updated_at) AS "updatedAt",
       (extract(epoch from coalesce(updated.updated_at, wanted.updated_at)) * 1000)::int8
           AS _edition
  FROM wanted
  LEFT JOIN updated ON true;


-- statement: admin_user_put
-- What differs is told from the locked row. A new address is not a verified one, unless
-- it is the same one written otherwise. One that another user has is told first; who
-- takes it in the same moment is found by the constraint. The old one is told by mail.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- when: ngx_svc_admin_user_put_email
-- parameters
--   user_id            uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   user_name_given    bool ngx_svc_param_given(ngx_svc_admin_profile_t, user_name)
--   user_name          text ngx_svc_param_text(ngx_svc_admin_profile_t, user_name)
--   first_name_given   bool ngx_svc_param_given(ngx_svc_admin_profile_t, first_name)
--   first_name         text ngx_svc_param_text(ngx_svc_admin_profile_t, first_name)
--   last_name_given    bool ngx_svc_param_given(ngx_svc_admin_profile_t, last_name)
--   last_name          text ngx_svc_param_text(ngx_svc_admin_profile_t, last_name)
--   display_name_given bool ngx_svc_param_given(ngx_svc_admin_profile_t, display_name)
--   display_name       text ngx_svc_param_text(ngx_svc_admin_profile_t, display_name)
--   title_given        bool ngx_svc_param_given(ngx_svc_admin_profile_t, title)
--   title              text ngx_svc_param_text(ngx_svc_admin_profile_t, title)
--   department_given   bool ngx_svc_param_given(ngx_svc_admin_profile_t, department)
--   department         text ngx_svc_param_text(ngx_svc_admin_profile_t, department)
--   locale_given       bool ngx_svc_param_given(ngx_svc_admin_profile_t, locale)
--   locale             text ngx_svc_param_text(ngx_svc_admin_profile_t, locale)
--   wanted_notice      text ngx_svc_param_notice()
--   if_match           text ngx_svc_param_if_match()
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
--   ngx_svc_verdict_precondition
--   stale          step_up         A new address needs a fresh second factor: POST
--                                  /v1/mfa/step-up.
WITH old AS (
    SELECT id, role,
           :user_name_given
           AND svc.address_key(:user_name) <> svc.address_key(account.user_name) AS moves,
           user_name, first_name, last_name, display_name, title, department, locale,
           :if_match::text IS NULL
           OR (extract(epoch from updated_at) * 1000)::int8::text
              = ANY (:if_match::text::text[]) AS matches
      FROM svc.user_account account
     WHERE tenant_id = :tenant AND id = :user_id
     FOR UPDATE
), wanted AS (
    SELECT id,
           CASE WHEN :user_name_given THEN :user_name ELSE user_name END AS user_name,
           CASE WHEN :first_name_given THEN :first_name ELSE first_name END AS first_name,
           CASE WHEN :last_name_given THEN :last_name ELSE last_name END AS last_name,
           CASE WHEN :display_name_given THEN :display_name ELSE display_name END AS display_name,
           CASE WHEN :title_given THEN :title ELSE title END AS title,
           CASE WHEN :department_given THEN :department ELSE department END AS department,
           CASE WHEN :locale_given THEN :locale ELSE locale END AS locale,
           CASE
               WHEN old.moves
                   THEN CASE
                            WHEN :caller_stale THEN 'stale'
                            WHEN :role_beyond THEN 'beyond'
                            WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
                            WHEN NOT old.matches THEN 'precondition'
                            ELSE svc.user_conflict(:user_name, NULL)
                        END
               WHEN NOT old.matches THEN 'precondition'
           END AS verdict
      FROM old
), changed AS (
    SELECT wanted.*, old.moves
      FROM wanted, old
     WHERE wanted.verdict IS NULL
       AND (wanted.id, wanted.user_name, wanted.first_name, wanted.last_name, wanted.display_name,
            wanted.title, wanted.department, wanted.locale)
           IS DISTINCT FROM
           (old.id, old.user_name, old.first_name, old.last_name, old.display_name, old.title,
            old.department, old.locale)
), updated AS (
    UPDATE svc.user_account account
       SET email_verified = account.email_verified AND NOT changed.moves,
           valid_after = CASE
                             WHEN changed.moves THEN clock_timestamp()
                             ELSE account.valid_after
                         END,
           user_name_key = CASE
                               WHEN changed.moves THEN svc.address_key(changed.user_name)
                               ELSE account.user_name_key
                           END,
           search = svc.user_search(changed.user_name, changed.display_name, changed.first_name,
                                    changed.last_name),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond'),
           user_name = changed.user_name,
           first_name = changed.first_name,
           last_name = changed.last_name,
           display_name = changed.display_name,
           title = changed.title,
           department = changed.department,
           locale = changed.locale
      FROM changed
     WHERE account.tenant_id = :tenant AND account.id = :user_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.updated', 'user', changed.id::text, NULL,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               NULL,
               CASE WHEN changed.user_name IS DISTINCT FROM old.user_name THEN 'email' END,
               CASE WHEN changed.first_name IS DISTINCT FROM old.first_name THEN 'firstName' END,
               CASE WHEN changed.last_name IS DISTINCT FROM old.last_name THEN 'lastName' END,
               CASE WHEN changed.display_name IS DISTINCT FROM old.display_name
                    THEN 'displayName' END,
               CASE WHEN changed.title IS DISTINCT FROM old.title THEN 'title' END,
               CASE WHEN changed.department IS DISTINCT FROM old.department
                    THEN 'department' END,
               CASE WHEN changed.locale IS DISTINCT FROM old.locale THEN 'locale' END],
               NULL)))
      FROM changed, old
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
          AND wanted.verdict IS NULL
          AND (SELECT old.moves FROM old)) notice ON true;


-- statement: admin_user_put_get
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- when: ngx_svc_admin_user_put_email
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
SELECT account.id, account.user_name AS email, account.email_verified AS "emailVerified",
       account.display_name AS "displayName", account.first_name AS "firstName",
       account.last_name AS "lastName", account.title, account.department, account.locale,
       account.external_id AS "externalId", account.status, account.role,
       coalesce(account.locked_until > CURRENT_TIMESTAMP, false) AS locked,
       account.mfa_enrolled AS "mfaEnrolled", account.source,
       account.last_login_at AS "lastLoginAt", account.created_at AS "createdAt",
       account.updated_at AS "updatedAt",
       (extract(epoch from account.updated_at) * 1000)::int8 AS _edition
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id;


-- statement: admin_user_suspend
-- All that the user began before is over, and an active owner stays.
--
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
--   NGX_SVC_ADMIN_LAST_VERDICT
WITH :owners, decided AS (
    SELECT CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
               WHEN old.status = 'active'
                    AND (old.role = 'owner'
                         AND NOT EXISTS (SELECT
                                           FROM owners
                                          WHERE owners.id <> old.id AND owners.status = 'active'))
                   THEN 'last'
           END AS verdict
      FROM old
), suspended AS (
    UPDATE svc.user_account account
       SET status = 'suspended', valid_after = clock_timestamp(),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
      FROM decided, old
     WHERE account.tenant_id = :tenant
       AND account.id = :user_id
       AND decided.verdict IS NULL
       AND old.status <> 'suspended'
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.suspended', 'user', suspended.id::text, NULL, '{}'
      FROM suspended
)
SELECT decided.verdict AS _verdict
  FROM decided;


-- statement: admin_user_reactivate
-- Who may not suspend somebody may not undo it either.
--
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
WITH old AS (
    SELECT id, role, status
      FROM svc.user_account
     WHERE tenant_id = :tenant AND id = :user_id
     FOR NO KEY UPDATE
), decided AS (
    SELECT CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
           END AS verdict
      FROM old
), reactivated AS (
    UPDATE svc.user_account account
       SET status = 'active',
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
      FROM decided, old
     WHERE account.tenant_id = :tenant
       AND account.id = :user_id
       AND decided.verdict IS NULL
       AND old.status <> 'active'
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.reactivated', 'user', reactivated.id::text, NULL, '{}'
      FROM reactivated
)
SELECT decided.verdict AS _verdict
  FROM decided;


-- statement: admin_user_logout
-- The sessions that are counted are alive, whatever they wait for.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
WITH old AS (
    SELECT id, role, valid_after
      FROM svc.user_account
     WHERE tenant_id = :tenant AND id = :user_id
     FOR NO KEY UPDATE
), decided AS (
    SELECT CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
           END AS verdict
      FROM old
), counted AS (
    SELECT count(session.id) AS sessions
      FROM old
      LEFT JOIN svc.session session
           ON session.tenant_id = :tenant
          AND session.user_id = :user_id
          AND session.ended_at IS NULL
          AND coalesce(session.expires_at > now(), false)
          AND session.created_at >= coalesce(old.valid_after, '-infinity')
), cut_off AS (
    UPDATE svc.user_account account
       SET valid_after = clock_timestamp()
      FROM decided
     WHERE account.tenant_id = :tenant AND account.id = :user_id AND decided.verdict IS NULL
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.logged_out', 'user', cut_off.id::text, NULL,
           jsonb_build_object('revokedSessions', counted.sessions)
      FROM cut_off, counted
     WHERE counted.sessions > 0
)
SELECT decided.verdict AS _verdict, counted.sessions AS "revokedSessions"
  FROM decided, counted;


-- statement: admin_user_groups_lock
-- This comes before the user's lock: whoever changes a group's members locks it first, too.
--
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
SELECT user_group.id
  FROM (SELECT group_id
          FROM svc.group_member
         WHERE tenant_id = :tenant AND user_id = :user_id
         ORDER BY group_id OFFSET 0) member
  CROSS JOIN LATERAL (
       SELECT user_group.id
         FROM svc.user_group user_group
        WHERE user_group.tenant_id = :tenant
          AND user_group.id BETWEEN member.group_id AND member.group_id
        ORDER BY user_group.id
        LIMIT 1
        FOR NO KEY UPDATE) user_group;


-- statement: admin_user_delete
-- Tokens that the user has made stay, of somebody without a name; an owner stays who is the
-- last one that is active.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
--   NGX_SVC_ADMIN_LAST_VERDICT
-- columns
--   _verdict       text
--   _user          uuid
--   _at            timestamptz
--   _subscribers   text
WITH :owners, decided AS (
    SELECT CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
               WHEN old.role = 'owner'
                    AND NOT EXISTS (SELECT
                                      FROM owners
                                     WHERE owners.id <> old.id AND owners.status = 'active')
                   THEN 'last'
           END AS verdict
      FROM old
), deleted AS (
    DELETE FROM svc.user_account account
     USING decided
     WHERE account.tenant_id = :tenant AND account.id = :user_id AND decided.verdict IS NULL
    RETURNING account.id
), anonymized AS (
    UPDATE svc.credential credential
       SET created_by_name = NULL
      FROM deleted
     WHERE credential.tenant_id = :tenant
       AND credential.created_by_type = 'user'
       AND credential.created_by_id = deleted.id::text
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.deleted', 'user', deleted.id::text, NULL, '{}'
      FROM deleted
)
SELECT decided.verdict AS _verdict, deleted.id AS _user, now()::timestamptz(3) AS _at,
       (SELECT array_to_string(ARRAY(SELECT endpoint.id
                                       FROM svc.webhook_endpoint endpoint
                                      WHERE endpoint.tenant_id = :tenant
                                        AND endpoint.enabled
                                        AND 'user.deleted' = ANY (endpoint.events)),
                               ',')
          FROM deleted) AS _subscribers
  FROM decided
  LEFT JOIN deleted ON true;
