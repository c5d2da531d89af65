-- serves: 1
--
-- Who has allowed an application what, the newest first.  The index that finds an
-- application's consents when it goes has them in that order from here on: neither column is
-- ever changed.


CREATE INDEX oauth_consent_given_idx
    ON svc.oauth_consent (tenant_id, client_id, created_at, user_id);

DROP INDEX svc.oauth_consent_client_idx;


-- What an application was refused, by days: most of the journal was granted.

CREATE INDEX delegation_refused_idx ON svc.delegation (tenant_id, client_id, created_at)
    WHERE outcome = 'refused';
