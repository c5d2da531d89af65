-- fragment: agent_grant_types
-- What an agent may be granted, if nobody says less.
'{client_credentials,urn:ietf:params:oauth:grant-type:token-exchange}'::text[]


-- fragment: application_wrong
-- needs: wanted
-- Rows of a CASE: what is wrong with an application that is to be stored, whether it is
-- new or changed.  types_of_grants and types_of_method are the types that the body would do
-- for.  What the profile does not let be is of the FAPI 2.0 Security Profile: there are
-- confidential clients only (5.3.2.1), no response is sent in the clear (5.3.2.2), and
-- nothing is signed by RS256 (5.4.1).
WHEN NOT wanted.type = ANY (:types_of_grants::text::text[]) THEN 'grants'
WHEN NOT wanted.type = ANY (:types_of_method::text::text[]) THEN 'method'
WHEN wanted.security_profile IS NOT NULL AND wanted.type NOT IN ('web', 'm2m', 'agent')
     THEN 'profile_type'
WHEN wanted.security_profile IS NOT NULL AND wanted.auth_method <> 'private_key_jwt'
     THEN 'profile_method'
WHEN wanted.security_profile IS NOT NULL AND NOT wanted.require_par THEN 'profile_par'
WHEN wanted.security_profile IS NOT NULL AND NOT wanted.require_dpop THEN 'profile_dpop'
WHEN wanted.security_profile IS NOT NULL AND NOT wanted.require_pkce THEN 'profile_pkce'
WHEN wanted.security_profile IS NOT NULL AND wanted.signing_alg <> 'ES256' THEN 'profile_alg'
WHEN wanted.security_profile IS NOT NULL
     AND coalesce(wanted.jwks @@ '$.keys[*].alg == "RS256"', false) THEN 'profile_keys'
WHEN wanted.security_profile IS NOT NULL
     AND EXISTS (SELECT
                   FROM unnest(wanted.redirect_uris) uri
                  WHERE uri NOT LIKE 'https:%') THEN 'profile_redirect'
WHEN (wanted.auth_method = 'private_key_jwt') <> (wanted.jwks IS NOT NULL) THEN 'keys'
WHEN wanted.type = 'm2m' AND wanted.require_consent THEN 'consent'
WHEN wanted.type <> 'web' AND NOT wanted.require_pkce THEN 'pkce'
WHEN EXISTS (SELECT
               FROM svc.oauth_tenant settings
              WHERE settings.tenant_id = :tenant
                AND (wanted.id_token_ttl > settings.max_id_token_ttl
                     OR wanted.refresh_idle_days > settings.max_refresh_idle_days
                     OR wanted.grant_days > settings.max_grant_days)) THEN 'above'
WHEN 'authorization_code' = ANY (wanted.grant_types)
     AND cardinality(wanted.redirect_uris) = 0 THEN 'redirect'
WHEN NOT 'authorization_code' = ANY (wanted.grant_types)
     AND cardinality(wanted.redirect_uris) > 0 THEN 'no_redirect'


-- statement: admin_applications_lock (shared)
-- Who makes or changes an application waits here: each sees what the other has stored.
SELECT pg_advisory_xact_lock(hashtext('svc.application'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_application_lock (shared)
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
SELECT
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id
 FOR NO KEY UPDATE;


-- statement: admin_group_apps_turn (shared)
-- Who changes which groups applications have takes turns, and so does who deletes one.
SELECT pg_advisory_xact_lock(hashtext('svc.group_app'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;
