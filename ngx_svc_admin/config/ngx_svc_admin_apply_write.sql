-- statement: admin_config_apply (shared)
-- Makes a revision of a tenant's configuration, while the one before it is what was read.
-- What is NULL stays; of lists there are rows to write and rows to delete, whether they are
-- there or not: nobody else writes while the tenant's row is locked.
--
-- Roles are locked first, in the order in which a user who changes his role locks them: if
-- users have one that is to go, "allowed" is empty, and so nothing is done.  Parameters in
-- sub-selects look the same to the planner whatever they are: one plan is for all.
--
-- parameters
--   revision            text ngx_svc_param_call(ngx_svc_admin_apply_bind_revision)
--   access_policy       text ngx_svc_admin_apply_param(NGX_SVC_ADMIN_APPLY_ACCESS)
--   access_version_id   uuid ngx_svc_param_new_id()
--   risk_fields         text ngx_svc_admin_apply_param(NGX_SVC_ADMIN_APPLY_RISK)
--   password_fields     text ngx_svc_admin_apply_param(NGX_SVC_ADMIN_APPLY_PASSWORD)
--   overrides           text ngx_svc_admin_apply_param(NGX_SVC_ADMIN_APPLY_OVERRIDES)
--   overrides_gone      text ngx_svc_admin_apply_param(NGX_SVC_ADMIN_APPLY_OVERRIDES_GONE)
--   roles               text ngx_svc_admin_apply_param(NGX_SVC_ADMIN_APPLY_ROLES)
--   roles_gone          text ngx_svc_admin_apply_param(NGX_SVC_ADMIN_APPLY_ROLES_GONE)
--   events              text ngx_svc_admin_apply_param(NGX_SVC_ADMIN_APPLY_EVENTS)
--   access_versions_max int4 ngx_svc_param_constant(NGX_SVC_ADMIN_ACCESS_VERSIONS)
-- columns
--   applied        bool
--   moved          bool
--   used           text
WITH governance AS (
    SELECT tenant_id
      FROM svc.governance
     WHERE tenant_id = :tenant AND revision = :revision::text::int8 - 1
), locked AS (
    SELECT role.key, wanted.gone, wanted.gone AND role.member_count > 0 AS used
      FROM governance,
           (SELECT key, false AS gone
              FROM unnest((SELECT array_agg(key)
                             FROM json_to_recordset(:roles::text::json) written (key text))) key
            UNION ALL
            SELECT key, true FROM unnest((SELECT :roles_gone::text::text[])) key) wanted,
           svc.role role
     WHERE role.tenant_id = governance.tenant_id AND role.key = wanted.key
     ORDER BY role.key
     FOR UPDATE OF role
), allowed AS (
    SELECT tenant_id, :risk_fields::text::int4[] AS risk, :password_fields::text::int4[] AS pass,
           :access_policy::text IS NOT NULL AS access
      FROM governance
     WHERE NOT EXISTS (SELECT FROM locked WHERE used)
), updated AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1,
           access_policy = CASE WHEN access THEN :access_policy::text::json
                                ELSE governance.access_policy END,
           access_number = governance.access_number + access::int4,
           access_version_id = CASE WHEN access THEN :access_version_id
                                    ELSE governance.access_version_id END,
           access_updated_at = CASE
               WHEN access
                    THEN greatest(now(), governance.access_updated_at + interval '1 millisecond')
               ELSE governance.access_updated_at
           END,
           risk_enabled = coalesce(risk[1]::bool, governance.risk_enabled),
           risk_mfa_threshold = coalesce(risk[2]::int4, governance.risk_mfa_threshold),
           risk_deny_threshold = coalesce(risk[3]::int4, governance.risk_deny_threshold),
           risk_version = governance.risk_version + (risk IS NOT NULL)::int4,
           min_length = coalesce(pass[1]::int4, governance.min_length),
           reject_breached = coalesce(pass[2]::bool, governance.reject_breached),
           reject_contextual = coalesce(pass[3]::bool, governance.reject_contextual),
           require_lower = coalesce(pass[4]::bool, governance.require_lower),
           require_upper = coalesce(pass[5]::bool, governance.require_upper),
           require_digit = coalesce(pass[6]::bool, governance.require_digit),
           require_symbol = coalesce(pass[7]::bool, governance.require_symbol),
           history_count = coalesce(pass[8]::int4, governance.history_count),
           max_age_days = coalesce(pass[9]::int4, governance.max_age_days),
           password_version = governance.password_version + (pass IS NOT NULL)::int4
      FROM allowed
     WHERE governance.tenant_id = allowed.tenant_id
    RETURNING governance.*
), version_stored AS (
    INSERT INTO svc.access_policy_version (tenant_id, id, number, source, snapshot, created_at)
    SELECT updated.tenant_id, updated.access_version_id, updated.access_number, 'config',
           updated.access_policy, updated.access_updated_at
      FROM updated, allowed
     WHERE allowed.access
), versions_removed AS (
    DELETE FROM svc.access_policy_version policy_version
     USING updated, allowed
     WHERE allowed.access
       AND policy_version.tenant_id = updated.tenant_id
       AND policy_version.number <= updated.access_number - :access_versions_max::int4
), overrides_stored AS (
    -- "fields" are those of a policy, in the order of the columns.
    INSERT INTO svc.group_password_policy AS group_policy
        (tenant_id, group_id, min_length, reject_breached, reject_contextual, require_lower,
         require_upper, require_digit, require_symbol, history_count, max_age_days)
    SELECT allowed.tenant_id, policy.id, policy.fields[1]::int4, policy.fields[2]::bool,
           policy.fields[3]::bool, policy.fields[4]::bool, policy.fields[5]::bool,
           policy.fields[6]::bool, policy.fields[7]::bool, policy.fields[8]::int4,
           policy.fields[9]::int4
      FROM allowed,
           json_to_recordset((SELECT :overrides::text::json)) AS policy (id uuid, fields int4[])
    ON CONFLICT (tenant_id, group_id) DO UPDATE
       SET (min_length, reject_breached, reject_contextual, require_lower, require_upper,
            require_digit, require_symbol, history_count, max_age_days, updated_at)
           = (excluded.min_length, excluded.reject_breached, excluded.reject_contextual,
              excluded.require_lower, excluded.require_upper, excluded.require_digit,
              excluded.require_symbol, excluded.history_count, excluded.max_age_days,
              greatest(now(), group_policy.updated_at + interval '1 millisecond'))
), overrides_removed AS (
    DELETE FROM svc.group_password_policy group_policy
     USING allowed, unnest((SELECT :overrides_gone::text::uuid[])) gone (id)
     WHERE group_policy.tenant_id = allowed.tenant_id AND group_policy.group_id = gone.id
), roles_stored AS (
    INSERT INTO svc.role AS role (tenant_id, key, name, permissions)
    SELECT allowed.tenant_id, wanted.key, wanted.name, wanted.permissions
      FROM allowed, json_to_recordset((SELECT :roles::text::json))
                        AS wanted (key text, name text, permissions text[])
    ON CONFLICT (tenant_id, key) DO UPDATE
       SET (name, permissions, updated_at)
           = (excluded.name, excluded.permissions,
              greatest(now(), role.updated_at + interval '1 millisecond'))
), roles_removed AS (
    DELETE FROM svc.role role
     USING allowed, unnest(ARRAY(SELECT locked.key FROM locked WHERE locked.gone)) gone (key)
     WHERE role.tenant_id = allowed.tenant_id AND role.key = gone.key
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT told.action, told.type,
           CASE told.type WHEN 'accessPolicy' THEN updated.access_version_id::text
                          ELSE told.id END,
           CASE told.type WHEN 'groupPasswordPolicy' THEN (
               SELECT user_group.name
                 FROM svc.user_group user_group
                WHERE user_group.tenant_id = :tenant
                  AND user_group.id BETWEEN (SELECT told.id::uuid) AND (SELECT told.id::uuid)
                ORDER BY user_group.id
                LIMIT 1)
               ELSE told.name END,
           CASE told.type WHEN 'accessPolicy' THEN told.details || jsonb_build_object(
                              'version', updated.access_number, 'source', 'config')
                          ELSE told.details END
      FROM updated, json_to_recordset((SELECT :events::text::json))
                        AS told (action text, type text, id text, name text, details jsonb)
)
SELECT EXISTS (SELECT FROM updated) AS applied, NOT EXISTS (SELECT FROM governance) AS moved,
       (SELECT min(key) FROM locked WHERE used) AS used;
