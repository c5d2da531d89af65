-- Codes by mail as a second factor.


-- They go to the user's address, as it is: there is no more than one that counts.

ALTER TABLE svc.factor
    DROP CONSTRAINT factor_type_check,
    ADD CONSTRAINT factor_type_check CHECK (type IN ('totp', 'passkey', 'email'));

CREATE UNIQUE INDEX factor_email_key ON svc.factor (tenant_id, user_id)
    WHERE type = 'email' AND confirmed_at IS NOT NULL;


-- The code that was mailed for a challenge, whose attempts it shares.

ALTER TABLE svc.challenge ADD COLUMN mail_id uuid;


-- A session that waits for its first factor, and has shown the user's address.

ALTER TABLE svc.session ADD COLUMN proved_at timestamptz;
