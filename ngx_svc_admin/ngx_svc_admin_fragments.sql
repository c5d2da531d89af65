-- fragment: token_maker
-- Of a token whose it is: erased, it is of somebody without a name.
maker AS "maker.id",
(SELECT account.user_name
   FROM svc.user_account account
  WHERE account.tenant_id = :tenant AND account.id BETWEEN maker AND maker
  ORDER BY account.id
  LIMIT 1) AS "maker.email",
CASE
    WHEN maker IS NOT NULL
         THEN coalesce((SELECT account.status = 'active'
                          FROM svc.user_account account
                         WHERE account.tenant_id = :tenant AND account.id BETWEEN maker AND maker
                         ORDER BY account.id
                         LIMIT 1),
                       false)
END AS "maker.active",
owner AS "actsOnOwners"


-- fragment: caller_permissions
-- What the caller may do, and so may give, in statements of a route with
-- NGX_SVC_ROUTE_CALLER. Behind a refused credential it is NULL: not even nothing may be
-- given.
nullif(current_setting('svc.permissions', true), '')::text[]
