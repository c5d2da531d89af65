-- statement: federation_logout_lock
-- Whoever is just being signed in has a session behind this, or is told that it is over.
--
-- parameters
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
SELECT
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant
   AND account.id = (SELECT identity.user_id
                       FROM svc.federated_identity identity
                      WHERE identity.tenant_id = :tenant
                        AND identity.connection_id = :connection_id
                        AND identity.subject_hash BETWEEN :subject_hash AND :subject_hash
                      ORDER BY identity.subject_hash
                      LIMIT 1)
   FOR NO KEY UPDATE;


-- statement: federation_logout_sid
-- A sign-in with the same "sid" looks behind this, or has a session that is found.
--
-- parameters
--   sid            bytea ngx_svc_federation_param(proof.sid)
SELECT pg_advisory_xact_lock(hashtext('svc.upstream_sid'), hashtext(encode(:sid::bytea, 'hex')))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: federation_logout
-- A logout token that has come once before ends nothing: sessions that have begun since go
-- on. Without a "sid" all sessions of its subject end, and with both those whose issuer has
-- given them no "sid" end, too, as they may be the one. Those of a subject are found by the user
-- whom it is linked to. What it ends is kept for sign-ins that are under way: see
-- svc.signed_out_there().
--
-- parameters
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   jti            bytea ngx_svc_federation_logout_param(jti)
--   sid            bytea ngx_svc_federation_param(proof.sid)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   key            text  ngx_svc_federation_param(connection.key)
WITH seen AS (
    INSERT INTO svc.federation_seen (tenant_id, connection_id, digest, expires_at)
    SELECT social.tenant_id, social.connection_id, :jti, now() + interval '15 minutes'
      FROM svc.social social
     WHERE social.tenant_id = :tenant AND social.connection_id = :connection_id AND social.enabled
    ON CONFLICT DO NOTHING
    RETURNING connection_id
), under_way AS (
    INSERT INTO svc.federation_seen AS told (tenant_id, connection_id, digest, expires_at)
    SELECT :tenant, seen.connection_id, sha256(named.whom), now() + interval '15 minutes'
      FROM seen
      CROSS JOIN (VALUES ('\x00'::bytea || :sid),
                         (CASE WHEN :sid IS NULL THEN '\x01' ELSE '\x02' END::bytea
                          || :subject_hash)) named (whom)
     WHERE named.whom IS NOT NULL
    ON CONFLICT (tenant_id, connection_id, digest)
       DO UPDATE SET expires_at = excluded.expires_at
), meant AS MATERIALIZED (
    SELECT named.id, named.user_id
      FROM seen
      CROSS JOIN LATERAL (
           SELECT session.id, session.user_id, session.upstream_subject
             FROM svc.session session
            WHERE session.tenant_id = :tenant
              AND session.connection_id BETWEEN seen.connection_id AND seen.connection_id
              AND session.upstream_sid BETWEEN :sid AND :sid
              AND session.ended_at IS NULL
            ORDER BY session.connection_id, session.upstream_sid
              FOR UPDATE) named
     WHERE coalesce(named.upstream_subject = :subject_hash, true)
    UNION ALL
    SELECT own.id, own.user_id
      FROM seen
      CROSS JOIN LATERAL (
           SELECT identity.user_id
             FROM svc.federated_identity identity
            WHERE identity.tenant_id = :tenant
              AND identity.connection_id = seen.connection_id
              AND identity.subject_hash BETWEEN :subject_hash AND :subject_hash
            ORDER BY identity.subject_hash
            LIMIT 1) linked
      CROSS JOIN LATERAL (
           SELECT session.id, session.user_id
             FROM svc.session session
            WHERE session.tenant_id = :tenant
              AND session.user_id BETWEEN linked.user_id AND linked.user_id
              AND session.ended_at IS NULL
              AND session.connection_id = seen.connection_id
              AND session.upstream_subject = :subject_hash
              AND (:sid::bytea IS NULL OR session.upstream_sid IS NULL)
            ORDER BY session.user_id
              FOR UPDATE) own
), ended AS (
    UPDATE svc.session session
       SET ended_at = now()
     WHERE session.tenant_id = :tenant
       AND session.user_id BETWEEN (SELECT meant.user_id
                                      FROM meant
                                     ORDER BY meant.user_id
                                     LIMIT 1)
                               AND (SELECT meant.user_id
                                      FROM meant
                                     ORDER BY meant.user_id DESC
                                     LIMIT 1)
       AND session.id = ANY (ARRAY(SELECT meant.id FROM meant))
    RETURNING session.id
)
INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
SELECT 'session.revoked', 'session', ended.id::text, NULL,
       jsonb_build_object('connection', :key::text)
  FROM ended;
