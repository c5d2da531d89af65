-- statement: stepup_unknown
-- What could not be judged gives its attempt back: the challenge had been tried before.
--
-- parameters
--   session        bytea ngx_svc_param_session()
UPDATE svc.challenge challenge
   SET attempts = challenge.attempts - 1
 WHERE challenge.tenant_id = :tenant
   AND challenge.root_id = (SELECT session.root_id
                              FROM svc.session session
                             WHERE session.tenant_id = :tenant
                               AND session.token_hash BETWEEN :session AND :session
                             ORDER BY session.token_hash
                             LIMIT 1)
   AND challenge.attempts > 0;
