-- statement: signup_allowed
-- It is asked anew whether people may sign up from there: the code may be older than the
-- answer.
--
-- parameters
--   client_ip      text ngx_svc_login_param(client.ip)
-- columns
--   :login_denied
--   allowed        bool
SELECT :login_governance, NULL::bigint AS locked,
       tenant.branding -> 'allowSelfSignup' IS NOT DISTINCT FROM 'true' AS allowed
  FROM svc.governance governance
  JOIN svc.tenant tenant ON tenant.id = governance.tenant_id
 WHERE governance.tenant_id = :tenant;
