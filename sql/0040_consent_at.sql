-- serves: 1
--
-- What a user allows an application is scopes at a resource, and no more than the page has
-- shown: "<key> <scope>" for each scope at each resource, and "<key> " for the resource
-- itself.  Neither has a space; the key of the issuer is ''.

ALTER TABLE svc.oauth_consent
    ADD COLUMN allowed  text[] COLLATE "C" NOT NULL DEFAULT '{}';

GRANT UPDATE (allowed) ON svc.oauth_consent TO svc_app;


-- What there is was shown as it is stored where it is of one page, or of none but the
-- issuer.  Of the others it is not known which scopes were shown with which resources:
-- those users are asked once more.

UPDATE svc.oauth_consent consent
   SET allowed = ARRAY(
           SELECT resource || ' ' || scope COLLATE "C"
             FROM unnest(CASE WHEN consent.resources = '{}' THEN '{""}'
                              ELSE consent.resources END) resource,
                  unnest('{""}' || consent.scopes) scope
            ORDER BY 1)
 WHERE consent.resources = '{}' OR consent.updated_at = consent.created_at;

DO $$
DECLARE
    mixed  bigint;
BEGIN
    SELECT count(*) INTO mixed FROM svc.oauth_consent WHERE allowed = '{}';

    IF mixed > 0 THEN
        RAISE WARNING '% consents are of several resources: their users are asked again',
                     mixed;
    END IF;
END
$$;


-- A grant is for what was shown, whatever ceiling an agent gets later: of those there are,
-- who has one audience alone was asked for that.

UPDATE svc.oauth_grant granted
   SET resources = client.allowed_audiences, resource_keys = client.allowed_audience_keys
  FROM svc.application client
 WHERE client.tenant_id = granted.tenant_id AND client.client_id = granted.client_id
   AND cardinality(client.allowed_audience_keys) = 1 AND granted.resource_keys = '{}'
   AND granted.revoked_at IS NULL AND granted.expires_at > now();


-- Whether the user of a grant has consented to it: an application that did not ask may be
-- made to.  Of those there are, who asks now has asked then.  Modules of before do not say
-- it of theirs.

ALTER TABLE svc.oauth_grant
    ADD COLUMN consented  boolean NOT NULL DEFAULT true;
ALTER TABLE svc.oauth_grant
    ALTER COLUMN consented DROP DEFAULT;

UPDATE svc.oauth_grant granted SET consented = false
  FROM svc.application client
 WHERE client.tenant_id = granted.tenant_id AND client.client_id = granted.client_id
   AND NOT client.require_consent
   AND granted.revoked_at IS NULL AND granted.expires_at > now();

CREATE FUNCTION svc.oauth_grant_consented() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.consented := coalesce((
        SELECT client.require_consent FROM svc.application client
         WHERE client.tenant_id = NEW.tenant_id AND client.client_id = NEW.client_id), true);
    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION svc.oauth_grant_consented() FROM PUBLIC;

CREATE TRIGGER oauth_grant_consented BEFORE INSERT ON svc.oauth_grant
    FOR EACH ROW WHEN (NEW.consented IS NULL)
    EXECUTE FUNCTION svc.oauth_grant_consented();


-- Whether a user lets a client that got a token by exchange have it still: he may use the
-- client, if that is for groups, and has consented, if it has to ask.  resource: the key of
-- the token's; NULL: another client has it now, and what counts is that he lets this
-- one have the scopes somewhere.

CREATE FUNCTION svc.oauth_user_lets(who uuid, client text, by_group boolean,
                                    by_consent boolean, resource text, scopes text[])
RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    tenant   uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    allowed  text[];
BEGIN
    IF by_group AND NOT EXISTS (
           SELECT FROM svc.group_member member
             JOIN svc.group_app app
               ON app.tenant_id = member.tenant_id AND app.group_id = member.group_id
            WHERE member.tenant_id = tenant AND member.user_id = who
              AND app.client_id = client) THEN
        RETURN false;
    END IF;

    IF NOT by_consent THEN
        RETURN true;
    END IF;

    SELECT consent.allowed INTO allowed FROM svc.oauth_consent consent
     WHERE consent.tenant_id = tenant AND consent.user_id = who
       AND consent.client_id = client;

    IF resource IS NOT NULL THEN
        RETURN coalesce(ARRAY(SELECT resource || ' ' || scope FROM unnest(scopes) scope)
                        <@ allowed, false);
    END IF;

    RETURN coalesce(scopes <@ ARRAY(SELECT split_part(pair, ' ', 2)
                                      FROM unnest(allowed) pair), false);
END
$$;

REVOKE ALL ON FUNCTION svc.oauth_user_lets(uuid, text, boolean, boolean, text, text[])
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.oauth_user_lets(uuid, text, boolean, boolean, text, text[])
    TO svc_app;
