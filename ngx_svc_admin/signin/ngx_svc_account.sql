-- fragment: account_stored
-- The first columns of a statement that stores a new account.
-- columns
--   _user          uuid
--   _email         text
--   _at            timestamptz
--   _subscribers   text         ids of webhooks


-- statement: account_proved (shared)
-- Whoever has just shown the address need not do so again to add a factor.
--
-- parameters
--   new_session    bytea ngx_svc_param_new_session()
UPDATE svc.session
   SET proved_at = now()
 WHERE tenant_id = :tenant
   AND (user_id, id) = (SELECT session.user_id, session.id
                          FROM (SELECT session.user_id, session.id
                                  FROM svc.session session
                                 WHERE session.tenant_id = :tenant
                                   AND session.token_hash BETWEEN :new_session AND :new_session
                                 ORDER BY session.token_hash
                                 LIMIT 1) session);
