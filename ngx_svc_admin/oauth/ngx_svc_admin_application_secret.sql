-- statement: admin_secrets_expire
-- Of retired secrets those that nobody needs to know any more: old ones, and all but the
-- newest.
--
-- parameters
--   client_id        text ngx_svc_param_application(0)
--   retired_days_max int4 ngx_svc_param_constant(NGX_SVC_ADMIN_SECRET_RETIRED)
--   secrets_max      int4 ngx_svc_param_constant(NGX_SVC_ADMIN_SECRETS)
DELETE FROM svc.oauth_login login
 WHERE login.digest = ANY (ARRAY(
           SELECT ranked.digest
             FROM (SELECT newest.digest, newest.retired_at, row_number() OVER () AS place
                     FROM (SELECT *
                             FROM svc.oauth_login
                            WHERE tenant_id = :tenant
                              AND client_id BETWEEN :client_id AND :client_id
                              AND kind BETWEEN 'secret' AND 'secret'
                            ORDER BY client_id DESC, kind DESC, created_at DESC) newest) ranked
            WHERE ranked.retired_at <= now()
              AND (ranked.place >= :secrets_max::int4
                   OR ranked.retired_at < now() - :retired_days_max::int4 * interval '1 day')))
   AND login.tenant_id = :tenant
   AND login.client_id BETWEEN :client_id AND :client_id
   AND login.kind BETWEEN 'secret' AND 'secret';


-- statement: admin_secrets_rotate
-- Behind the lock of the row.  What was good becomes the previous one; the one before it
-- is good no more.
--
-- missing: NGX_SVC_NO_APPLICATION
-- parameters
--   client_id      text  ngx_svc_param_application(0)
--   secret_digest  bytea ngx_svc_application_secret_param(secret_digest)
--   grace_seconds  int4  ngx_svc_param_integer(ngx_svc_admin_rotation_t, grace)
--   revoke         bool  ngx_svc_param_boolean(ngx_svc_admin_rotation_t, revoke)
--   type           text  ngx_svc_param_text(ngx_svc_admin_rotation_t, type)
-- verdicts
--   type           not_found       NGX_SVC_NO_AGENT
--   none           invalid_value   This application has no secret: see its
--                                  "tokenEndpointAuthMethod".
-- columns
--   _verdict           text
--   clientId           text         answer
--   rotatedAt          timestamptz  answer
--   previousValidUntil timestamptz  answer
--   _revokes           bool
WITH decided AS (
    SELECT client.client_id,
           CASE
               WHEN :type <> client.type THEN 'type'
               WHEN client.auth_method <> 'client_secret_basic' THEN 'none'
           END AS verdict,
           coalesce(:grace_seconds::int4, 0) * interval '1 second' AS grace
      FROM svc.application client
     WHERE client.tenant_id = :tenant AND client.client_id = :client_id
), retired AS (
    UPDATE svc.oauth_login login
       SET retired_at = CASE
               WHEN login.retired_at IS NULL THEN now() + decided.grace
               ELSE now()
           END
      FROM decided
     WHERE decided.verdict IS NULL
       AND login.tenant_id = :tenant
       AND login.client_id = :client_id
       AND login.kind = 'secret'
       AND (login.retired_at IS NULL OR login.retired_at > now())
), stored AS (
    INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)
    SELECT :secret_digest::bytea, :tenant_or_null, decided.client_id, 'secret'
      FROM decided
     WHERE decided.verdict IS NULL
), updated AS (
    UPDATE svc.application client
       SET secret_rotated_at = now(),
           previous_secret_until = CASE WHEN :grace_seconds > 0 THEN now() + decided.grace END,
           tokens_valid_after = CASE
               WHEN :revoke THEN greatest(client.tokens_valid_after, clock_timestamp())
               ELSE client.tokens_valid_after
           END,
           updated_at = greatest(now(), client.updated_at + interval '1 millisecond')
      FROM decided
     WHERE decided.verdict IS NULL
       AND client.tenant_id = :tenant
       AND client.client_id = :client_id
    RETURNING client.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'application.secret_rotated', 'application', updated.client_id, updated.name,
           jsonb_build_object('graceSeconds', coalesce(:grace_seconds, 0),
                              'revokeTokens', coalesce(:revoke, false))
      FROM updated
    UNION ALL
    SELECT 'agent.secret_rotated', 'agent', updated.client_id, updated.name,
           jsonb_build_object('graceSeconds', coalesce(:grace_seconds, 0),
                              'revokeTokens', coalesce(:revoke, false))
      FROM updated
     WHERE updated.type = 'agent'
)
SELECT decided.verdict AS _verdict, decided.client_id AS "clientId",
       updated.secret_rotated_at AS "rotatedAt",
       updated.previous_secret_until AS "previousValidUntil", :revoke AS _revokes
  FROM decided
  LEFT JOIN updated ON true;


-- statement: admin_secrets_cut
-- Once more, when that is committed: until then the old secret was good, and what was
-- given for it may be newer than the cut-off.
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
UPDATE svc.application client
   SET tokens_valid_after = greatest(client.tokens_valid_after, clock_timestamp())
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id
RETURNING client.client_id AS "clientId", client.secret_rotated_at AS "rotatedAt",
          client.previous_secret_until AS "previousValidUntil";
