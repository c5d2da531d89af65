-- statement: admin_risk_policy
SELECT governance.risk_enabled AS "enabled",
       governance.risk_mfa_threshold AS "mfaThreshold",
       governance.risk_deny_threshold AS "denyThreshold", governance.risk_version AS _version
  FROM svc.governance governance
 WHERE governance.tenant_id = :tenant;


-- statement: admin_risk_policy_put
-- The statement before it has locked the row. Nothing changes, not even a version, where
-- nothing differs.
--
-- parameters
--   risk_enabled        bool ngx_svc_param_boolean(ngx_svc_admin_risk_t, risk_enabled)
--   risk_mfa_threshold  int4 ngx_svc_param_integer(ngx_svc_admin_risk_t, risk_mfa_threshold)
--   risk_deny_threshold int4 ngx_svc_param_integer(ngx_svc_admin_risk_t, risk_deny_threshold)
--   if_match            text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
--   order          invalid_value   NGX_SVC_ADMIN_RISK_ORDER
WITH old AS (
    SELECT governance.tenant_id, governance.risk_enabled, governance.risk_mfa_threshold,
           governance.risk_deny_threshold, governance.risk_version
      FROM svc.governance governance
     WHERE governance.tenant_id = :tenant
), wanted AS (
    SELECT old.tenant_id,
           coalesce(:risk_enabled::bool, old.risk_enabled) AS risk_enabled,
           coalesce(:risk_mfa_threshold::int4, old.risk_mfa_threshold) AS risk_mfa_threshold,
           coalesce(:risk_deny_threshold::int4, old.risk_deny_threshold) AS risk_deny_threshold,
           (:if_match::text IS NULL
            OR old.risk_version::text = ANY (:if_match::text::text[])) AS matches
      FROM old
), decided AS (
    SELECT CASE
               WHEN NOT wanted.matches THEN 'precondition'
               WHEN wanted.risk_mfa_threshold >= wanted.risk_deny_threshold THEN 'order'
           END AS verdict
      FROM wanted
), updated AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1, risk_version = governance.risk_version + 1,
           (risk_enabled, risk_mfa_threshold, risk_deny_threshold)
           = (wanted.risk_enabled, wanted.risk_mfa_threshold, wanted.risk_deny_threshold)
      FROM wanted, old, decided
     WHERE governance.tenant_id = wanted.tenant_id
       AND decided.verdict IS NULL
       AND (wanted.risk_enabled, wanted.risk_mfa_threshold, wanted.risk_deny_threshold)
           <> (old.risk_enabled, old.risk_mfa_threshold, old.risk_deny_threshold)
    RETURNING governance.risk_enabled, governance.risk_mfa_threshold,
              governance.risk_deny_threshold, governance.risk_version
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'risk_policy.updated', 'riskPolicy', NULL, NULL,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.risk_enabled IS DISTINCT FROM old.risk_enabled THEN 'enabled' END,
               CASE WHEN updated.risk_mfa_threshold IS DISTINCT FROM old.risk_mfa_threshold
                        THEN 'mfaThreshold' END,
               CASE WHEN updated.risk_deny_threshold IS DISTINCT FROM old.risk_deny_threshold
                        THEN 'denyThreshold' END
           ], NULL)))
      FROM updated, old
), shown AS (
    SELECT updated.risk_enabled, updated.risk_mfa_threshold, updated.risk_deny_threshold,
           updated.risk_version
      FROM updated
    UNION ALL
    SELECT old.risk_enabled, old.risk_mfa_threshold, old.risk_deny_threshold, old.risk_version
      FROM old
     WHERE NOT EXISTS (SELECT FROM updated)
)
SELECT decided.verdict AS _verdict, shown.risk_enabled AS "enabled",
       shown.risk_mfa_threshold AS "mfaThreshold",
       shown.risk_deny_threshold AS "denyThreshold", shown.risk_version AS _version
  FROM decided, shown;
