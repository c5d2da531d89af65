-- statement: passkeys_create
-- This is under the user's lock. The challenge is used up in any case, and one id is of one
-- user of the tenant. When nothing is made there is no tenant for the rest.
--
-- parameters
--   user              uuid  ngx_svc_login_param(user)
--   factor_id         uuid  ngx_svc_factor_param(id)
--   name              text  ngx_svc_passkeys_param(name)
--   credential_hash   bytea ngx_svc_passkeys_param(hash)
--   factors_max       int4  ngx_svc_param_constant(NGX_SVC_FACTORS)
--   challenge_hash    bytea ngx_svc_passkeys_param(used)
--   challenge_expires text  ngx_svc_passkeys_number(NGX_SVC_PASSKEYS_EXPIRY)
--   credential_id     bytea ngx_svc_passkeys_param(passkey.id)
--   public_key        bytea ngx_svc_passkeys_param(passkey.public_key)
--   alg               int4  ngx_svc_passkeys_number(NGX_SVC_PASSKEYS_ALG)
--   rp_id             text  ngx_svc_passkeys_param(own.ceremony.rp_id)
--   sign_count        text  ngx_svc_passkeys_number(NGX_SVC_PASSKEYS_COUNT)
--   be                bool  ngx_svc_passkeys_number(NGX_SVC_PASSKEYS_BE)
--   bs                bool  ngx_svc_passkeys_number(NGX_SVC_PASSKEYS_BS)
--   transports        int4  ngx_svc_passkeys_number(NGX_SVC_PASSKEYS_TRANSPORTS)
--   aaguid            bytea ngx_svc_passkeys_param(aaguid)
-- columns
--   verdict        text
--   case           text         unread
WITH decided AS (
    SELECT CASE
               WHEN EXISTS (SELECT
                              FROM svc.passkey passkey
                             WHERE passkey.tenant_id = :tenant
                               AND passkey.credential_hash = :credential_hash)
                   THEN 'taken'
               WHEN (SELECT count(*)
                       FROM (SELECT factor.*
                               FROM svc.factor factor
                              WHERE factor.tenant_id = :tenant
                                AND factor.user_id BETWEEN :user AND :user
                              ORDER BY factor.user_id OFFSET 0) factor
                      WHERE (factor.confirmed_at IS NOT NULL
                             OR factor.created_at > :unconfirmed_since))
                    >= :factors_max::int4
                   THEN 'full'
           END AS verdict
), used AS (
    INSERT INTO svc.challenge_used (tenant_id, hash, expires_at)
    SELECT tenant.id, :challenge_hash::bytea,
           to_timestamp(:challenge_expires::text::float8 / 1000)
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
    ON CONFLICT DO NOTHING
    RETURNING 1
), factor AS (
    INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)
    SELECT tenant.id, :user, :factor_id::uuid, 'passkey', :name, now()
      FROM svc.tenant tenant, used, decided
     WHERE tenant.id = :tenant AND decided.verdict IS NULL
    RETURNING tenant_id, user_id, id
), passkey AS (
    INSERT INTO svc.passkey
        (tenant_id, credential_hash, user_id, factor_id, credential_id, public_key, alg, rp_id,
         sign_count, be, bs, transports, aaguid)
    SELECT factor.tenant_id, :credential_hash, factor.user_id, factor.id, :credential_id::bytea,
           :public_key::bytea, :alg::int4, :rp_id, :sign_count::text::bigint, :be::bool, :bs::bool,
           :transports::int4, :aaguid::bytea
      FROM factor
    RETURNING factor_id
)
SELECT coalesce(decided.verdict, CASE WHEN passkey.factor_id IS NULL THEN 'used' END) AS verdict,
       CASE WHEN passkey.factor_id IS NULL THEN set_config('svc.tenant', '', true) END
  FROM decided
  LEFT JOIN passkey ON true;
