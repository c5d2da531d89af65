-- statement: admin_tenant_members_list
-- svc.member_page() answers with one row: how many there are, and ids.
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   status         text ngx_svc_param_query_word("status", ngx_svc_admin_tenant_member_statuses)
--   role           text ngx_svc_param_query("role", NGX_SVC_ADMIN_ROLE_MAX)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT page.total AS _total, account.id AS "userId", account.user_name AS email,
       account.display_name AS "displayName", account.role, account.status,
       account.created_at AS "joinedAt"
  FROM svc.member_page(:q, :status, :role, :page_limit::int4, :page_offset::int4) page
  LEFT JOIN unnest(page.ids) WITH ORDINALITY listed (id, place) ON true
  LEFT JOIN svc.user_account account ON account.tenant_id = :tenant AND account.id = listed.id
 ORDER BY listed.place;


-- statement: admin_tenant_members_get
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
SELECT account.id AS "userId", account.user_name AS email, account.display_name AS "displayName",
       account.role, account.status, account.created_at AS "joinedAt",
       (extract(epoch from account.updated_at) * 1000)::int8 AS _edition
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id;


-- statement: admin_tenant_members_put
-- Who may act on the user is asked first, and then who may give the role: who makes an owner
-- may act on owners.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   role           text ngx_svc_param_text(ngx_svc_admin_tenant_member_t, role)
--   if_match       text ngx_svc_param_if_match()
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
--   ngx_svc_verdict_precondition
--   NGX_SVC_ADMIN_ROLE_VERDICTS
--   NGX_SVC_ADMIN_LAST_VERDICT
WITH :owners, decided AS (
    SELECT CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
               WHEN NOT (:role IN ('owner', 'admin', 'member')
                         OR EXISTS (SELECT
                                      FROM svc.role role
                                     WHERE role.tenant_id = :tenant AND role.key = :role))
                   THEN 'unknown ' || :role
               WHEN (SELECT :role_beyond FROM (SELECT :role::text AS role) old) THEN 'lacks'
               WHEN NOT svc.token_acts(NULL, :role) THEN 'token'
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from old.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
               WHEN :role <> 'owner'
                    AND (old.role = 'owner'
                         AND NOT EXISTS (SELECT
                                           FROM owners
                                          WHERE owners.id <> old.id AND owners.status = 'active'))
                   THEN 'last'
           END AS verdict
      FROM old
), changed AS (
    UPDATE svc.user_account account
       SET role = :role, updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
      FROM decided, old
     WHERE account.tenant_id = :tenant
       AND account.id = :user_id
       AND decided.verdict IS NULL
       AND old.role <> :role
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'member.updated', 'user', changed.id::text, NULL,
           jsonb_build_object('role', :role::text, 'previousRole', old.role)
      FROM changed, old
)
SELECT decided.verdict AS _verdict
  FROM decided;


-- statement: admin_tenant_members_remove
-- The account stays, with the role that grants nothing. All that it began before is over.
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
-- verdicts
--   NGX_SVC_ADMIN_REFUSALS
--   NGX_SVC_ADMIN_LAST_VERDICT
WITH :owners, decided AS (
    SELECT CASE
               WHEN :role_beyond THEN 'beyond'
               WHEN NOT svc.token_acts(old.id, old.role) THEN 'token'
               WHEN old.role = 'owner'
                    AND NOT EXISTS (SELECT
                                      FROM owners
                                     WHERE owners.id <> old.id AND owners.status = 'active')
                   THEN 'last'
           END AS verdict
      FROM old
), removed AS (
    UPDATE svc.user_account account
       SET role = 'member', valid_after = clock_timestamp(),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
      FROM decided, old
     WHERE account.tenant_id = :tenant
       AND account.id = :user_id
       AND decided.verdict IS NULL
       AND old.role <> 'member'
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'member.removed', 'user', removed.id::text, NULL,
           jsonb_build_object('previousRole', old.role)
      FROM removed, old
)
SELECT decided.verdict AS _verdict
  FROM decided;
