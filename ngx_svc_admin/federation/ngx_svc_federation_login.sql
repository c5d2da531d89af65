-- statement: federation_used (shared)
-- The link was used, and what its issuer has said of an address.
--
-- parameters
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   email          text  ngx_svc_federation_param(proof.email)
UPDATE svc.federated_identity
   SET last_at = now(), email_seen = :email::text
 WHERE tenant_id = :tenant AND connection_id = :connection_id AND subject_hash = :subject_hash;


-- statement: federation_purge
-- Nobody has proved the address of this account before: whoever made it may have known that
-- its owner would come. Nothing of its past is adopted, and what began before is over: neither
-- what applications were allowed, nor the devices and networks that were usual, nor a code that
-- was mailed.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
WITH password AS (
    DELETE FROM svc.password WHERE tenant_id = :tenant AND user_id = :user
), history AS (
    DELETE FROM svc.password_history WHERE tenant_id = :tenant AND user_id = :user
), reset AS (
    DELETE FROM svc.password_reset WHERE tenant_id = :tenant AND user_id = :user
), factor AS (
    DELETE FROM svc.factor WHERE tenant_id = :tenant AND user_id = :user
), identity AS (
    DELETE FROM svc.federated_identity WHERE tenant_id = :tenant AND user_id = :user
), consent AS (
    DELETE FROM svc.oauth_consent WHERE tenant_id = :tenant AND user_id = :user
), device AS (
    DELETE FROM svc.user_device WHERE tenant_id = :tenant AND user_id = :user
), seen AS (
    DELETE FROM svc.user_seen WHERE tenant_id = :tenant AND user_id = :user
), challenge AS (
    DELETE FROM svc.challenge WHERE tenant_id = :tenant AND user_id = :user
), mailed AS (
    UPDATE svc.email_challenge
       SET used_at = now()
     WHERE tenant_id = :tenant AND user_id = :user AND used_at IS NULL
)
UPDATE svc.user_account
   SET valid_after = clock_timestamp(), email_verified = true, failed_logins = 0,
       failed_since = NULL, locked_until = NULL,
       updated_at = greatest(now(), updated_at + interval '1 millisecond')
 WHERE tenant_id = :tenant AND id = :user;


-- statement: federation_link (shared)
-- The identity is the user's from now on.
--
-- parameters
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   link_id        uuid  ngx_svc_federation_param(proof.link)
--   user           uuid  ngx_svc_login_param(user)
--   subject        bytea ngx_svc_federation_param(proof.sealed)
--   email          text  ngx_svc_federation_param(proof.email)
--   key            text  ngx_svc_federation_param(connection.key)
--   purged         bool  ngx_svc_param_call(ngx_svc_federation_bind_purged)
--   mailed         bool  ngx_svc_param_call(ngx_svc_federation_bind_mailed)
WITH identity AS (
    INSERT INTO svc.federated_identity
        (tenant_id, connection_id, subject_hash, id, user_id, subject, email_seen, last_at,
         vouched, vouched_owner)
    SELECT :tenant, connection.connection_id, :subject_hash, :link_id, :user, :subject,
           :email::text, now(), connection.vouched, connection.vouched_owner
      FROM svc.connection_of(:tenant, :connection_id, NULL) connection
    RETURNING user_id
)
INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
SELECT 'federation.linked', 'user', identity.user_id::text, NULL,
       jsonb_build_object('connection', :key::text)
       || CASE WHEN :purged::bool THEN '{"purged":true}' ELSE '{}' END::jsonb
       || CASE WHEN :mailed::bool THEN '{"mailed":true}' ELSE '{}' END::jsonb
  FROM identity;


-- statement: federation_notice
-- The mail to the user whose account is linked.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   client_country text  ngx_svc_login_param(client.country)
--   wanted_notice  text  ngx_svc_param_notice()
SELECT :client_country::text AS _country, nullif(current_setting('svc.ip', true), '') AS _ip,
       notice.*
  FROM (:notice) notice;


-- statement: federation_session (shared)
-- It is as ngx_svc_sql_signin_session_new. A proof that another server dates is as fresh as
-- it says. One that it does not date is no fresh factor, and counts as a sign-in of now.
--
-- parameters
--   new_id         uuid  ngx_svc_param_new_id()
--   user           uuid  ngx_svc_login_param(user)
--   new_session    bytea ngx_svc_param_new_session()
--   stage          text  ngx_svc_login_param(written.stage)
--   session_ttl    int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_ABSOLUTE)
--   pending_ttl    int4  ngx_svc_param_setting(NGX_SVC_SET_SESSION_PENDING)
--   client_ip      text  ngx_svc_login_param(client.ip)
--   client_country text  ngx_svc_login_param(client.country)
--   user_agent     text  ngx_svc_login_param(client.user_agent)
--   score          int4  ngx_svc_param_call(ngx_svc_login_bind_score)
--   signals        text  ngx_svc_login_param(risk.signals)
--   methods        text  ngx_svc_login_param(written.methods)
--   factor_presented   bool  ngx_svc_param_call(ngx_svc_login_bind_trusted)
--   auth_time      text  ngx_svc_federation_param(proof.auth_time)
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   sid            bytea ngx_svc_federation_param(proof.sid)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   acr            text  ngx_svc_federation_param(proof.acr)
INSERT INTO svc.session
    (tenant_id, id, user_id, token_hash, root_id, stage, methods, auth_time, expires_at, mfa_at,
     reauth_at, ip, country, user_agent, risk, signals, connection_id, upstream_sid,
     upstream_subject, upstream_acr)
SELECT :tenant_or_null AS tenant_id, :new_id::uuid, :user, :new_session::bytea, :new_id::uuid,
       :stage, :methods::text::text[],
       CASE :stage
           WHEN 'full'
                THEN least(clock_timestamp(), to_timestamp(:auth_time::text::float8))
       END,
       now() + make_interval(secs => CASE :stage
                                         WHEN 'full' THEN :session_ttl::int4
                                         ELSE :pending_ttl::int4
                                     END),
       -- least() leaves out what is NULL
       CASE
           WHEN :factor_presented AND :auth_time IS NOT NULL
                THEN least(clock_timestamp(), to_timestamp(:auth_time::text::float8))
       END,
       CASE
           WHEN :auth_time IS NOT NULL
                THEN least(clock_timestamp(), to_timestamp(:auth_time::text::float8))
       END,
       :client_ip::text::inet, :client_country, :user_agent, :score::int4,
       :signals::text::text[], :connection_id::uuid, :sid, :subject_hash, :acr
 WHERE :tenant_or_null IS NOT NULL;
