-- statement: directory_ambiguous
-- More than one entry of the directory fits: somebody should look at its filter.
SELECT svc.directory_ambiguous()
 WHERE :tenant_or_null IS NOT NULL;
