-- statement: admin_bundle (shared)
-- One statement, and so one snapshot.  Overrides and roles are a text each, of lines in any
-- order, which costs half of what as many rows do: "<group's id>(<fields as of ROW()>)", and
-- "<key> <1: somebody has it>{<permissions>} <name>"; names are without control characters.
-- The parameter in a sub-select looks the same to the planner whatever it is.
--
-- parameters
--   group_ids      text ngx_svc_param_call(ngx_svc_admin_bundle_groups)
-- columns
--   revision       int8         as text
--   access_number  int8         as text
--   access_policy  json
--   risk           text
--   password       text
--   overrides      text
--   roles          text
--   held           text[]
--   unknown        int8         1 for the first one
SELECT revision, access_number, access_policy,
       ROW(risk_enabled, risk_mfa_threshold, risk_deny_threshold)::text AS risk,
       ROW(min_length, reject_breached, reject_contextual, require_lower, require_upper,
           require_digit, require_symbol, history_count, max_age_days)::text AS password,
       (SELECT string_agg(group_id || ROW(min_length, reject_breached, reject_contextual,
                                          require_lower, require_upper, require_digit,
                                          require_symbol, history_count, max_age_days)::text,
                          E'\n')
          FROM svc.group_password_policy
         WHERE tenant_id = :tenant) AS overrides,
       (SELECT string_agg(key || ' ' || CASE WHEN member_count > 0 THEN '1' ELSE '0' END
                          || permissions::text || ' ' || name,
                          E'\n')
          FROM svc.role
         WHERE tenant_id = :tenant) AS roles,
       :caller_permissions AS held,
       (SELECT min(wanted.place)
          FROM unnest((SELECT :group_ids::text::uuid[])) WITH ORDINALITY wanted (id, place)
         WHERE (SELECT true
                  FROM svc.user_group user_group
                 WHERE user_group.tenant_id = :tenant
                   AND user_group.id BETWEEN wanted.id AND wanted.id
                 ORDER BY user_group.id
                 LIMIT 1) IS NULL) AS unknown
  FROM svc.governance
 WHERE tenant_id = :tenant;
