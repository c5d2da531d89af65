-- Users of svc_scim_mode tenant. Each write is one statement: it locks the row, writes it only
-- if something differs, writes the audit event, and has the answer. What differs is told from
-- the locked row: the UPDATE's own WHERE sees the row of the statement's beginning first.


-- statement: scim_get
--
-- missing: NGX_SVC_SCIM_NO_USER
-- when: ngx_svc_scim_keeps
-- parameters
--   user_id        uuid  ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)
-- columns
--   :scim_user
SELECT :scim_user
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id;


-- statement: scim_create
-- One row in any case: the new user, and who subscribes to the event; or of a user who would
-- not be unique the constraint alone. svc.user_conflict() is called for nobody else: two
-- sub-selects in its place would cost each create a tenth.
--
-- when: ngx_svc_scim_told
-- verdicts: constraints
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
--   client_ip      text  ngx_svc_param_client_ip()
--   client_agent   text  ngx_svc_param_client_agent()
--   request_id     text  ngx_svc_param_request_id()
-- columns
--   :scim_created
WITH account AS (
    INSERT INTO svc.user_account AS account
        (tenant_id, id, user_name, external_id, status, email_verified, source, first_name,
         last_name, display_name, title, department, locale)
    SELECT :tenant_or_null, :new_id::uuid, :user_name, :external_id,
           coalesce(:status, 'active'), true, 'scim', :first_name, :last_name, :display_name,
           :title, :department, :locale
     WHERE current_setting('svc.tenant', true) <> ''
    ON CONFLICT DO NOTHING
    RETURNING :scim_user, account.tenant_id
), event AS (
    INSERT INTO svc.audit_event
        (tenant_id, actor_type, actor_id, actor_name, ip, user_agent, request_id, action,
         target_type, target_id, target_name, details)
    SELECT account.tenant_id, 'scim', left(current_setting('svc.token', true), 36),
           substr(current_setting('svc.token', true), 38), :client_ip::text::inet,
           :client_agent::text, :request_id::text, 'user.created', 'user', account.id::text, NULL,
           '{"source":"scim"}'
      FROM account
)
SELECT :scim_user,
       CASE
           WHEN account.id IS NULL AND current_setting('svc.tenant', true) <> ''
               THEN coalesce(svc.user_conflict(:user_name, :external_id),
                             'user_account_user_name_key')
       END AS _verdict,
       array_to_string(ARRAY(SELECT endpoint.id
                               FROM svc.webhook_endpoint endpoint
                              WHERE endpoint.tenant_id = :tenant
                                AND endpoint.enabled
                                AND 'user.created' = ANY (endpoint.events)), ',') AS subscribers
  FROM (SELECT) always
  LEFT JOIN account ON true;


-- statement: scim_create_alone
-- The same where there are no webhooks.
--
-- when: ngx_svc_scim_untold
-- verdicts: constraints
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
--   client_ip      text  ngx_svc_param_client_ip()
--   client_agent   text  ngx_svc_param_client_agent()
--   request_id     text  ngx_svc_param_request_id()
-- columns
--   :scim_created
WITH account AS (
    INSERT INTO svc.user_account AS account
        (tenant_id, id, user_name, external_id, status, email_verified, source, first_name,
         last_name, display_name, title, department, locale)
    SELECT :tenant_or_null, :new_id::uuid, :user_name, :external_id,
           coalesce(:status, 'active'), true, 'scim', :first_name, :last_name, :display_name,
           :title, :department, :locale
     WHERE current_setting('svc.tenant', true) <> ''
    ON CONFLICT DO NOTHING
    RETURNING :scim_user, account.tenant_id
), event AS (
    INSERT INTO svc.audit_event
        (tenant_id, actor_type, actor_id, actor_name, ip, user_agent, request_id, action,
         target_type, target_id, target_name, details)
    SELECT account.tenant_id, 'scim', left(current_setting('svc.token', true), 36),
           substr(current_setting('svc.token', true), 38), :client_ip::text::inet,
           :client_agent::text, :request_id::text, 'user.created', 'user', account.id::text, NULL,
           '{"source":"scim"}'
      FROM account
)
SELECT :scim_user,
       CASE
           WHEN account.id IS NULL AND current_setting('svc.tenant', true) <> ''
               THEN coalesce(svc.user_conflict(:user_name, :external_id),
                             'user_account_user_name_key')
       END AS _verdict,
       NULL::text AS subscribers
  FROM (SELECT) always
  LEFT JOIN account ON true;


-- statement: scim_activate
-- A status alone is most of what comes. A suspended user stays as it is.
--
-- missing: NGX_SVC_SCIM_NO_USER
-- when: ngx_svc_scim_activates
-- parameters
--   user_id        uuid  ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)
--   client_ip      text  ngx_svc_param_client_ip()
--   client_agent   text  ngx_svc_param_client_agent()
--   request_id     text  ngx_svc_param_request_id()
-- columns
--   :scim_user
WITH old AS (
    SELECT :scim_user
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant AND account.id = :user_id
     FOR NO KEY UPDATE
), updated AS (
    UPDATE svc.user_account account
       SET status = 'active',
           valid_after = CASE 'active'
                             WHEN 'active' THEN account.valid_after
                             ELSE clock_timestamp()
                         END,
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
      FROM old
     WHERE account.tenant_id = :tenant AND account.id = :user_id AND old.status = 'deactivated'
    RETURNING account.tenant_id, account.id, account.status, account.updated_at
), event AS (
    INSERT INTO svc.audit_event
        (tenant_id, actor_type, actor_id, actor_name, ip, user_agent, request_id, action,
         target_type, target_id, target_name, details)
    SELECT updated.tenant_id, 'scim', left(current_setting('svc.token', true), 36),
           substr(current_setting('svc.token', true), 38), :client_ip::text::inet,
           :client_agent::text, :request_id::text, 'user.reactivated', 'user', updated.id::text,
           NULL, '{"source":"scim","changed":["status"]}'
      FROM updated
)
SELECT old.id, old.user_name, old.external_id, coalesce(updated.status, old.status) AS status,
       old.first_name, old.last_name, old.display_name, old.title, old.department, old.locale,
       old.created_at, coalesce(updated.updated_at, old.updated_at) AS updated_at
  FROM old
  LEFT JOIN updated ON true;


-- statement: scim_deactivate
-- Who is deactivated has no session from before. Whom an import from a directory has deactivated
-- does not come back with the next one.
--
-- missing: NGX_SVC_SCIM_NO_USER
-- when: ngx_svc_scim_deactivates
-- parameters
--   user_id        uuid  ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)
--   client_ip      text  ngx_svc_param_client_ip()
--   client_agent   text  ngx_svc_param_client_agent()
--   request_id     text  ngx_svc_param_request_id()
-- columns
--   :scim_user
WITH old AS (
    SELECT :scim_user
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant AND account.id = :user_id
     FOR NO KEY UPDATE
), updated AS (
    UPDATE svc.user_account account
       SET status = 'deactivated',
           valid_after = CASE 'deactivated'
                             WHEN 'active' THEN account.valid_after
                             ELSE clock_timestamp()
                         END,
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
      FROM old
     WHERE account.tenant_id = :tenant AND account.id = :user_id AND old.status <> 'deactivated'
    RETURNING account.tenant_id, account.id, account.status, account.updated_at
), event AS (
    INSERT INTO svc.audit_event
        (tenant_id, actor_type, actor_id, actor_name, ip, user_agent, request_id, action,
         target_type, target_id, target_name, details)
    SELECT updated.tenant_id, 'scim', left(current_setting('svc.token', true), 36),
           substr(current_setting('svc.token', true), 38), :client_ip::text::inet,
           :client_agent::text, :request_id::text, 'user.deactivated', 'user', updated.id::text,
           NULL, '{"source":"scim","changed":["status"]}'
      FROM updated
)
SELECT old.id, old.user_name, old.external_id, coalesce(updated.status, old.status) AS status,
       old.first_name, old.last_name, old.display_name, old.title, old.department, old.locale,
       old.created_at, coalesce(updated.updated_at, old.updated_at) AS updated_at
  FROM old
  LEFT JOIN updated ON true
 WHERE old.status <> 'deactivated' OR svc.ldap_sync_forget(:tenant, old.id);


-- statement: scim_change
-- "active": true leaves a suspended user as it is, and "active": false deactivates it, which
-- forgets that it was suspended, or that an import has done it. What the locked row has is
-- old_status and so on.
--
-- missing: NGX_SVC_SCIM_NO_USER
-- when: ngx_svc_scim_changes
-- verdicts: constraints
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
--   client_ip           text  ngx_svc_param_client_ip()
--   client_agent        text  ngx_svc_param_client_agent()
--   request_id          text  ngx_svc_param_request_id()
-- columns
--   :scim_user
--   _verdict       text         the constraint that stands in the way
WITH wanted AS (
    SELECT account.id, account.user_name, account.created_at, account.updated_at,
           account.status AS old_status, account.external_id AS old_external_id,
           account.first_name AS old_first_name, account.last_name AS old_last_name,
           account.display_name AS old_display_name, account.title AS old_title,
           account.department AS old_department, account.locale AS old_locale,
           CASE WHEN :external_id_given
                    THEN :external_id ELSE account.external_id END AS external_id,
           CASE WHEN :first_name_given THEN :first_name ELSE account.first_name END AS first_name,
           CASE WHEN :last_name_given THEN :last_name ELSE account.last_name END AS last_name,
           CASE WHEN :display_name_given
                    THEN :display_name ELSE account.display_name END AS display_name,
           CASE WHEN :title_given THEN :title ELSE account.title END AS title,
           CASE WHEN :department_given THEN :department ELSE account.department END AS department,
           CASE WHEN :locale_given THEN :locale ELSE account.locale END AS locale,
           CASE
               WHEN :status = 'deactivated'
                    OR :status = 'active' AND account.status = 'deactivated' THEN :status
               ELSE account.status
           END AS status,
           CASE
               WHEN :external_id_given AND :external_id <> coalesce(account.external_id, '')
                   THEN svc.user_conflict(NULL, :external_id)
           END AS taken
      FROM (SELECT :scim_user
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant AND account.id = :user_id
             FOR UPDATE) account
), updated AS (
    UPDATE svc.user_account account
       SET status = wanted.status,
           valid_after = CASE
                             WHEN wanted.status IN ('active', account.status)
                                 THEN account.valid_after
                             ELSE clock_timestamp()
                         END,
           search = svc.user_search(wanted.user_name, wanted.display_name, wanted.first_name,
                                    wanted.last_name),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond'),
           external_id = wanted.external_id, first_name = wanted.first_name,
           last_name = wanted.last_name, display_name = wanted.display_name,
           title = wanted.title, department = wanted.department, locale = wanted.locale
      FROM wanted
     WHERE account.tenant_id = :tenant
       AND account.id = :user_id
       AND wanted.taken IS NULL
       AND (wanted.status, wanted.external_id, wanted.first_name, wanted.last_name,
            wanted.display_name, wanted.title, wanted.department, wanted.locale)
           IS DISTINCT FROM
           (wanted.old_status, wanted.old_external_id, wanted.old_first_name,
            wanted.old_last_name, wanted.old_display_name, wanted.old_title,
            wanted.old_department, wanted.old_locale)
    RETURNING account.tenant_id, wanted.*, account.updated_at AS changed_at
), event AS (
    INSERT INTO svc.audit_event
        (tenant_id, actor_type, actor_id, actor_name, ip, user_agent, request_id, action,
         target_type, target_id, target_name, details)
    SELECT updated.tenant_id, 'scim', left(current_setting('svc.token', true), 36),
           substr(current_setting('svc.token', true), 38), :client_ip::text::inet,
           :client_agent::text, :request_id::text,
           CASE
               WHEN updated.status = 'deactivated' AND updated.old_status <> 'deactivated'
                   THEN 'user.deactivated'
               WHEN updated.status = 'active' AND updated.old_status = 'deactivated'
                   THEN 'user.reactivated'
               ELSE 'user.updated'
           END,
           'user', updated.id::text, NULL,
           '{"source":"scim"}' || jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               NULL,
               CASE WHEN updated.external_id IS DISTINCT FROM updated.old_external_id
                        THEN 'externalId' END,
               CASE WHEN updated.first_name IS DISTINCT FROM updated.old_first_name
                        THEN 'firstName' END,
               CASE WHEN updated.last_name IS DISTINCT FROM updated.old_last_name
                        THEN 'lastName' END,
               CASE WHEN updated.display_name IS DISTINCT FROM updated.old_display_name
                        THEN 'displayName' END,
               CASE WHEN updated.title IS DISTINCT FROM updated.old_title THEN 'title' END,
               CASE WHEN updated.department IS DISTINCT FROM updated.old_department
                        THEN 'department' END,
               CASE WHEN updated.locale IS DISTINCT FROM updated.old_locale THEN 'locale' END,
               CASE WHEN updated.status <> updated.old_status THEN 'status' END
           ], NULL)))
      FROM updated
)
SELECT wanted.id, wanted.user_name, wanted.external_id, wanted.status, wanted.first_name,
       wanted.last_name, wanted.display_name, wanted.title, wanted.department, wanted.locale,
       wanted.created_at, coalesce(updated.changed_at, wanted.updated_at) AS updated_at,
       wanted.taken AS _verdict
  FROM wanted
  LEFT JOIN updated ON true
 WHERE wanted.taken IS NOT NULL
    OR wanted.old_status <> 'deactivated'
    OR :status IS DISTINCT FROM 'deactivated'
    OR svc.ldap_sync_forget(:tenant, wanted.id);
