-- statement: admin_domain_sign_in_lock
-- Whoever takes away what the next statement asks for waits for this lock, too: a connection,
-- or the last passkey of an owner.
SELECT
  FROM svc.tenant
 WHERE id = :tenant
   FOR NO KEY UPDATE;


-- statement: admin_domain_sign_in
-- An owner decides, who has shown within a day that the connection works. Sessions that
-- began by it go on, and so does the caller's. Where the others end, a password whose hash is
-- just being compared is as one that has been changed: it makes no session behind this.
--
-- missing: NGX_SVC_ADMIN_NO_DOMAIN
-- parameters
--   domain             text  ngx_svc_param_path_domain()
--   connection         text  ngx_svc_param_text(ngx_svc_admin_sign_in_t, connection)
--   include_subdomains bool  ngx_svc_param_boolean(ngx_svc_admin_sign_in_t, include_subdomains)
--   end_sessions       bool  ngx_svc_param_boolean(ngx_svc_admin_sign_in_t, end_sessions)
--   rp_id              text  ngx_svc_param_call(ngx_svc_admin_sign_in_rp)
--   session            bytea ngx_svc_param_session()
-- verdicts
--   owner          forbidden       An owner decides this, by a session.
--   pending        invalid_value   The domain is to be verified first.
--   unknown        invalid_value   "connection" must be the key of one that is enabled: there
--                                  is no "%V".
--   never          anti_lockout    Nobody who has an account could come in: the connection's
--                                  "linkByEmail" is "never".
--   passkey        anti_lockout    Nobody could come in while the connection fails: an active
--                                  owner needs a passkey of this service's own address first.
--   untried        anti_lockout    Sign in by this connection, or test it, first: within a day.
WITH caller AS (
    SELECT session.id, session.user_id, session.connection_id, session.auth_time
      FROM (SELECT session.*
              FROM svc.session session
             WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
             ORDER BY session.token_hash
             LIMIT 1) session
      JOIN svc.user_account account
           ON account.tenant_id = :tenant
          AND account.id = session.user_id
          AND account.role = 'owner'
     WHERE :caller_is_user
), connection AS (
    SELECT social.connection_id AS id, social.link_by_email
      FROM svc.social social
     WHERE social.tenant_id = :tenant AND social.provider = :connection AND social.enabled
    UNION ALL
    SELECT sp.connection_id, sp.link_by_email
      FROM svc.saml_sp sp
     WHERE sp.tenant_id = :tenant AND :connection = 'saml' AND sp.enabled
    UNION ALL
    SELECT ldap.connection_id, ldap.link_by_email
      FROM svc.ldap ldap
     WHERE ldap.tenant_id = :tenant AND :connection = 'ldap' AND ldap.enabled
), old AS (
    SELECT domain.*
      FROM svc.domain domain
     WHERE domain.tenant_id = :tenant AND domain.domain = :domain
       FOR UPDATE
), decided AS (
    SELECT CASE
               WHEN caller.id IS NULL THEN 'owner'
               WHEN :connection IS NULL THEN NULL
               WHEN old.verified_at IS NULL THEN 'pending'
               WHEN connection.id IS NULL THEN 'unknown ' || :connection
               WHEN connection.link_by_email = 'never' THEN 'never'
               WHEN :rp_id::text IS NULL OR NOT svc.break_glass(old.tenant_id, :rp_id)
                   THEN 'passkey'
               WHEN NOT (caller.connection_id IS NOT DISTINCT FROM connection.id
                         AND coalesce(caller.auth_time > now() - interval '1 day', false))
                    AND NOT EXISTS (SELECT
                                      FROM svc.federation_flow flow
                                     WHERE flow.tenant_id = :tenant
                                       AND flow.user_id = caller.user_id
                                       AND flow.connection_id = connection.id
                                       AND flow.purpose = 'test'
                                       AND flow.subject_hash IS NOT NULL
                                       AND flow.tested_at > now() - interval '1 day')
                   THEN 'untried'
           END AS verdict,
           connection.id AS connection_id
      FROM old
      LEFT JOIN caller ON true
      LEFT JOIN connection ON true
), changed AS (
    UPDATE svc.domain domain
       SET sign_in = decided.connection_id,
           rp_id = CASE WHEN decided.connection_id IS NOT NULL THEN :rp_id::text END,
           include_subdomains = coalesce(:include_subdomains::bool, false)
      FROM decided
     WHERE domain.tenant_id = :tenant AND domain.domain = :domain AND decided.verdict IS NULL
    RETURNING domain.*
), meant AS (
    SELECT account.id, changed.sign_in
      FROM changed, svc.user_account account
     WHERE :end_sessions::bool
       AND changed.sign_in IS NOT NULL
       AND account.tenant_id = :tenant
       AND (changed.domain = (svc.domain_path(account.user_name))[1]
            OR (changed.include_subdomains
                AND changed.domain = ANY (svc.domain_path(account.user_name))))
), ended AS (
    UPDATE svc.session session
       SET ended_at = now()
      FROM meant
     WHERE session.tenant_id = :tenant
       AND session.user_id = meant.id
       AND session.ended_at IS NULL
       AND session.connection_id IS DISTINCT FROM meant.sign_in
       AND session.id NOT IN (SELECT caller.id FROM caller)
), under_way AS (
    UPDATE svc.password password
       SET version = password.version + 1
      FROM meant
     WHERE password.tenant_id = :tenant AND password.user_id = meant.id
)
SELECT decided.verdict AS _verdict, changed.domain,
       CASE WHEN changed.verified_at IS NULL THEN 'pending' ELSE 'verified' END AS status,
       changed.verified_at IS NOT NULL AS verified, 'TXT' AS "verification.type",
       '_svc-challenge.' || changed.domain AS "verification.name",
       'svc-verify=' || changed.token AS "verification.value", changed.created_at AS "createdAt",
       changed.verified_at AS "verifiedAt",
       svc.connection_key(changed.tenant_id, changed.sign_in) AS "signIn",
       changed.include_subdomains AS "includeSubdomains"
  FROM decided
  LEFT JOIN changed ON true;
