-- statement: email_challenge_lock (shared)
-- Mails to one address are counted one after the other, each with what is committed.
--
-- parameters
--   email_mac      bytea ngx_svc_login_param(mailed.mac)
SELECT pg_advisory_xact_lock(hashtext('svc.email_challenge'),
                             hashtext(encode(:email_mac::bytea, 'hex')))
 WHERE :tenant_or_null IS NOT NULL;
