-- statement: federation_test_asked
-- Whether there is such a connection: a test of one that there is not is not counted.
--
-- missing: NGX_SVC_FEDERATION_NO_CONNECTION
-- parameters
--   key            text  ngx_svc_federation_param(key)
SELECT social.provider
  FROM svc.social social
 WHERE social.tenant_id = :tenant AND social.provider = :key;


-- statement: federation_test_found
-- What a test tells beside the rules: the settings that they look at, whom they have found, and
-- the groups that the mapping has for what the proof names. As in federation_groups_lock nobody
-- joins them unless the connection vouches for "groups:manage", now and when the link was made.
--
-- parameters
--   flow_id        uuid  ngx_svc_federation_param(id)
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   domain         text  ngx_svc_federation_param(proof.domain)
--   groups         text  ngx_svc_federation_param(proof.groups)
-- columns
--   enabled        bool
--   link_by_email  text
--   jit            bool         new people get an account
--   limited        bool         it has domains
--   listed         bool         the address's is one of them
--   owned          bool
--   user_name      text
--   role           text
--   caller         bool         who is found has begun the test
--   manages        bool
--   groups         text[]
SELECT connection.enabled, connection.link_by_email, connection.jit_provisioning AS jit,
       connection.domains IS NOT NULL AS limited,
       coalesce(:domain::text = ANY (connection.domains), false) AS listed, connection.owned,
       account.user_name, account.role,
       coalesce(account.id = (SELECT flow.user_id
                                FROM svc.federation_flow flow
                               WHERE flow.tenant_id = :tenant AND flow.id = :flow_id),
                false) AS caller,
       'groups:manage' = ANY (connection.vouched)
       AND NOT EXISTS (SELECT
                         FROM svc.federated_identity identity
                        WHERE identity.tenant_id = :tenant
                          AND identity.connection_id = :connection_id
                          AND identity.subject_hash = :subject_hash
                          AND 'groups:manage' <> ALL (identity.vouched)) AS manages,
       ARRAY(SELECT user_group.name
               FROM svc.social social
               CROSS JOIN LATERAL jsonb_to_recordset(social.group_mapping)
                          AS mapping (external text, "groupId" uuid)
               CROSS JOIN LATERAL (
                    SELECT user_group.name
                      FROM svc.user_group user_group
                     WHERE user_group.tenant_id = :tenant
                       AND user_group.id BETWEEN mapping."groupId" AND mapping."groupId"
                     ORDER BY user_group.id
                     LIMIT 1) user_group
              WHERE social.tenant_id = :tenant
                AND social.connection_id = :connection_id
                AND :groups::text::jsonb ? mapping.external
              ORDER BY user_group.name) AS groups
  FROM svc.connection_of(:tenant, :connection_id::uuid, :domain) connection
  LEFT JOIN LATERAL (
       SELECT account.*
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN nullif(current_setting('svc.found', true), '')::uuid
                             AND nullif(current_setting('svc.found', true), '')::uuid
        ORDER BY account.id
        LIMIT 1) account ON true;


-- statement: federation_tested
-- The test is over, once, and its result is in place of the verifier. It has a subject only if
-- who was found has begun it, and would come in: that lives on for a day, for those who then
-- have people of a domain come in by the connection alone.
--
-- parameters
--   flow_id        uuid  ngx_svc_federation_param(id)
--   result         bytea ngx_svc_federation_param(kept)
--   subject_hash   bytea ngx_svc_param_call(ngx_svc_federation_bind_tested)
--   key            text  ngx_svc_federation_param(connection.key)
--   outcome        text  ngx_svc_federation_param(outcome)
WITH tested AS (
    UPDATE svc.federation_flow flow
       SET sealed = :result, subject_hash = :subject_hash::bytea, tested_at = now(),
           expires_at = now() + CASE
                                    WHEN :subject_hash IS NULL THEN interval '10 minutes'
                                    ELSE interval '1 day'
                                END
     WHERE flow.tenant_id = :tenant
       AND flow.id = :flow_id
       AND flow.purpose = 'test'
       AND flow.used_at IS NOT NULL
       AND flow.tested_at IS NULL
    RETURNING flow.id, flow.user_id
), event AS (
    INSERT INTO svc.audit_event
        (actor_type, actor_id, action, target_type, target_id, target_name, details)
    SELECT 'user', tested.user_id::text, 'federation.tested', 'connection', :key::text, NULL,
           jsonb_build_object('connection', :key, 'outcome', :outcome::text)
      FROM tested
)
SELECT tested.id
  FROM tested;


-- statement: federation_test_ended
-- A test that ends before it has begun, as there are no metadata: its row has the result alone.
--
-- parameters
--   new_id         uuid  ngx_svc_param_new_id()
--   key            text  ngx_svc_federation_param(connection.key)
--   state_hash     bytea ngx_svc_federation_param(state_hash)
--   cookie_hash    bytea ngx_svc_federation_param(cookie_hash)
--   host           text  ngx_svc_login_param(asked.host)
--   session        bytea ngx_svc_federation_param_session()
--   result         bytea ngx_svc_federation_param(kept)
--   outcome        text  ngx_svc_federation_param(outcome)
WITH ended AS (
    INSERT INTO svc.federation_flow
        (tenant_id, id, token_hash, connection_id, connection_version, purpose, binding_hash,
         sealed, host, user_id, root_id, expires_at, used_at, tested_at)
    SELECT social.tenant_id, :new_id::uuid, :state_hash, social.connection_id,
           social.updated_at, 'test', :cookie_hash, :result, :host, caller.user_id,
           caller.root_id, now() + interval '10 minutes', now(), now()
      FROM svc.social social
      CROSS JOIN (SELECT session.user_id, session.root_id
                    FROM svc.session session
                   WHERE session.tenant_id = :tenant
                     AND session.token_hash BETWEEN :session AND :session
                   ORDER BY session.token_hash
                   LIMIT 1) caller
     WHERE social.tenant_id = :tenant AND social.provider = :key
    RETURNING id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'federation.tested', 'connection', :key::text, NULL,
           jsonb_build_object('connection', :key, 'outcome', :outcome::text)
      FROM ended
)
SELECT ended.id
  FROM ended;


-- statement: federation_test_result
-- Whoever administers the tenant sees what a test has found, for ten minutes.
--
-- missing: NGX_SVC_FEDERATION_NO_TEST
-- parameters
--   id             uuid  ngx_svc_param_path_id(0, NGX_SVC_FEDERATION_NO_TEST)
-- columns
--   id             uuid
--   connection     text
--   tested_at      timestamptz
--   sealed         bytea
SELECT flow.id, svc.connection_key(flow.tenant_id, flow.connection_id) AS connection,
       flow.tested_at, flow.sealed
  FROM svc.federation_flow flow
 WHERE flow.tenant_id = :tenant
   AND flow.id = :id::uuid
   AND flow.purpose = 'test'
   AND flow.tested_at > now() - interval '10 minutes';
