-- statement: admin_users_list
-- svc.user_page() answers with one row: how many there are, and ids.
--
-- when: ngx_svc_admin_users_plain
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   status         text ngx_svc_param_query_word("status", ngx_svc_admin_user_statuses)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT page.total AS _total,
       account.id, account.user_name AS email, account.email_verified AS "emailVerified",
       account.display_name AS "displayName", account.first_name AS "firstName",
       account.last_name AS "lastName", account.title, account.department, account.locale,
       account.external_id AS "externalId", account.status, account.role,
       coalesce(account.locked_until > CURRENT_TIMESTAMP, false) AS locked,
       account.mfa_enrolled AS "mfaEnrolled", account.source,
       account.last_login_at AS "lastLoginAt", account.created_at AS "createdAt",
       account.updated_at AS "updatedAt"
  FROM svc.user_page(:q, :status, :page_limit::int4, :page_offset::int4) page
  LEFT JOIN unnest(page.ids) WITH ORDINALITY listed (id, place) ON true
  LEFT JOIN svc.user_account account ON account.tenant_id = :tenant AND account.id = listed.id
 ORDER BY listed.place;


-- statement: admin_users_find
-- svc.user_find() answers as svc.user_page() does. It has bounds of its own.
--
-- when: ngx_svc_admin_users_filtered
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   id             text ngx_svc_param_data(ngx_svc_admin_users_t, id)
--   status         text ngx_svc_param_query_word("status", ngx_svc_admin_user_statuses)
--   role           text ngx_svc_param_data(ngx_svc_admin_users_t, role)
--   locked         text ngx_svc_param_data(ngx_svc_admin_users_t, locked)
--   factor         text ngx_svc_param_data(ngx_svc_admin_users_t, factor)
--   group          text ngx_svc_param_data(ngx_svc_admin_users_t, group)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT page.total AS _total,
       account.id, account.user_name AS email, account.email_verified AS "emailVerified",
       account.display_name AS "displayName", account.first_name AS "firstName",
       account.last_name AS "lastName", account.title, account.department, account.locale,
       account.external_id AS "externalId", account.status, account.role,
       coalesce(account.locked_until > CURRENT_TIMESTAMP, false) AS locked,
       account.mfa_enrolled AS "mfaEnrolled", account.source,
       account.last_login_at AS "lastLoginAt", account.created_at AS "createdAt",
       account.updated_at AS "updatedAt"
  FROM svc.user_find(:q, :id::text::uuid, :status, :role, :locked::text::bool,
                     :factor::text::bool, :group::text::uuid, :page_limit::int4,
                     :page_offset::int4) page
  LEFT JOIN unnest(page.ids) WITH ORDINALITY listed (id, place) ON true
  LEFT JOIN svc.user_account account ON account.tenant_id = :tenant AND account.id = listed.id
 ORDER BY listed.place;


-- statement: admin_users_get (shared)
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
SELECT account.id, account.user_name AS email, account.email_verified AS "emailVerified",
       account.display_name AS "displayName", account.first_name AS "firstName",
       account.last_name AS "lastName", account.title, account.department, account.locale,
       account.external_id AS "externalId", account.status, account.role,
       coalesce(account.locked_until > CURRENT_TIMESTAMP, false) AS locked,
       account.mfa_enrolled AS "mfaEnrolled", account.source,
       account.last_login_at AS "lastLoginAt", account.created_at AS "createdAt",
       account.updated_at AS "updatedAt",
       (extract(epoch from account.updated_at) * 1000)::int8 AS _edition
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id;
