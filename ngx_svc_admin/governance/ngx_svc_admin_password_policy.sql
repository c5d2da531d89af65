-- statement: admin_password_policy
SELECT governance.min_length AS "minLength",
       governance.reject_breached AS "rejectBreached",
       governance.reject_contextual AS "rejectContextual",
       governance.require_lower AS "requireLower", governance.require_upper AS "requireUpper",
       governance.require_digit AS "requireDigit", governance.require_symbol AS "requireSymbol",
       governance.history_count AS "historyCount", governance.max_age_days AS "maxAgeDays",
       governance.password_version AS _version
  FROM svc.governance governance
 WHERE governance.tenant_id = :tenant;


-- statement: admin_password_policy_put
-- The statement before it has locked the row. Nothing changes, not even a version, where
-- nothing differs.
--
-- parameters
--   min_length        int4 ngx_svc_param_integer(ngx_svc_admin_password_t, min_length)
--   reject_breached   bool ngx_svc_param_boolean(ngx_svc_admin_password_t, reject_breached)
--   reject_contextual bool ngx_svc_param_boolean(ngx_svc_admin_password_t, reject_contextual)
--   require_lower     bool ngx_svc_param_boolean(ngx_svc_admin_password_t, require_lower)
--   require_upper     bool ngx_svc_param_boolean(ngx_svc_admin_password_t, require_upper)
--   require_digit     bool ngx_svc_param_boolean(ngx_svc_admin_password_t, require_digit)
--   require_symbol    bool ngx_svc_param_boolean(ngx_svc_admin_password_t, require_symbol)
--   history_count     int4 ngx_svc_param_integer(ngx_svc_admin_password_t, history_count)
--   max_age_days      int4 ngx_svc_param_integer(ngx_svc_admin_password_t, max_age_days)
--   if_match          text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT governance.tenant_id, governance.min_length, governance.reject_breached,
           governance.reject_contextual, governance.require_lower, governance.require_upper,
           governance.require_digit, governance.require_symbol, governance.history_count,
           governance.max_age_days, governance.password_version
      FROM svc.governance governance
     WHERE governance.tenant_id = :tenant
), wanted AS (
    SELECT old.tenant_id,
           coalesce(:min_length::int4, old.min_length) AS min_length,
           coalesce(:reject_breached::bool, old.reject_breached) AS reject_breached,
           coalesce(:reject_contextual::bool, old.reject_contextual) AS reject_contextual,
           coalesce(:require_lower::bool, old.require_lower) AS require_lower,
           coalesce(:require_upper::bool, old.require_upper) AS require_upper,
           coalesce(:require_digit::bool, old.require_digit) AS require_digit,
           coalesce(:require_symbol::bool, old.require_symbol) AS require_symbol,
           coalesce(:history_count::int4, old.history_count) AS history_count,
           coalesce(:max_age_days::int4, old.max_age_days) AS max_age_days,
           (:if_match::text IS NULL
            OR old.password_version::text = ANY (:if_match::text::text[])) AS matches
      FROM old
), decided AS (
    SELECT CASE WHEN NOT wanted.matches THEN 'precondition' END AS verdict FROM wanted
), updated AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1,
           password_version = governance.password_version + 1,
           (min_length, reject_breached, reject_contextual, require_lower, require_upper,
            require_digit, require_symbol, history_count, max_age_days)
           = (wanted.min_length, wanted.reject_breached, wanted.reject_contextual,
              wanted.require_lower, wanted.require_upper, wanted.require_digit,
              wanted.require_symbol, wanted.history_count, wanted.max_age_days)
      FROM wanted, old, decided
     WHERE governance.tenant_id = wanted.tenant_id
       AND decided.verdict IS NULL
       AND (wanted.min_length, wanted.reject_breached, wanted.reject_contextual,
            wanted.require_lower, wanted.require_upper, wanted.require_digit, wanted.require_symbol,
            wanted.history_count, wanted.max_age_days)
           <> (old.min_length, old.reject_breached, old.reject_contextual, old.require_lower,
               old.require_upper, old.require_digit, old.require_symbol, old.history_count,
               old.max_age_days)
    RETURNING governance.min_length, governance.reject_breached, governance.reject_contextual,
              governance.require_lower, governance.require_upper, governance.require_digit,
              governance.require_symbol, governance.history_count, governance.max_age_days,
              governance.password_version
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'password_policy.updated', 'passwordPolicy', NULL, NULL,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.min_length IS DISTINCT FROM old.min_length THEN 'minLength' END,
               CASE WHEN updated.reject_breached IS DISTINCT FROM old.reject_breached
                        THEN 'rejectBreached' END,
               CASE WHEN updated.reject_contextual IS DISTINCT FROM old.reject_contextual
                        THEN 'rejectContextual' END,
               CASE WHEN updated.require_lower IS DISTINCT FROM old.require_lower
                        THEN 'requireLower' END,
               CASE WHEN updated.require_upper IS DISTINCT FROM old.require_upper
                        THEN 'requireUpper' END,
               CASE WHEN updated.require_digit IS DISTINCT FROM old.require_digit
                        THEN 'requireDigit' END,
               CASE WHEN updated.require_symbol IS DISTINCT FROM old.require_symbol
                        THEN 'requireSymbol' END,
               CASE WHEN updated.history_count IS DISTINCT FROM old.history_count
                        THEN 'historyCount' END,
               CASE WHEN updated.max_age_days IS DISTINCT FROM old.max_age_days
                        THEN 'maxAgeDays' END
           ], NULL)))
      FROM updated, old
), shown AS (
    SELECT updated.min_length, updated.reject_breached, updated.reject_contextual,
           updated.require_lower, updated.require_upper, updated.require_digit,
           updated.require_symbol, updated.history_count, updated.max_age_days,
           updated.password_version
      FROM updated
    UNION ALL
    SELECT old.min_length, old.reject_breached, old.reject_contextual, old.require_lower,
           old.require_upper, old.require_digit, old.require_symbol, old.history_count,
           old.max_age_days, old.password_version
      FROM old
     WHERE NOT EXISTS (SELECT FROM updated)
)
SELECT decided.verdict AS _verdict, shown.min_length AS "minLength",
       shown.reject_breached AS "rejectBreached",
       shown.reject_contextual AS "rejectContextual", shown.require_lower AS "requireLower",
       shown.require_upper AS "requireUpper", shown.require_digit AS "requireDigit",
       shown.require_symbol AS "requireSymbol", shown.history_count AS "historyCount",
       shown.max_age_days AS "maxAgeDays", shown.password_version AS _version
  FROM decided, shown;
