-- statement: mail_failed
--
-- parameters
--   address        text
--   mail_id        text
--   kind           text
--   reason         text
--   status         int4
--   attempts       int4
INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
SELECT 'failure', 'mail.failed', 'mail', :mail_id, :address,
       jsonb_build_object('kind', :kind::text, 'reason', :reason::text,
                          'status', nullif(:status::int4, 0), 'attempts', :attempts::int4);
