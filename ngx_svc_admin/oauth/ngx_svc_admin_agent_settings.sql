-- What a tenant lets its agents.  The version is the values themselves, as the row has
-- others, too.


-- statement: admin_agent_settings
SELECT settings.orphan_action AS "orphanAction", settings.orphan_grace_hours AS "orphanGraceHours",
       settings.max_delegation_depth AS "maxDelegationDepth",
       settings.review_interval_days AS "reviewIntervalDays",
       (((CASE settings.orphan_action WHEN 'none' THEN 1 ELSE 2 END * 10000
          + settings.orphan_grace_hours) * 10 + settings.max_delegation_depth) * 1000
        + settings.review_interval_days) AS _version
  FROM svc.oauth_tenant settings
 WHERE settings.tenant_id = :tenant;


-- statement: admin_agent_settings_lock
SELECT
  FROM svc.oauth_tenant settings
 WHERE settings.tenant_id = :tenant
 FOR NO KEY UPDATE;


-- statement: admin_agent_settings_put
--
-- parameters
--   orphan_action        text ngx_svc_param_text(ngx_svc_admin_agent_settings_t, orphan_action)
--   orphan_grace_hours   int4 ngx_svc_param_integer(ngx_svc_admin_agent_settings_t, orphan_grace)
--   max_delegation_depth int4 ngx_svc_param_integer(ngx_svc_admin_agent_settings_t, max_depth)
--   review_interval_days int4
--         ngx_svc_param_integer(ngx_svc_admin_agent_settings_t, review_interval)
--   if_match             text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT settings.* FROM svc.oauth_tenant settings WHERE settings.tenant_id = :tenant
), wanted AS (
    SELECT coalesce(:orphan_action, old.orphan_action) AS orphan_action,
           coalesce(:orphan_grace_hours::int4, old.orphan_grace_hours) AS orphan_grace_hours,
           coalesce(:max_delegation_depth::int4, old.max_delegation_depth) AS max_delegation_depth,
           coalesce(:review_interval_days::int4, old.review_interval_days) AS review_interval_days
      FROM old
), decided AS (
    SELECT CASE
               WHEN NOT (:if_match::text IS NULL
                         OR (((CASE old.orphan_action WHEN 'none' THEN 1 ELSE 2 END * 10000
                               + old.orphan_grace_hours) * 10 + old.max_delegation_depth) * 1000
                             + old.review_interval_days)::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict
      FROM old
), updated AS (
    UPDATE svc.oauth_tenant settings
       SET orphan_action = wanted.orphan_action, orphan_grace_hours = wanted.orphan_grace_hours,
           max_delegation_depth = wanted.max_delegation_depth,
           review_interval_days = wanted.review_interval_days
      FROM wanted, decided
     WHERE settings.tenant_id = :tenant
       AND decided.verdict IS NULL
       AND ROW(wanted.*) IS DISTINCT FROM ROW(
               settings.orphan_action, settings.orphan_grace_hours, settings.max_delegation_depth,
               settings.review_interval_days)
    RETURNING settings.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'agent.settings_updated', 'agentSettings', NULL, NULL,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.orphan_action IS DISTINCT FROM old.orphan_action
                    THEN 'orphanAction' END,
               CASE WHEN updated.orphan_grace_hours IS DISTINCT FROM old.orphan_grace_hours
                    THEN 'orphanGraceHours' END,
               CASE WHEN updated.max_delegation_depth IS DISTINCT FROM old.max_delegation_depth
                    THEN 'maxDelegationDepth' END,
               CASE WHEN updated.review_interval_days IS DISTINCT FROM old.review_interval_days
                    THEN 'reviewIntervalDays' END], NULL)))
      FROM updated, old
)
SELECT decided.verdict AS _verdict
  FROM decided;
