-- statement: scim_list
-- The limit is a SELECT: a parameter itself is more than the users whom a tenant has to a
-- planner without statistics, and all of them would be read and sorted.
--
-- parameters
--   page_limit     int4
-- columns
--   :scim_user
SELECT :scim_user
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant
 ORDER BY account.created_at, account.id
 LIMIT (SELECT :page_limit::int4);


-- statement: scim_by_user_name
--
-- parameters
--   user_name      text
-- columns
--   :scim_user
SELECT :scim_user
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.user_name_key = svc.address_key(:user_name::text);


-- statement: scim_by_external_id
--
-- parameters
--   external_id    text
-- columns
--   :scim_user
SELECT :scim_user
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.external_id = :external_id::text;
