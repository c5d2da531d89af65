-- statement: passwordless_option
SELECT tenant.branding -> 'allowPasswordless' IS NOT DISTINCT FROM 'true' AS offered
  FROM svc.tenant tenant
 WHERE tenant.id = :tenant;
