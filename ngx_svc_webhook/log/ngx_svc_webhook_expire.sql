-- statement: webhook_expire
SELECT svc.webhook_attempt_expire();
