-- The records of oidc-provider, stored and found as it needs them.

CREATE TABLE oidc_record (
    model       text         NOT NULL,
    id          text         NOT NULL,
    payload     jsonb        NOT NULL,
    expires_at  timestamptz  NOT NULL,
    PRIMARY KEY (model, id)
);
