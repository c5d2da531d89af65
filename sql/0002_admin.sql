-- What the admin API's tenant and tokens need.

ALTER TABLE svc.tenant ADD COLUMN branding jsonb NOT NULL DEFAULT '{}';


-- Who made a token.  Of the tokens that an operator made nobody is known.

ALTER TABLE svc.credential
    ADD COLUMN created_by_type  text,
    ADD COLUMN created_by_id    text,
    ADD COLUMN created_by_name  text;

CREATE INDEX credential_created_idx
    ON svc.credential (tenant_id, kind, created_at DESC, id DESC);

GRANT INSERT ON svc.credential TO svc_app;
GRANT UPDATE (revoked_at) ON svc.credential TO svc_app;
