-- fragment: passkey_stored
-- A passkey of a user; all of it is NULL where there is none.
-- columns
--   rp_id          text
--   credential_id  bytea
--   public_key     bytea
--   alg            int4
--   sign_count     int8
--   be             bool
--   bs             bool
--   transports     int2


-- statement: ceremony_own (shared)
-- The caller's passkeys, a row each, or one row without: for what a page needs to make
-- another one, or to show one. "by_domain" says whether the Host is a domain of the tenant.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   host           text  ngx_svc_login_param(asked.host)
-- columns
--   _session       uuid
--   _display_name  text
--   by_domain      bool
--   :passkey_stored
SELECT session.id AS _session, account.display_name AS _display_name,
       domain.domain IS NOT NULL AS by_domain, passkey.rp_id, passkey.credential_id,
       passkey.public_key, passkey.alg, passkey.sign_count, passkey.be, passkey.bs,
       passkey.transports
  FROM (SELECT session.*
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT account.*
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN session.user_id AND session.user_id
        ORDER BY account.id
        LIMIT 1) account
  LEFT JOIN svc.domain domain
       ON domain.tenant_id = session.tenant_id
      AND domain.domain = :host
      AND domain.verified_at IS NOT NULL
  LEFT JOIN LATERAL (
       SELECT passkey.*
         FROM svc.passkey passkey
        WHERE passkey.tenant_id = session.tenant_id
          AND passkey.user_id BETWEEN session.user_id AND session.user_id
        ORDER BY passkey.user_id OFFSET 0) passkey ON true;
