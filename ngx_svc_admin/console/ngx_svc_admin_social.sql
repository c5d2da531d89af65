-- statement: admin_social_list
-- What an issuer publishes is fetched when it is named, and again from time to time; GitHub
-- publishes nothing of the kind.
--
-- parameters
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
--   base_url       text ngx_svc_param_base_url()
SELECT connection.provider, connection.client_id AS "clientId",
       connection.client_secret IS NOT NULL AS "secretSet", connection.team_id AS "teamId",
       connection.key_id AS "keyId", connection.enabled, connection.created_at AS "createdAt",
       connection.updated_at AS "updatedAt", connection.provider AS connection,
       connection.issuer, connection.directory AS "tenantId",
       array_to_json(connection.allowed_tenants) AS "allowedTenants",
       connection.trust_email AS "trustEmail",
       connection.attribute_mapping AS "attributeMapping",
       CASE
           WHEN connection.provider = 'github' THEN 'ready'
           WHEN meta.failed_at IS NOT NULL THEN 'failed'
           WHEN meta.document IS NOT NULL THEN 'ready'
           ELSE 'pending'
       END AS status,
       CASE WHEN meta.failed_at IS NOT NULL THEN meta.error END AS "statusError",
       :base_url || '/v1/tenants/' || tenant.slug || '/federation/' || connection.provider
           || '/callback' AS "redirectUri",
       connection.jit_provisioning AS "jitProvisioning", :connection_shown
  FROM svc.social connection
  JOIN svc.tenant tenant ON tenant.id = :tenant
  LEFT JOIN svc.federation_meta meta
       ON meta.tenant_id = :tenant AND meta.connection_id = connection.connection_id
 WHERE connection.tenant_id = :tenant
 ORDER BY connection.created_at DESC, connection.provider DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_social_get
-- What of a connection is told by what its issuer publishes changes without its version.
--
-- missing: NGX_SVC_ADMIN_NO_SOCIAL
-- parameters
--   provider       text ngx_svc_param_call(ngx_svc_admin_social_bind)
--   base_url       text ngx_svc_param_base_url()
SELECT connection.provider, connection.client_id AS "clientId",
       connection.client_secret IS NOT NULL AS "secretSet", connection.team_id AS "teamId",
       connection.key_id AS "keyId", connection.enabled, connection.created_at AS "createdAt",
       connection.updated_at AS "updatedAt", connection.provider AS connection,
       connection.issuer, connection.directory AS "tenantId",
       array_to_json(connection.allowed_tenants) AS "allowedTenants",
       connection.trust_email AS "trustEmail",
       connection.attribute_mapping AS "attributeMapping",
       CASE
           WHEN connection.provider = 'github' THEN 'ready'
           WHEN meta.failed_at IS NOT NULL THEN 'failed'
           WHEN meta.document IS NOT NULL THEN 'ready'
           ELSE 'pending'
       END AS status,
       CASE WHEN meta.failed_at IS NOT NULL THEN meta.error END AS "statusError",
       :base_url || '/v1/tenants/' || tenant.slug || '/federation/' || connection.provider
           || '/callback' AS "redirectUri",
       connection.jit_provisioning AS "jitProvisioning", :connection_shown,
       (extract(epoch from connection.updated_at) * 1000)::int8 AS _edition
  FROM svc.social connection
  JOIN svc.tenant tenant ON tenant.id = :tenant
  LEFT JOIN svc.federation_meta meta
       ON meta.tenant_id = :tenant AND meta.connection_id = connection.connection_id
 WHERE connection.tenant_id = :tenant AND connection.provider = :provider;


-- statement: admin_social_total
SELECT count(*) FROM svc.social social WHERE social.tenant_id = :tenant;


-- statement: admin_social_judge
-- Whether a connection can be added, or changed to what the body says: what that leaves out
-- stays. A secret stays with the issuer and the client that it was given for: who changes those
-- could have it sent elsewhere.
--
-- missing: NGX_SVC_ADMIN_NO_SOCIAL
-- parameters
--   provider       text  ngx_svc_param_call(ngx_svc_admin_social_bind)
--   creates        bool  ngx_svc_param_call(ngx_svc_admin_social_bind_creates)
--   said           text  ngx_svc_param_data(ngx_svc_connection_said_t, said)
--   secret_given   bool  ngx_svc_param_given(ngx_svc_admin_social_t, client_secret)
--   oidc_max       int4  ngx_svc_param_constant(NGX_SVC_ADMIN_SOCIAL_OIDC)
--   if_match       text  ngx_svc_param_if_match()
-- verdicts
--   NGX_SVC_CONNECTION_GROUPED
--   ngx_svc_verdict_precondition
--   anybody        invalid_value   "allowedTenants" is required while "tenantId" is "common".
--   secret         invalid_value   "clientSecret" is required when "issuer", "tenantId" or
--                                  "clientId" changes.
--   taken          conflict        There is a connection with this provider already: delete
--                                  it first.
--   full           limit_exceeded  The tenant has %(NGX_SVC_ADMIN_SOCIAL_OIDC) connections by
--                                  OpenID Connect: delete one.
WITH old AS (
    SELECT kept.*
      FROM svc.social kept
     WHERE kept.tenant_id = :tenant AND kept.provider = :provider
     FOR UPDATE
), judged AS (
    SELECT CASE
               WHEN wanted.group_mapping
                    <> coalesce(CASE WHEN NOT :creates::bool THEN old.group_mapping END, '[]')
                    AND 'groups:manage' <> ALL (:caller_permissions) THEN 'grouped'
               WHEN NOT (:creates
                         OR :if_match::text IS NULL
                         OR (extract(epoch from old.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
               WHEN wanted.directory = 'common' AND wanted.allowed_tenants IS NULL THEN 'anybody'
               WHEN old.client_secret IS NOT NULL
                    AND NOT :secret_given::bool
                    AND (wanted.issuer, wanted.directory, wanted.client_id)
                        IS DISTINCT FROM (old.issuer, old.directory, old.client_id)
                    AND NOT :creates THEN 'secret'
               WHEN :creates AND old.provider IS NOT NULL THEN 'taken'
               WHEN :creates
                    AND starts_with(:provider, 'oidc')
                    AND (SELECT count(*)
                           FROM svc.social other
                          WHERE other.tenant_id = :tenant
                            AND starts_with(other.provider, 'oidc')) >= :oidc_max::int4 THEN 'full'
           END AS verdict
      FROM (VALUES (1)) always
      LEFT JOIN old ON true
      CROSS JOIN LATERAL jsonb_populate_record(NULL::svc.social,
           coalesce(to_jsonb(old), '{}') || :said::text::jsonb) wanted
     WHERE :creates OR old.provider IS NOT NULL
)
SELECT nullif(set_config('svc.verdict', coalesce(judged.verdict, ''), true), '') AS _verdict
  FROM judged;


-- statement: admin_social_put
-- Stores what is good of a connection that another request does not change meanwhile: those
-- wait. Another issuer is another connection, without the links of this one, unless an owner
-- says that the people are the same; and what it publishes is to be fetched. The row of that
-- follows the connection's id by its foreign key. Who changes one member of whose people they
-- are has not looked at the others: what is vouched for is what both it and who has said those
-- may do, unless the caller vouches for all.
--
-- parameters
--   provider       text  ngx_svc_param_call(ngx_svc_admin_social_bind)
--   creates        bool  ngx_svc_param_call(ngx_svc_admin_social_bind_creates)
--   said           text  ngx_svc_param_data(ngx_svc_connection_said_t, said)
--   names          text  ngx_svc_param_data(ngx_svc_connection_said_t, names)
--   keep_links     bool  ngx_svc_param_boolean(ngx_svc_connection_t, keep_links)
--   vouch          bool  ngx_svc_param_boolean(ngx_svc_connection_t, vouch)
--   new_id         uuid  ngx_svc_param_new_id()
--   client_secret  bytea ngx_svc_param_sealed(ngx_svc_admin_social_t, client_secret, "social")
--   secret_given   bool  ngx_svc_param_given(ngx_svc_admin_social_t, client_secret)
WITH old AS (
    SELECT kept.*
      FROM svc.social kept
     WHERE kept.tenant_id = :tenant AND kept.provider = :provider
     FOR UPDATE
), wanted AS (
    SELECT whole.*
      FROM (VALUES (1)) always
      LEFT JOIN old ON true
      CROSS JOIN LATERAL jsonb_populate_record(NULL::svc.social,
           coalesce(to_jsonb(old), '{}') || :said::text::jsonb
           || CASE
                  WHEN :creates::bool OR :secret_given::bool
                       THEN jsonb_build_object('client_secret', :client_secret::bytea,
                                               'client_secret_id', :new_id::uuid)
                  ELSE '{}'
              END) whole
     WHERE :creates OR old.provider IS NOT NULL
), decided AS (
    SELECT :tenant_or_null AS tenant,
           (wanted.issuer, wanted.directory) IS DISTINCT FROM (old.issuer, old.directory)
               AS elsewhere,
           (wanted.issuer, wanted.directory, wanted.client_id, wanted.allowed_tenants,
            wanted.trust_email, wanted.attribute_mapping -> 'email', wanted.domains,
            wanted.link_by_email, wanted.trust_mfa, wanted.mfa_contexts)
           IS NOT DISTINCT FROM
           (old.issuer, old.directory, old.client_id, old.allowed_tenants, old.trust_email,
            old.attribute_mapping -> 'email', old.domains, old.link_by_email, old.trust_mfa,
            old.mfa_contexts)
           AND (old.enabled OR NOT wanted.enabled) AS same_people,
           :creates OR :vouch::bool AS vouches,
           ARRAY(SELECT named.member
                   FROM json_each_text(:names::text::json)
                        WITH ORDINALITY named (column_name, member, place)
                  WHERE to_jsonb(wanted) ->> named.column_name
                        IS DISTINCT FROM to_jsonb(old) ->> named.column_name
                  ORDER BY named.place)
           || CASE WHEN :vouch AND NOT :creates THEN ARRAY['vouch'] ELSE '{}' END AS changed
      FROM wanted
      LEFT JOIN old ON true
), social AS (
    INSERT INTO svc.social AS social
        (tenant_id, provider, client_id, client_secret_id, client_secret, team_id, key_id, enabled,
         issuer, directory, allowed_tenants, trust_email, attribute_mapping, jit_provisioning,
         connection_id, domains, link_by_email, trust_mfa, mfa_contexts, show_on_page, label,
         group_mapping, vouched, vouched_owner, updated_at)
    SELECT decided.tenant, :provider, wanted.client_id, wanted.client_secret_id,
           wanted.client_secret, wanted.team_id, wanted.key_id, wanted.enabled, wanted.issuer,
           wanted.directory, wanted.allowed_tenants, wanted.trust_email, wanted.attribute_mapping,
           wanted.jit_provisioning,
           coalesce(CASE
                        WHEN :keep_links::bool OR NOT decided.elsewhere THEN old.connection_id
                    END, gen_random_uuid()),
           wanted.domains, wanted.link_by_email, wanted.trust_mfa, wanted.mfa_contexts,
           wanted.show_on_page, wanted.label, wanted.group_mapping,
           CASE
               WHEN decided.vouches THEN :caller_permissions
               WHEN decided.same_people THEN old.vouched
               ELSE ARRAY(SELECT unnest(old.vouched) INTERSECT SELECT unnest(:caller_permissions))
           END,
           CASE
               WHEN decided.vouches THEN :connection_by_owner
               WHEN decided.same_people THEN old.vouched_owner
               ELSE old.vouched_owner AND :connection_by_owner
           END,
           greatest(now(), old.updated_at + interval '1 millisecond')
      FROM wanted
      CROSS JOIN decided
      LEFT JOIN old ON true
     WHERE decided.tenant IS NOT NULL AND :connection_good AND decided.changed <> '{}'
    ON CONFLICT (tenant_id, provider) DO UPDATE
       SET (client_id, client_secret_id, client_secret, team_id, key_id, enabled, issuer, directory,
            allowed_tenants, trust_email, attribute_mapping, jit_provisioning, connection_id,
            domains, link_by_email, trust_mfa, mfa_contexts, show_on_page, label, group_mapping,
            vouched, vouched_owner, updated_at)
           = ROW (excluded.client_id, excluded.client_secret_id, excluded.client_secret,
                  excluded.team_id, excluded.key_id, excluded.enabled, excluded.issuer,
                  excluded.directory, excluded.allowed_tenants, excluded.trust_email,
                  excluded.attribute_mapping, excluded.jit_provisioning, excluded.connection_id,
                  excluded.domains, excluded.link_by_email, excluded.trust_mfa,
                  excluded.mfa_contexts, excluded.show_on_page, excluded.label,
                  excluded.group_mapping, excluded.vouched, excluded.vouched_owner,
                  excluded.updated_at)
    RETURNING social.*
), links AS (
    DELETE FROM svc.federated_identity identity
     USING old, social
     WHERE identity.tenant_id = :tenant
       AND identity.connection_id = old.connection_id
       AND old.connection_id <> social.connection_id
), forgotten AS (
    UPDATE svc.federation_meta meta
       SET document = NULL, jwks = NULL, fetched_at = NULL, due_at = now(), asked_at = NULL,
           failed_at = NULL, error = NULL
      FROM old, social, decided
     WHERE meta.tenant_id = :tenant
       AND meta.connection_id = old.connection_id
       AND decided.elsewhere
), due AS (
    INSERT INTO svc.federation_meta (tenant_id, connection_id)
    SELECT social.tenant_id, social.connection_id
      FROM social
     WHERE social.provider <> 'github'
       AND NOT EXISTS (SELECT
                         FROM svc.federation_meta meta
                        WHERE meta.tenant_id = :tenant
                          AND meta.connection_id = (SELECT old.connection_id FROM old))
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT CASE WHEN :creates THEN 'social.created' ELSE 'social.updated' END, 'social',
           social.provider, NULL,
           CASE
               WHEN :creates THEN jsonb_build_object('clientId', social.client_id,
                                                     'enabled', social.enabled)
               ELSE jsonb_build_object('changed', to_jsonb(decided.changed))
           END
      FROM social, decided
)
SELECT count(*)
  FROM social;


-- statement: admin_social_delete
--
-- missing: NGX_SVC_ADMIN_NO_SOCIAL
-- parameters
--   provider       text ngx_svc_param_call(ngx_svc_admin_social_bind)
WITH deleted AS (
    DELETE FROM svc.social social
     WHERE social.tenant_id = :tenant AND social.provider = :provider
    RETURNING social.provider, social.connection_id
), links AS (
    DELETE FROM svc.federated_identity identity
     USING deleted
     WHERE identity.tenant_id = :tenant AND identity.connection_id = deleted.connection_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'social.deleted', 'social', deleted.provider, NULL, '{}'
      FROM deleted
)
SELECT deleted.provider
  FROM deleted;
