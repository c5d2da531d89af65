-- statement: federation_account_lock (shared)
-- There is no user yet whose lock would have others wait.
--
-- parameters
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
SELECT pg_advisory_xact_lock(hashtext('svc.federated_identity'),
                             hashtext(encode(:subject_hash::bytea, 'hex')))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: federation_account
-- The new user, who acts from now on. Without one, as when the address is taken, there is no
-- tenant for the rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   email          text ngx_svc_federation_param(proof.email)
--   first_name     text ngx_svc_federation_param(proof.first_name)
--   last_name      text ngx_svc_federation_param(proof.last_name)
--   display_name   text ngx_svc_federation_param(proof.display_name)
--   key            text ngx_svc_federation_param(connection.key)
--   mapped_first   text ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_FIRST_NAME])
--   mapped_last    text ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_LAST_NAME])
--   mapped_display text ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_DISPLAY_NAME])
--   title          text ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_TITLE])
--   department     text ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_DEPARTMENT])
--   locale         text ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_LOCALE])
--   external_id    text ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_EXTERNAL_ID])
-- columns
--   :account_stored
--   settings_set   bool         unread
WITH account AS (
    INSERT INTO svc.user_account
        (tenant_id, id, user_name, first_name, last_name, display_name, title, department, locale,
         external_id, role, email_verified, source)
    SELECT tenant.id, :user::uuid, :email, coalesce(:mapped_first, :first_name),
           coalesce(:mapped_last, :last_name), coalesce(:mapped_display, :display_name), :title,
           :department, :locale,
           CASE
               WHEN NOT EXISTS (SELECT
                                  FROM svc.user_account other
                                 WHERE other.tenant_id = :tenant
                                   AND other.external_id = :external_id) THEN :external_id
           END,
           'member', true, CASE :key::text WHEN 'ldap' THEN 'ldap' ELSE 'social' END
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
    ON CONFLICT DO NOTHING
    RETURNING id, user_name, source
), event AS (
    INSERT INTO svc.audit_event
        (actor_type, actor_id, action, target_type, target_id, target_name, details)
    SELECT 'user', account.id::text, 'user.created', 'user', account.id::text, NULL,
           jsonb_build_object('source', account.source, 'connection', :key)
      FROM account
)
SELECT account.id AS _user, account.user_name AS _email, now()::timestamptz(3) AS _at,
       array_to_string(ARRAY(SELECT endpoint.id
                               FROM svc.webhook_endpoint endpoint
                              WHERE endpoint.tenant_id = :tenant
                                AND endpoint.enabled
                                AND 'user.created' = ANY (endpoint.events)),
                       ',') AS _subscribers,
       CASE
           WHEN account.id IS NULL THEN set_config('svc.tenant', '', true)
           ELSE set_config('svc.actor_type', 'user', true)
                || set_config('svc.actor_id', account.id::text, true)
       END IS NULL AS settings_set
  FROM (VALUES (1)) always
  LEFT JOIN account ON true;
