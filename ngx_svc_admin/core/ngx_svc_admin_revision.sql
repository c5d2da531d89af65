-- statement: admin_governance_lock (shared)
-- Who changes what a bundle has, or gives a role, locks this row first: those changes are
-- made one after the other.
SELECT revision
  FROM svc.governance
 WHERE tenant_id = :tenant
 FOR NO KEY UPDATE;
