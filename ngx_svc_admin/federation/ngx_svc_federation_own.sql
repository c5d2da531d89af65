-- statement: federation_own_notice
-- The user is told of the link by mail.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   wanted_notice  text  ngx_svc_param_notice()
SELECT nullif(current_setting('svc.ip', true), '') AS _ip, notice.*
  FROM (:notice) notice;


-- statement: federation_step_up
-- The session goes on under a new cookie, and its challenge is over, as by
-- ngx_svc_sql_factor_rotate. The proof is as fresh as its server says, and a second factor
-- only where it counts as one. A session that began by the same identity has the sign-in
-- there of now, which ends it when it ends.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   new_session    bytea ngx_svc_param_new_session()
--   methods        text  ngx_svc_login_param(written.methods)
--   factor_presented   bool  ngx_svc_param_call(ngx_svc_login_bind_trusted)
--   auth_time      text  ngx_svc_federation_param(proof.auth_time)
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   sid            bytea ngx_svc_federation_param(proof.sid)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   acr            text  ngx_svc_federation_param(proof.acr)
WITH ended AS (
    :signin_end RETURNING *
), challenge AS (
    DELETE FROM svc.challenge challenge
     WHERE challenge.tenant_id = :tenant
       AND challenge.root_id = (SELECT ended.root_id FROM ended)
)
INSERT INTO svc.session
    (tenant_id, id, user_id, token_hash, root_id, stage, methods, auth_time, expires_at, mfa_at,
     reauth_at, ip, country, user_agent, risk, signals, connection_id, upstream_sid,
     upstream_subject, upstream_acr)
SELECT ended.tenant_id, gen_random_uuid(), ended.user_id, :new_session::bytea, ended.root_id,
       ended.stage,
       ended.methods || ARRAY(SELECT more FROM unnest(:methods::text::text[]) more
                               WHERE more <> ALL (ended.methods)),
       ended.auth_time, ended.expires_at,
       -- greatest() leaves out what is NULL
       greatest(ended.mfa_at,
                CASE
                    WHEN :factor_presented
                         THEN least(clock_timestamp(), to_timestamp(:auth_time::text::float8))
                END),
       greatest(ended.reauth_at,
                least(clock_timestamp(), to_timestamp(:auth_time::text::float8))),
       ended.ip, ended.country, ended.user_agent, ended.risk, ended.signals,
       ended.connection_id, coalesce(same.sid, ended.upstream_sid), ended.upstream_subject,
       coalesce(same.acr, ended.upstream_acr)
  FROM ended
  LEFT JOIN (SELECT :sid::bytea AS sid, :acr::text AS acr) same
       ON ended.connection_id = :connection_id::uuid
      AND ended.upstream_subject = :subject_hash::bytea;
