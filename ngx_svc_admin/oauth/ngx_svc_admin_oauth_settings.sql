-- How long what a tenant's applications give may live.  The version is the values
-- themselves, as the row has others, too.


-- statement: admin_oauth_settings
SELECT settings.max_id_token_ttl AS "maxIdTokenTtlSeconds",
       settings.max_refresh_idle_days AS "maxRefreshIdleDays",
       settings.max_grant_days AS "maxGrantDays",
       ((coalesce(settings.max_id_token_ttl, 0)::int8 * 1000
         + coalesce(settings.max_refresh_idle_days, 0)) * 10000
        + coalesce(settings.max_grant_days, 0)) AS _version
  FROM svc.oauth_tenant settings
 WHERE settings.tenant_id = :tenant;


-- statement: admin_oauth_settings_lock
SELECT
  FROM svc.oauth_tenant settings
 WHERE settings.tenant_id = :tenant
 FOR NO KEY UPDATE;


-- statement: admin_oauth_settings_put
-- Applications that give more than it lets them are lowered to it, each with an event.
--
-- parameters
--   id_token_ttl_given      bool ngx_svc_param_given(ngx_svc_admin_oauth_settings_t, id_token_ttl)
--   id_token_ttl            int4
--         ngx_svc_param_integer(ngx_svc_admin_oauth_settings_t, id_token_ttl)
--   refresh_idle_days_given bool
--         ngx_svc_param_given(ngx_svc_admin_oauth_settings_t, refresh_idle_days)
--   refresh_idle_days       int4
--         ngx_svc_param_integer(ngx_svc_admin_oauth_settings_t, refresh_idle_days)
--   grant_days_given        bool ngx_svc_param_given(ngx_svc_admin_oauth_settings_t, grant_days)
--   grant_days              int4 ngx_svc_param_integer(ngx_svc_admin_oauth_settings_t, grant_days)
--   if_match                text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT settings.* FROM svc.oauth_tenant settings WHERE settings.tenant_id = :tenant
), wanted AS (
    SELECT CASE WHEN :id_token_ttl_given THEN :id_token_ttl::int4
                ELSE old.max_id_token_ttl END AS max_id_token_ttl,
           CASE WHEN :refresh_idle_days_given THEN :refresh_idle_days::int4
                ELSE old.max_refresh_idle_days END AS max_refresh_idle_days,
           CASE WHEN :grant_days_given THEN :grant_days::int4
                ELSE old.max_grant_days END AS max_grant_days
      FROM old
), decided AS (
    SELECT CASE
               WHEN NOT (:if_match::text IS NULL
                         OR ((coalesce(old.max_id_token_ttl, 0)::int8 * 1000
                              + coalesce(old.max_refresh_idle_days, 0)) * 10000
                             + coalesce(old.max_grant_days, 0))::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict
      FROM old
), updated AS (
    UPDATE svc.oauth_tenant settings
       SET max_id_token_ttl = wanted.max_id_token_ttl,
           max_refresh_idle_days = wanted.max_refresh_idle_days,
           max_grant_days = wanted.max_grant_days
      FROM wanted, decided
     WHERE settings.tenant_id = :tenant
       AND decided.verdict IS NULL
       AND ROW(wanted.*) IS DISTINCT FROM ROW(
               settings.max_id_token_ttl, settings.max_refresh_idle_days, settings.max_grant_days)
    RETURNING settings.*
), lowered AS (
    UPDATE svc.application client
       SET id_token_ttl = least(client.id_token_ttl, updated.max_id_token_ttl),
           refresh_idle_days = least(client.refresh_idle_days, updated.max_refresh_idle_days),
           grant_days = least(client.grant_days, updated.max_grant_days),
           updated_at = greatest(now(), client.updated_at + interval '1 millisecond')
      FROM updated
     WHERE client.tenant_id = :tenant
       AND (client.id_token_ttl > updated.max_id_token_ttl
            OR client.refresh_idle_days > updated.max_refresh_idle_days
            OR client.grant_days > updated.max_grant_days)
    RETURNING client.client_id, client.name, client.id_token_ttl, client.refresh_idle_days,
              client.grant_days
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'oauth.settings_updated', 'oauthSettings', NULL, NULL,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.max_id_token_ttl IS DISTINCT FROM old.max_id_token_ttl
                    THEN 'maxIdTokenTtlSeconds' END,
               CASE WHEN updated.max_refresh_idle_days IS DISTINCT FROM old.max_refresh_idle_days
                    THEN 'maxRefreshIdleDays' END,
               CASE WHEN updated.max_grant_days IS DISTINCT FROM old.max_grant_days
                    THEN 'maxGrantDays' END], NULL)))
      FROM updated, old
    UNION ALL
    SELECT 'application.updated', 'application', lowered.client_id, lowered.name,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN client.id_token_ttl > lowered.id_token_ttl THEN 'idTokenTtlSeconds' END,
               CASE WHEN client.refresh_idle_days > lowered.refresh_idle_days
                    THEN 'refreshIdleDays' END,
               CASE WHEN client.grant_days > lowered.grant_days THEN 'grantDays' END], NULL)))
      FROM lowered
      -- As the row was: this statement does not see what it has changed itself.
      CROSS JOIN LATERAL (
           SELECT client.id_token_ttl, client.refresh_idle_days, client.grant_days
             FROM svc.application client
            WHERE client.tenant_id = :tenant
              AND client.client_id BETWEEN lowered.client_id AND lowered.client_id
            ORDER BY client.client_id
            LIMIT 1) client
)
SELECT decided.verdict AS _verdict
  FROM decided;
