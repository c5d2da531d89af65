-- statement: totp_create
-- This is under the user's lock: of those that come at the same time some may be too many.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   factor_id      uuid  ngx_svc_factor_param(id)
--   name           text  ngx_svc_param_data(ngx_svc_totp_request_t, name)
--   sealed_secret  bytea ngx_svc_param_data(ngx_svc_totp_request_t, sealed)
--   factors_max    int4  ngx_svc_param_constant(NGX_SVC_FACTORS)
--   pending_max    int4  ngx_svc_param_constant(NGX_SVC_TOTP_PENDING)
-- columns
--   id             uuid
--   full           bool
WITH owned AS (
    SELECT count(*) AS total, count(*) FILTER (WHERE factor.confirmed_at IS NULL) AS pending
      FROM (SELECT factor.*
              FROM svc.factor factor
             WHERE factor.tenant_id = :tenant AND factor.user_id BETWEEN :user AND :user
             ORDER BY factor.user_id OFFSET 0) factor
     WHERE factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since
), factor AS (
    INSERT INTO svc.factor (tenant_id, user_id, id, type, name, secret)
    SELECT tenant.id, :user, :factor_id::uuid, 'totp', :name, :sealed_secret::bytea
      FROM svc.tenant tenant, owned
     WHERE tenant.id = :tenant
       AND owned.total < :factors_max::int4
       AND owned.pending < :pending_max::int4
    RETURNING id
)
SELECT factor.id, owned.total >= :factors_max::int4 AS full
  FROM owned
  LEFT JOIN factor ON true;


-- statement: totp_pending
--
-- missing: NGX_SVC_TOTP_NONE
-- parameters
--   session        bytea ngx_svc_param_session()
--   factor_id      uuid  ngx_svc_param_path_id(0, NGX_SVC_TOTP_NONE)
-- columns
--   id             uuid
--   secret         bytea
SELECT factor.id, factor.secret
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
 WHERE factor.type = 'totp'
   AND factor.confirmed_at IS NULL
   AND (factor.confirmed_at IS NOT NULL OR factor.created_at > :unconfirmed_since);


-- statement: totp_confirm
-- The step of the code that confirms it is used up. When nothing is confirmed there is no
-- tenant for the rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   factor_id      uuid ngx_svc_factor_param(id)
--   step           text ngx_svc_param_data(ngx_svc_totp_request_t, step)
WITH confirmed AS (
    UPDATE svc.factor factor
       SET confirmed_at = now(), last_step = :step::text::bigint
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
