-- statement: admin_security_stats
-- Of the last days of UTC, of which today is one; sign-ins and users are counters.
--
-- parameters
--   days           int4 ngx_svc_param_call(ngx_svc_admin_stat_days)
WITH stat_day AS MATERIALIZED (
    SELECT stat_day.day, sum(stat_day.success) AS success, sum(stat_day.failure) AS failure,
           sum(stat_day.denied) AS denied, sum(stat_day.lockouts) AS lockouts,
           sum(stat_day.rate_limited) AS rate_limited
      FROM svc.stat_day stat_day
     WHERE stat_day.tenant_id = :tenant
       AND stat_day.day > (now() AT TIME ZONE 'UTC')::date - :days::int4
       AND stat_day.day <= (now() AT TIME ZONE 'UTC')::date
     GROUP BY stat_day.day
), user_count AS (
    SELECT coalesce(sum(user_count.mfa), 0) AS enrolled,
           coalesce(sum(user_count.active + user_count.suspended + user_count.deactivated), 0)
           AS total
      FROM svc.user_count user_count
     WHERE user_count.tenant_id = :tenant
)
SELECT to_char((now() AT TIME ZONE 'UTC')::date - :days::int4 + 1, 'YYYY-MM-DD')
       AS "period.from",
       to_char((now() AT TIME ZONE 'UTC')::date, 'YYYY-MM-DD') AS "period.to",
       period.success AS "signIns.success", period.failure AS "signIns.failure",
       user_count.enrolled AS "mfa.enrolled", user_count.total AS "mfa.total", period.lockouts,
       period.rate_limited AS "rateLimited", period.denied,
       (SELECT count(*)
          FROM svc.incident incident
         WHERE incident.tenant_id = :tenant
           AND incident.acknowledged_at IS NULL) AS "openIncidents",
       0 AS "openAnomalies",
       (SELECT count(*)
          FROM svc.ip_block block
         WHERE block.tenant_id = :tenant
           AND coalesce(block.expires_at > now(), true)) AS "blockedIps",
       (SELECT '[' || string_agg(
                   '{"date":"'
                   || to_char((now() AT TIME ZONE 'UTC')::date - past.days, 'YYYY-MM-DD') || '"'
                   || ',"success":' || coalesce(stat_day.success, 0)
                   || ',"failure":' || coalesce(stat_day.failure, 0) || '}',
                   ',' ORDER BY past.days DESC) || ']'
          FROM generate_series(0, :days::int4 - 1) past (days)
          LEFT JOIN stat_day ON stat_day.day = (now() AT TIME ZONE 'UTC')::date - past.days
       )::json AS series
  FROM user_count,
       (SELECT coalesce(sum(stat_day.success), 0) AS success,
               coalesce(sum(stat_day.failure), 0) AS failure,
               coalesce(sum(stat_day.denied), 0) AS denied,
               coalesce(sum(stat_day.lockouts), 0) AS lockouts,
               coalesce(sum(stat_day.rate_limited), 0) AS rate_limited
          FROM stat_day) period;


-- statement: admin_growth_stats
-- The same of users. New users of the day that a row of svc.user_count is of are there alone.
--
-- parameters
--   days           int4 ngx_svc_param_call(ngx_svc_admin_stat_days)
WITH user_count AS MATERIALIZED (
    SELECT user_count.active, user_count.suspended, user_count.deactivated, user_count.day,
           user_count.added
      FROM svc.user_count user_count
     WHERE user_count.tenant_id = :tenant
), growth AS MATERIALIZED (
    SELECT stat_day.day, sum(stat_day.added) AS added, sum(stat_day.active) AS active
      FROM (SELECT stat_day.day, stat_day.new_users AS added, stat_day.active_users AS active
              FROM svc.stat_day stat_day
             WHERE stat_day.tenant_id = :tenant
               AND stat_day.day
                   > (now() AT TIME ZONE 'UTC')::date - greatest(:days::int4, 30)
               AND stat_day.day <= (now() AT TIME ZONE 'UTC')::date
            UNION ALL
            SELECT user_count.day, user_count.added, 0
              FROM user_count
             WHERE user_count.day
                   > (now() AT TIME ZONE 'UTC')::date - greatest(:days::int4, 30)
               AND user_count.day <= (now() AT TIME ZONE 'UTC')::date) stat_day
     GROUP BY stat_day.day
)
SELECT to_char((now() AT TIME ZONE 'UTC')::date - :days::int4 + 1, 'YYYY-MM-DD')
       AS "period.from",
       to_char((now() AT TIME ZONE 'UTC')::date, 'YYYY-MM-DD') AS "period.to",
       (SELECT coalesce(sum(user_count.active + user_count.suspended + user_count.deactivated), 0)
          FROM user_count) AS "totalUsers",
       (SELECT coalesce(sum(growth.added), 0)
          FROM growth
         WHERE growth.day > (now() AT TIME ZONE 'UTC')::date - 1) AS "newUsers.today",
       (SELECT coalesce(sum(growth.added), 0)
          FROM growth
         WHERE growth.day > (now() AT TIME ZONE 'UTC')::date - 7) AS "newUsers.last7Days",
       (SELECT coalesce(sum(growth.added), 0)
          FROM growth
         WHERE growth.day > (now() AT TIME ZONE 'UTC')::date - 30) AS "newUsers.last30Days",
       (SELECT coalesce(sum(active_day.users), 0)
          FROM svc.active_day active_day
         WHERE active_day.tenant_id = :tenant
           AND active_day.day > (now() AT TIME ZONE 'UTC')::date - 1) AS "activeUsers.daily",
       (SELECT coalesce(sum(active_day.users), 0)
          FROM svc.active_day active_day
         WHERE active_day.tenant_id = :tenant
           AND active_day.day > (now() AT TIME ZONE 'UTC')::date - 7) AS "activeUsers.weekly",
       (SELECT coalesce(sum(active_day.users), 0)
          FROM svc.active_day active_day
         WHERE active_day.tenant_id = :tenant
           AND active_day.day > (now() AT TIME ZONE 'UTC')::date - 30) AS "activeUsers.monthly",
       (SELECT '[' || string_agg(
                   '{"date":"'
                   || to_char((now() AT TIME ZONE 'UTC')::date - past.days, 'YYYY-MM-DD') || '"'
                   || ',"newUsers":' || coalesce(growth.added, 0)
                   || ',"activeUsers":' || coalesce(growth.active, 0) || '}',
                   ',' ORDER BY past.days DESC) || ']'
          FROM generate_series(0, :days::int4 - 1) past (days)
          LEFT JOIN growth ON growth.day = (now() AT TIME ZONE 'UTC')::date - past.days
       )::json AS series;
