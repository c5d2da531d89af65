-- statement: admin_application_groups_total
--
-- missing: NGX_SVC_NO_APPLICATION
-- parameters
--   client_id      text ngx_svc_param_application(0)
SELECT (SELECT count(*)
          FROM svc.group_app group_app
         WHERE group_app.tenant_id = :tenant AND group_app.client_id = :client_id)
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id;


-- statement: admin_application_groups_list
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT user_group.id, user_group.name, user_group.member_count AS "memberCount",
       group_app.added_at AS "addedAt"
  FROM (SELECT group_id, added_at
          FROM svc.group_app
         WHERE tenant_id = :tenant AND client_id = :client_id
         ORDER BY added_at DESC, group_id DESC
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) group_app
  CROSS JOIN LATERAL (
       SELECT user_group.id, user_group.name, user_group.member_count
         FROM svc.user_group user_group
        WHERE user_group.tenant_id = :tenant
          AND user_group.id BETWEEN group_app.group_id AND group_app.group_id
        ORDER BY user_group.id
        LIMIT 1) user_group
 ORDER BY group_app.added_at DESC, group_app.group_id DESC;


-- statement: admin_application_consents_total
--
-- missing: NGX_SVC_NO_APPLICATION
-- parameters
--   client_id      text ngx_svc_param_application(0)
--   counted_max    int4 ngx_svc_param_constant(NGX_SVC_APPLICATION_COUNTED)
SELECT (SELECT count(*)
          FROM (SELECT
                  FROM svc.oauth_consent consent
                 WHERE consent.tenant_id = :tenant
                   AND consent.client_id BETWEEN :client_id AND :client_id
                 ORDER BY consent.client_id, consent.created_at
                 LIMIT :counted_max::int4) consent)
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id;


-- statement: admin_application_consents
-- By when each was first given: that is how they are stored.  They are kept as pairs of a
-- resource and a scope, as admin_consents_list says.
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT page.user_id AS "userId", account.user_name AS email,
       account.display_name AS "displayName",
       (SELECT coalesce(json_agg(DISTINCT access.part ORDER BY access.part), '[]')
          FROM (SELECT split_part(pair, ' ', 2) COLLATE "C" AS part
                  FROM unnest(page.allowed) pair) access
         WHERE access.part <> '') AS scopes,
       (SELECT coalesce(json_agg(DISTINCT access.part ORDER BY access.part), '[]')
          FROM (SELECT split_part(pair, ' ', 1) COLLATE "C" AS part
                  FROM unnest(page.allowed) pair) access
         WHERE access.part <> '') AS resources,
       page.created_at AS "createdAt", page.updated_at AS "updatedAt"
  FROM (SELECT consent.user_id, consent.allowed, consent.created_at, consent.updated_at
          FROM svc.oauth_consent consent
         WHERE consent.tenant_id = :tenant
           AND consent.client_id BETWEEN :client_id AND :client_id
         ORDER BY consent.client_id DESC, consent.created_at DESC, consent.user_id DESC
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) page
  CROSS JOIN LATERAL (
       SELECT account.user_name, account.display_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN page.user_id AND page.user_id
        ORDER BY account.id
        LIMIT 1) account
 ORDER BY page.created_at DESC, page.user_id DESC;


-- statement: admin_application_usage
-- From the tokens that are stored, and from the journal: nothing is counted when one is issued.
-- A day is read by itself, from its own part of the index, and only so far.
--
-- missing: NGX_SVC_NO_APPLICATION
-- parameters
--   client_id      text ngx_svc_param_application(0)
--   days           int4 ngx_svc_param_call(ngx_svc_admin_stat_days)
--   counted_max    int4 ngx_svc_param_constant(NGX_SVC_APPLICATION_COUNTED)
WITH client AS (
    SELECT
      FROM svc.application client
     WHERE client.tenant_id = :tenant AND client.client_id = :client_id
), past AS MATERIALIZED (
    SELECT past.day, past.day::timestamp AT TIME ZONE 'UTC' AS since,
           (past.day + 1)::timestamp AT TIME ZONE 'UTC' AS until
      FROM client
      CROSS JOIN generate_series(0, :days::int4 - 1) back (days)
      CROSS JOIN LATERAL (
           SELECT (now() AT TIME ZONE 'UTC')::date - back.days AS day) past
), used AS MATERIALIZED (
    SELECT past.day, issued.tokens AS issued, refused.tokens AS refused
      FROM past
      CROSS JOIN LATERAL (
           SELECT count(*) AS tokens
             FROM (SELECT
                     FROM svc.oauth_token token
                    WHERE token.tenant_id = :tenant
                      AND token.client_id BETWEEN :client_id AND :client_id
                      AND token.issued_at >= past.since
                      AND token.issued_at < past.until
                    ORDER BY token.client_id, token.issued_at
                    LIMIT :counted_max::int4) token) issued
      CROSS JOIN LATERAL (
           SELECT count(*) AS tokens
             FROM (SELECT
                     FROM svc.delegation delegation
                    WHERE delegation.tenant_id = :tenant
                      AND delegation.client_id BETWEEN :client_id AND :client_id
                      AND delegation.created_at >= past.since
                      AND delegation.created_at < past.until
                      AND delegation.outcome = 'refused'
                    ORDER BY delegation.client_id, delegation.created_at
                    LIMIT :counted_max::int4) delegation) refused
)
SELECT to_char(min(used.day), 'YYYY-MM-DD') AS "period.from",
       to_char(max(used.day), 'YYYY-MM-DD') AS "period.to",
       sum(used.issued)::int8 AS issued, sum(used.refused)::int8 AS refused,
       json_agg(json_build_object('date', to_char(used.day, 'YYYY-MM-DD'),
                                  'issued', used.issued, 'refused', used.refused)
                ORDER BY used.day) AS series
  FROM used
HAVING count(*) > 0;
