-- statement: admin_overrides_list
--
-- parameters
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT group_policy.group_id AS "groupId", user_group.name AS "groupName",
       group_policy.min_length AS "minLength",
       group_policy.reject_breached AS "rejectBreached",
       group_policy.reject_contextual AS "rejectContextual",
       group_policy.require_lower AS "requireLower", group_policy.require_upper AS "requireUpper",
       group_policy.require_digit AS "requireDigit",
       group_policy.require_symbol AS "requireSymbol", group_policy.history_count AS "historyCount",
       group_policy.max_age_days AS "maxAgeDays", group_policy.created_at AS "createdAt",
       group_policy.updated_at AS "updatedAt"
  FROM (SELECT kept.*
          FROM svc.group_password_policy kept
         WHERE kept.tenant_id = :tenant
         ORDER BY kept.created_at DESC, kept.group_id DESC
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) group_policy
  CROSS JOIN LATERAL (
       SELECT user_group.name
         FROM svc.user_group user_group
        WHERE user_group.tenant_id = :tenant
          AND user_group.id BETWEEN group_policy.group_id AND group_policy.group_id
        ORDER BY user_group.id
        LIMIT 1) user_group
 ORDER BY group_policy.created_at DESC, group_policy.group_id DESC;


-- statement: admin_overrides_get
--
-- missing: NGX_SVC_ADMIN_NO_OVERRIDE
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_OVERRIDE)
SELECT group_policy.group_id AS "groupId", user_group.name AS "groupName",
       group_policy.min_length AS "minLength",
       group_policy.reject_breached AS "rejectBreached",
       group_policy.reject_contextual AS "rejectContextual",
       group_policy.require_lower AS "requireLower", group_policy.require_upper AS "requireUpper",
       group_policy.require_digit AS "requireDigit",
       group_policy.require_symbol AS "requireSymbol", group_policy.history_count AS "historyCount",
       group_policy.max_age_days AS "maxAgeDays", group_policy.created_at AS "createdAt",
       group_policy.updated_at AS "updatedAt",
       (extract(epoch from group_policy.updated_at) * 1000)::int8 AS _edition
  FROM svc.group_password_policy group_policy
  JOIN svc.user_group user_group
       ON user_group.tenant_id = :tenant AND user_group.id = group_policy.group_id
 WHERE group_policy.tenant_id = :tenant AND group_policy.group_id = :group_id;


-- statement: admin_overrides_total
SELECT count(*)
  FROM svc.group_password_policy group_policy
 WHERE group_policy.tenant_id = :tenant;


-- statement: admin_overrides_create
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
--   group_id          uuid ngx_svc_param_id(ngx_svc_admin_password_t, group_id)
-- verdicts
--   group          invalid_value   "groupId" must be the id of a group: there is no group
--                                  with this id.
--   exists         conflict        The group has a password policy already: change it with
--                                  PUT.
WITH user_group AS (
    SELECT user_group.tenant_id, user_group.id, user_group.name
      FROM svc.user_group user_group
     WHERE user_group.tenant_id = :tenant AND user_group.id = :group_id
), group_policy AS (
    INSERT INTO svc.group_password_policy AS group_policy
        (tenant_id, group_id, min_length, reject_breached, reject_contextual, require_lower,
         require_upper, require_digit, require_symbol, history_count, max_age_days)
    SELECT user_group.tenant_id, user_group.id, :min_length::int4, :reject_breached::bool,
           :reject_contextual::bool, :require_lower::bool, :require_upper::bool,
           :require_digit::bool, :require_symbol::bool, :history_count::int4, :max_age_days::int4
      FROM user_group
     WHERE NOT EXISTS (SELECT
                         FROM svc.group_password_policy kept
                        WHERE kept.tenant_id = :tenant AND kept.group_id = :group_id)
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group_password_policy.created', 'groupPasswordPolicy', group_policy.group_id::text,
           user_group.name, '{}'
      FROM group_policy, user_group
), revised AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1
     WHERE governance.tenant_id = :tenant AND EXISTS (SELECT FROM group_policy)
)
SELECT CASE
           WHEN user_group.id IS NULL THEN 'group'
           WHEN group_policy.group_id IS NULL THEN 'exists'
       END AS _verdict,
       group_policy.group_id AS "groupId", user_group.name AS "groupName",
       group_policy.min_length AS "minLength",
       group_policy.reject_breached AS "rejectBreached",
       group_policy.reject_contextual AS "rejectContextual",
       group_policy.require_lower AS "requireLower", group_policy.require_upper AS "requireUpper",
       group_policy.require_digit AS "requireDigit",
       group_policy.require_symbol AS "requireSymbol", group_policy.history_count AS "historyCount",
       group_policy.max_age_days AS "maxAgeDays", group_policy.created_at AS "createdAt",
       group_policy.updated_at AS "updatedAt",
       (extract(epoch from group_policy.updated_at) * 1000)::int8 AS _edition
  FROM (VALUES (1)) always
  LEFT JOIN user_group ON true
  LEFT JOIN group_policy ON true;


-- statement: admin_overrides_put
-- The policy of a group as a whole, stored where nothing was, or where something differs.
-- What was nothing is of no version.
--
-- missing: NGX_SVC_ADMIN_NO_GROUP
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
--   group_id          uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
--   if_match          text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
WITH user_group AS (
    SELECT user_group.tenant_id, user_group.id, user_group.name
      FROM svc.user_group user_group
     WHERE user_group.tenant_id = :tenant AND user_group.id = :group_id
), old AS (
    SELECT kept.*
      FROM svc.group_password_policy kept
     WHERE kept.tenant_id = :tenant AND kept.group_id = :group_id
), decided AS (
    SELECT CASE
               WHEN NOT (:if_match::text IS NULL
                         OR coalesce((extract(epoch from old.updated_at) * 1000)::int8::text
                                     = ANY (:if_match::text::text[]), false)) THEN 'precondition'
           END AS verdict
      FROM (VALUES (1)) always
      LEFT JOIN old ON true
), group_policy AS (
    INSERT INTO svc.group_password_policy AS group_policy
        (tenant_id, group_id, min_length, reject_breached, reject_contextual, require_lower,
         require_upper, require_digit, require_symbol, history_count, max_age_days)
    SELECT user_group.tenant_id, user_group.id, :min_length::int4, :reject_breached::bool,
           :reject_contextual::bool, :require_lower::bool, :require_upper::bool,
           :require_digit::bool, :require_symbol::bool, :history_count::int4, :max_age_days::int4
      FROM user_group, decided
     WHERE decided.verdict IS NULL
    ON CONFLICT (tenant_id, group_id) DO UPDATE
       SET (min_length, reject_breached, reject_contextual, require_lower, require_upper,
            require_digit, require_symbol, history_count, max_age_days, updated_at)
           = (excluded.min_length, excluded.reject_breached, excluded.reject_contextual,
              excluded.require_lower, excluded.require_upper, excluded.require_digit,
              excluded.require_symbol, excluded.history_count, excluded.max_age_days,
              greatest(now(), group_policy.updated_at + interval '1 millisecond'))
     WHERE (group_policy.min_length, group_policy.reject_breached,
            group_policy.reject_contextual, group_policy.require_lower,
            group_policy.require_upper, group_policy.require_digit, group_policy.require_symbol,
            group_policy.history_count, group_policy.max_age_days)
           IS DISTINCT FROM
           (excluded.min_length, excluded.reject_breached, excluded.reject_contextual,
            excluded.require_lower, excluded.require_upper, excluded.require_digit,
            excluded.require_symbol, excluded.history_count, excluded.max_age_days)
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT CASE
               WHEN old.group_id IS NULL THEN 'group_password_policy.created'
               ELSE 'group_password_policy.updated'
           END,
           'groupPasswordPolicy', group_policy.group_id::text, user_group.name,
           CASE
               WHEN old.group_id IS NULL THEN '{}'
               ELSE jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
                   CASE WHEN group_policy.min_length IS DISTINCT FROM old.min_length
                            THEN 'minLength' END,
                   CASE WHEN group_policy.reject_breached IS DISTINCT FROM old.reject_breached
                            THEN 'rejectBreached' END,
                   CASE WHEN group_policy.reject_contextual IS DISTINCT FROM old.reject_contextual
                            THEN 'rejectContextual' END,
                   CASE WHEN group_policy.require_lower IS DISTINCT FROM old.require_lower
                            THEN 'requireLower' END,
                   CASE WHEN group_policy.require_upper IS DISTINCT FROM old.require_upper
                            THEN 'requireUpper' END,
                   CASE WHEN group_policy.require_digit IS DISTINCT FROM old.require_digit
                            THEN 'requireDigit' END,
                   CASE WHEN group_policy.require_symbol IS DISTINCT FROM old.require_symbol
                            THEN 'requireSymbol' END,
                   CASE WHEN group_policy.history_count IS DISTINCT FROM old.history_count
                            THEN 'historyCount' END,
                   CASE WHEN group_policy.max_age_days IS DISTINCT FROM old.max_age_days
                            THEN 'maxAgeDays' END
               ], NULL)))
           END
      FROM group_policy
      CROSS JOIN user_group
      LEFT JOIN old ON true
), revised AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1
     WHERE governance.tenant_id = :tenant AND EXISTS (SELECT FROM group_policy)
), shown AS (
    SELECT * FROM group_policy
    UNION ALL
    SELECT * FROM old WHERE NOT EXISTS (SELECT FROM group_policy)
)
SELECT decided.verdict AS _verdict, shown.group_id AS "groupId", user_group.name AS "groupName",
       shown.min_length AS "minLength", shown.reject_breached AS "rejectBreached",
       shown.reject_contextual AS "rejectContextual", shown.require_lower AS "requireLower",
       shown.require_upper AS "requireUpper", shown.require_digit AS "requireDigit",
       shown.require_symbol AS "requireSymbol", shown.history_count AS "historyCount",
       shown.max_age_days AS "maxAgeDays", shown.created_at AS "createdAt",
       shown.updated_at AS "updatedAt", NOT EXISTS (SELECT FROM old) AS _created,
       (extract(epoch from shown.updated_at) * 1000)::int8 AS _edition
  FROM user_group
  CROSS JOIN decided
  LEFT JOIN shown ON true;


-- statement: admin_overrides_delete
--
-- missing: NGX_SVC_ADMIN_NO_GROUP
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
-- verdicts
--   none           not_found       The group has no password policy of its own.
WITH user_group AS (
    SELECT user_group.name
      FROM svc.user_group user_group
     WHERE user_group.tenant_id = :tenant AND user_group.id = :group_id
), deleted AS (
    DELETE FROM svc.group_password_policy kept
     WHERE kept.tenant_id = :tenant AND kept.group_id = :group_id
    RETURNING kept.group_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group_password_policy.deleted', 'groupPasswordPolicy', deleted.group_id::text,
           user_group.name, '{}'
      FROM deleted, user_group
), revised AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1
     WHERE governance.tenant_id = :tenant AND EXISTS (SELECT FROM deleted)
)
SELECT CASE WHEN deleted.group_id IS NULL THEN 'none' END AS _verdict
  FROM user_group
  LEFT JOIN deleted ON true;
