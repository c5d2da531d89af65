-- statement: federation_match (shared)
-- What decides who somebody is, each as a column of its own, and all of it as one text. When
-- that is presented it is compared: unless it is the same there is no tenant for the rest.
-- Whoever is linked is found by the link; else whoever has the address, if it is proved. A
-- domain is owned that this tenant has verified and has by now. Nobody is covered who may do
-- more than whoever has configured the connection, by now and when the link was made; and nobody
-- comes in whose address's domain must come in by another one. A directory has no flow: it
-- proves addresses of the domains that are owned, and as there is a password to guess, a lock
-- of the account, or of the address that is typed, refuses it: for how long is told of the latter
-- alone, as the account may be another one than that of the address. Of a session's flow the user
-- is known before: "own" says whether that session goes on, and "elsewhere" whether the identity
-- is another user's. Where an address may not be linked because its domain is not owned, a code
-- by mail may prove whose it is, of people who may do nothing special and have no second factor,
-- which a mailbox must not pass ("mails"); a code can be guessed, so that a lock refuses it, too.
-- Who has signed out at the provider since it was asked is as one of whom something has changed.
-- A test looks at all this as a sign-in does, also while the connection is off, and there is
-- never a tenant for what it would write.
--
-- parameters
--   flow_id        uuid  ngx_svc_federation_param(id)
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   version        text  ngx_svc_federation_param(version)
--   email_mac      bytea ngx_svc_login_param(asked.mac)
--   typed          uuid  ngx_svc_federation_param(typed)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   email          text  ngx_svc_federation_param(proof.email)
--   domain         text  ngx_svc_federation_param(proof.domain)
--   verified       bool  ngx_svc_param_call(ngx_svc_federation_bind_verified)
--   acr            text  ngx_svc_federation_param(proof.acr)
--   expected       text  ngx_svc_federation_param(facts)
--   usual_contexts text  ngx_svc_param_call(ngx_svc_federation_bind_contexts)
--   session        bytea ngx_svc_federation_param_session()
--   sid            bytea ngx_svc_federation_param(proof.sid)
--   mailed         bool  ngx_svc_param_call(ngx_svc_federation_bind_mailed)
-- columns
--   :login_checked
--   facts          text
--   same           bool
--   own            bool
--   elsewhere      bool
--   linked         bool
--   other          bool
--   held           bool
--   active         bool
--   covered        bool
--   forced         bool
--   proved         bool
--   verified       bool
--   takes          bool
--   mails          bool
--   makes          bool
--   strong         bool
WITH proof AS MATERIALIZED (
    SELECT connection.*, flow.user_id, flow.root_id, coalesce(flow.tests, false) AS tests,
           :verified::bool AND (connection.owned OR NOT connection.directory) AS proved,
           (connection.enabled OR coalesce(flow.tests, false))
           AND connection.updated_at
               = coalesce(:version::text::timestamptz, flow.connection_version) AS same,
           tenant.sign_in_forced, connection.jit_provisioning
           AND (connection.owned
                OR connection.domains IS NULL
                   AND tenant.branding -> 'allowSelfSignup' IS NOT DISTINCT FROM 'true') AS makes,
           coalesce(:acr::text = ANY (coalesce(connection.mfa_contexts,
                                               :usual_contexts::text::text[])), false) AS strong
      FROM svc.connection_of(:tenant, :connection_id::uuid, :domain::text) connection
      JOIN svc.tenant tenant ON tenant.id = :tenant
      LEFT JOIN LATERAL (
           SELECT flow.connection_version, flow.root_id, flow.purpose = 'test' AS tests,
                  CASE WHEN flow.purpose <> 'test' THEN flow.user_id END AS user_id
             FROM svc.federation_flow flow
            WHERE flow.tenant_id = :tenant AND flow.id = :flow_id
              AND flow.connection_id = connection.connection_id
            LIMIT 1) flow ON true
), found AS MATERIALIZED (
    SELECT coalesce(proof.user_id, linked.user_id,
                    (SELECT holder.id
                       FROM svc.user_account holder
                      WHERE holder.tenant_id = :tenant
                        AND holder.user_name_key BETWEEN (SELECT svc.address_key(:email::text))
                                                     AND (SELECT svc.address_key(:email::text))
                        AND proof.proved
                      ORDER BY holder.user_name_key
                      LIMIT 1)) AS id,
           coalesce(linked.user_id = coalesce(proof.user_id, linked.user_id), false) AS linked,
           coalesce(linked.user_id <> proof.user_id, false) AS elsewhere,
           proof.vouched_owner AND coalesce(linked.vouched_owner, true) AS vouched_owner,
           CASE
               WHEN linked.user_id IS NULL THEN proof.vouched
               ELSE ARRAY(SELECT unnest(proof.vouched) INTERSECT SELECT unnest(linked.vouched))
           END AS vouched
      FROM proof
      LEFT JOIN LATERAL (
           SELECT identity.user_id, identity.vouched, identity.vouched_owner
             FROM svc.federated_identity identity
            WHERE identity.tenant_id = :tenant
              AND identity.connection_id = proof.connection_id
              AND identity.subject_hash BETWEEN :subject_hash AND :subject_hash
            ORDER BY identity.subject_hash
            LIMIT 1) linked ON true
), judged AS MATERIALIZED (
    SELECT account.id, proof.same, found.linked, found.elsewhere,
           EXISTS (SELECT
                     FROM (SELECT session.*
                             FROM svc.session session
                            WHERE session.tenant_id = :tenant
                              AND session.token_hash BETWEEN :session AND :session
                            ORDER BY session.token_hash
                            LIMIT 1) session
                    WHERE (session.user_id, session.root_id) = (proof.user_id, proof.root_id)
                      AND session.ended_at IS NULL
                      AND session.created_at >= coalesce(account.valid_after, '-infinity')) AS own,
           account.id IS NOT NULL AS held,
           coalesce(account.status = 'active', false) AS active,
           EXISTS (SELECT
                     FROM svc.federated_identity other
                    WHERE other.tenant_id = :tenant
                      AND other.user_id BETWEEN account.id AND account.id
                      AND other.connection_id = proof.connection_id
                      AND other.subject_hash <> :subject_hash
                    ORDER BY other.user_id) AS other,
           coalesce(svc.covers(:tenant, account.role, found.vouched, found.vouched_owner),
                    false) AS covered,
           coalesce(svc.sign_in_by(:tenant, proof.sign_in_forced,
                                   coalesce(account.user_name, :email::text))
                    <> proof.connection_id, false) AS forced,
           account.valid_after, coalesce(account.email_verified, false) AS proved,
           proof.proved AS verified,
           (proof.owned OR proof.link_by_email = 'verified' AND account.role = 'member')
           AND proof.link_by_email <> 'never' AS takes,
           proof.link_by_email <> 'never'
           AND account.role = 'member'
           AND NOT account.mfa_enrolled AS mails,
           proof.makes, proof.strong
      FROM proof
      CROSS JOIN found
      LEFT JOIN LATERAL (
           SELECT account.*
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant AND account.id BETWEEN found.id AND found.id
            ORDER BY account.id
            LIMIT 1) account ON true
), decided AS MATERIALIZED (
    SELECT judged.*, judged::text AS facts,
           CASE WHEN proof.directory THEN svc.sign_in_locked(:tenant, :typed, :email_mac) END
               AS locked,
           (proof.directory OR :mailed::bool)
           AND svc.sign_in_locked(:tenant, judged.id, NULL) IS NOT NULL AS shut,
           CASE WHEN proof.tests OR proof.directory OR :expected::text IS NULL THEN proof.tests
                ELSE svc.signed_out_there(:tenant, :flow_id, :sid, :subject_hash) END AS gone
      FROM judged
      CROSS JOIN proof
)
SELECT CASE
           WHEN decided.shut OR decided.locked > 0 THEN 'locked'
           WHEN decided.facts IS DISTINCT FROM :expected OR decided.gone THEN 'other'
           ELSE 'go'
       END AS verdict,
       CASE
           WHEN :expected::text IS NULL
                THEN set_config('svc.found', coalesce(decided.id::text, ''), true)
           WHEN decided.facts = :expected
                AND decided.locked IS NULL AND NOT (decided.shut OR decided.gone)
                THEN set_config('svc.actor_type', 'user', true)
                     || set_config('svc.actor_id', coalesce(decided.id::text, ''), true)
           ELSE set_config('svc.tenant', '', true)
       END IS NULL,
       decided.locked, decided.facts, decided.same, decided.own, decided.elsewhere,
       decided.linked, decided.other, decided.held, decided.active, decided.covered,
       decided.forced, decided.proved, decided.verified, decided.takes, decided.mails,
       decided.makes, decided.strong
  FROM (VALUES (1)) always
  LEFT JOIN decided ON true;


-- statement: federation_user (shared)
-- It is as ngx_svc_sql_signin_user, of whom the statement above has found. A lock of the account
-- does not refuse it: there is nothing to guess.
--
-- parameters
--   client_ip      text  ngx_svc_login_param(client.ip)
-- columns
--   :login_user
--   few            bool
SELECT :login_governance, NULL::bigint AS locked, account.id, account.status,
       account.mfa_enrolled,
       NOT EXISTS (SELECT
                     FROM (SELECT session.id
                             FROM svc.session session
                            WHERE session.tenant_id = :tenant
                              AND session.user_id BETWEEN account.id AND account.id
                              AND session.ended_at IS NULL
                            ORDER BY session.user_id OFFSET 0) session OFFSET 49) AS few
  FROM svc.governance governance
  LEFT JOIN LATERAL (
       SELECT account.*
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN nullif(current_setting('svc.found', true), '')::uuid
                             AND nullif(current_setting('svc.found', true), '')::uuid
        ORDER BY account.id
        LIMIT 1) account ON true
 WHERE governance.tenant_id = :tenant;
