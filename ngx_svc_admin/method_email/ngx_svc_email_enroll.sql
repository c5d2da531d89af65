-- statement: mfa_email_create
-- The factor has the id of its code's challenge. This is under the user's lock: of those
-- that come at the same time some may be too many.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   challenge_id   uuid ngx_svc_login_param(mailed.id)
--   factors_max    int4 ngx_svc_param_constant(NGX_SVC_FACTORS)
--   pending_max    int4 ngx_svc_param_constant(NGX_SVC_MFA_EMAIL_PENDING)
-- columns
--   id             uuid
--   mailed         bool
--   full           bool
--   pending        bool
WITH owned AS (
    SELECT count(*) AS total,
           count(*) FILTER (WHERE factor.confirmed_at IS NULL) AS pending,
           count(*) FILTER (WHERE factor.type = 'email' AND factor.confirmed_at IS NOT NULL)
               AS mailed
      FROM (SELECT factor.*
              FROM svc.factor factor
             WHERE factor.tenant_id = :tenant AND factor.user_id BETWEEN :user AND :user
             ORDER BY factor.user_id OFFSET 0) factor
     WHERE factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since
), challenge AS (
    SELECT challenge.void
      FROM (SELECT challenge.void, challenge.user_id
              FROM svc.email_challenge challenge
             WHERE challenge.tenant_id = :tenant
               AND challenge.id BETWEEN :challenge_id AND :challenge_id
             ORDER BY challenge.id
             LIMIT 1) challenge
     WHERE challenge.user_id IS NOT NULL
), factor AS (
    INSERT INTO svc.factor (tenant_id, user_id, id, type, name)
    SELECT tenant.id, :user, :challenge_id, 'email', 'E-mail'
      FROM svc.tenant tenant, owned, challenge
     WHERE tenant.id = :tenant
       AND NOT challenge.void
       AND owned.mailed = 0
       AND owned.total < :factors_max::int4
       AND owned.pending < :pending_max::int4
    RETURNING id
)
SELECT factor.id, owned.mailed > 0 AS mailed, owned.total >= :factors_max::int4 AS full,
       owned.pending >= :pending_max::int4 AS pending
  FROM owned
  LEFT JOIN factor ON true;


-- statement: mfa_email_pending
--
-- missing: NGX_SVC_MFA_EMAIL_NONE
-- parameters
--   session        bytea ngx_svc_param_session()
--   factor_id      uuid  ngx_svc_param_path_id(0, NGX_SVC_MFA_EMAIL_NONE)
SELECT factor.id
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT factor.*
         FROM svc.factor factor
        WHERE factor.tenant_id = :tenant
          AND (factor.user_id, factor.id) BETWEEN (session.user_id, :factor_id::uuid)
                                              AND (session.user_id, :factor_id::uuid)
        ORDER BY factor.user_id, factor.id
        LIMIT 1) factor
 WHERE factor.type = 'email'
   AND factor.confirmed_at IS NULL
   AND (factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since);


-- statement: mfa_email_confirm
-- One is enough, of an address that is the same still, and verified. When nothing is
-- confirmed there is no tenant for the rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   factor_id      uuid ngx_svc_factor_param(id)
--   email          text ngx_svc_factor_param(email)
WITH account AS (
    SELECT account.user_name_key, account.email_verified
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant AND account.id BETWEEN :user AND :user
     ORDER BY account.id
     LIMIT 1
), used AS (
    UPDATE svc.email_challenge challenge
       SET used_at = now()
      FROM account
     WHERE challenge.tenant_id = :tenant
       AND challenge.id = :factor_id
       AND challenge.used_at IS NULL
       AND coalesce(challenge.expires_at > now(), false)
       AND account.user_name_key = svc.address_key(:email)
       AND account.email_verified
       AND NOT EXISTS (SELECT
                         FROM (SELECT factor.*
                                 FROM svc.factor factor
                                WHERE factor.tenant_id = :tenant
                                  AND factor.user_id BETWEEN :user AND :user
                                ORDER BY factor.user_id OFFSET 0) factor
                        WHERE factor.type = 'email' AND factor.confirmed_at IS NOT NULL)
    RETURNING challenge.id
), confirmed AS (
    UPDATE svc.factor factor
       SET confirmed_at = now()
      FROM used
     WHERE factor.tenant_id = :tenant
       AND factor.user_id = :user
       AND factor.id = :factor_id
       AND factor.confirmed_at IS NULL
       AND (factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since)
    RETURNING factor.id
)
SELECT confirmed.id, CASE WHEN confirmed.id IS NULL THEN set_config('svc.tenant', '', true) END
  FROM (VALUES (1)) always
  LEFT JOIN confirmed ON true;
