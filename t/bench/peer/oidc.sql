-- The records of oidc-provider, as it stores and finds them.

CREATE TABLE oidc_record (
    model       text         NOT NULL,
    id          text         NOT NULL,
    payload     jsonb        NOT NULL,
    expires_at  timestamptz  NOT NULL,
    PRIMARY KEY (model, id)
);
