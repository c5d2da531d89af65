-- SCIM the RFC's way: a user whom an identity provider has deleted is deactivated, and no
-- resource of SCIM any more, until the provider creates it again.  All else still has it.
--
-- Who is never deleted so is in no index of it: the default mode's writes stay what they
-- are, heap-only ones too.

ALTER TABLE svc.user_account ADD COLUMN scim_deleted boolean NOT NULL DEFAULT false;

CREATE INDEX user_account_scim_deleted_idx
    ON svc.user_account (tenant_id, created_at, id) WHERE scim_deleted;
