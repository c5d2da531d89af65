-- statement: admin_invitations_total
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   status         text ngx_svc_param_query_word("status", ngx_svc_admin_invitation_statuses)
SELECT count(*)
  FROM svc.invitation invitation
 WHERE invitation.tenant_id = :tenant
   AND coalesce(CASE
                    WHEN invitation.accepted_at IS NOT NULL THEN 'accepted'
                    WHEN invitation.revoked_at IS NOT NULL THEN 'revoked'
                    WHEN invitation.expires_at <= now() THEN 'expired'
                    ELSE 'pending'
                END = :status,
                true)
   AND (:q::text IS NULL
        OR strpos(lower(invitation.email), lower(:q)) > 0
        OR invitation.id::text = lower(:q));


-- statement: admin_invitations_list
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   status         text ngx_svc_param_query_word("status", ngx_svc_admin_invitation_statuses)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT invitation.id, invitation.email, invitation.role,
       array_to_json(invitation.group_ids) AS "groupIds",
       CASE
           WHEN invitation.accepted_at IS NOT NULL THEN 'accepted'
           WHEN invitation.revoked_at IS NOT NULL THEN 'revoked'
           WHEN invitation.expires_at <= now() THEN 'expired'
           ELSE 'pending'
       END AS status,
       invitation.invited_by_type AS "invitedBy.type", invitation.invited_by_id AS "invitedBy.id",
       invitation.invited_by_name AS "invitedBy.name", invitation.created_at AS "createdAt",
       invitation.expires_at AS "expiresAt"
  FROM svc.invitation invitation
 WHERE invitation.tenant_id = :tenant
   AND coalesce(CASE
                    WHEN invitation.accepted_at IS NOT NULL THEN 'accepted'
                    WHEN invitation.revoked_at IS NOT NULL THEN 'revoked'
                    WHEN invitation.expires_at <= now() THEN 'expired'
                    ELSE 'pending'
                END = :status,
                true)
   AND (:q::text IS NULL
        OR strpos(lower(invitation.email), lower(:q)) > 0
        OR invitation.id::text = lower(:q))
 ORDER BY invitation.created_at DESC, invitation.id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_invitations_get
--
-- missing: NGX_SVC_ADMIN_NO_INVITATION
-- parameters
--   invitation_id  uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INVITATION)
SELECT invitation.id, invitation.email, invitation.role,
       array_to_json(invitation.group_ids) AS "groupIds",
       CASE
           WHEN invitation.accepted_at IS NOT NULL THEN 'accepted'
           WHEN invitation.revoked_at IS NOT NULL THEN 'revoked'
           WHEN invitation.expires_at <= now() THEN 'expired'
           ELSE 'pending'
       END AS status,
       invitation.invited_by_type AS "invitedBy.type", invitation.invited_by_id AS "invitedBy.id",
       invitation.invited_by_name AS "invitedBy.name", invitation.created_at AS "createdAt",
       invitation.expires_at AS "expiresAt"
  FROM svc.invitation invitation
 WHERE invitation.tenant_id = :tenant AND invitation.id = :invitation_id;


-- statement: admin_invitations_expire
-- Of those that are over some of the oldest go; and of this address one that has expired,
-- which is in the way.
--
-- parameters
--   email          text ngx_svc_param_text(ngx_svc_admin_invitation_t, email)
DELETE FROM svc.invitation invitation
 WHERE invitation.tenant_id = :tenant
   AND invitation.id = ANY (
           ARRAY(SELECT old.id
                   FROM svc.invitation old
                  WHERE old.tenant_id = :tenant
                    AND old.created_at < now() - interval '90 days'
                    AND CASE
                            WHEN old.accepted_at IS NOT NULL THEN 'accepted'
                            WHEN old.revoked_at IS NOT NULL THEN 'revoked'
                            WHEN old.expires_at <= now() THEN 'expired'
                            ELSE 'pending'
                        END <> 'pending'
                  ORDER BY old.created_at
                  LIMIT 100)
           || ARRAY(SELECT (
                        SELECT expired.id
                          FROM svc.invitation expired
                         WHERE expired.tenant_id = :tenant
                           AND expired.email_key BETWEEN (SELECT svc.address_key(:email))
                                                     AND (SELECT svc.address_key(:email))
                           AND expired.accepted_at IS NULL
                           AND expired.revoked_at IS NULL
                           AND expired.expires_at <= now()
                         ORDER BY expired.email_key
                         LIMIT 1)));


-- fragment: invitation_made
-- columns
--   _verdict       text
--   id             uuid         answer
--   email          text         answer
--   role           text         answer
--   groupIds       json         answer
--   status         text         answer
--   invitedBy.type text         answer
--   invitedBy.id   text         answer
--   invitedBy.name text         answer
--   createdAt      timestamptz  answer
--   expiresAt      timestamptz  answer
--   _to            text         answer
--   _until         int8
--   _of            text


-- statement: admin_invitations_create
-- Roles, and invitations, stay as they are while svc.governance is locked. Whoever is
-- invited into groups is in them as if somebody had added him, and so that takes the right
-- to do so.
--
-- parameters
--   invitation_id  uuid  ngx_svc_param_new_id()
--   token_hash     bytea ngx_svc_param_call(ngx_svc_admin_invitation_bind_hash)
--   email          text  ngx_svc_param_text(ngx_svc_admin_invitation_t, email)
--   role           text  ngx_svc_param_text(ngx_svc_admin_invitation_t, role)
--   group_ids      text  ngx_svc_param_call(ngx_svc_admin_invitation_bind_groups)
--   days           int4  ngx_svc_param_integer(ngx_svc_admin_invitation_t, days)
--   wanted_notice  text  ngx_svc_param_notice()
-- verdicts
--   NGX_SVC_ADMIN_INVITATION_VERDICTS
--   group          invalid_value   "groupIds" must be ids of groups: there is no group %V.
--   pending        conflict        This address has been invited already: send that
--                                  invitation again, or revoke it.
-- columns
--   :invitation_made
--   _notice        uuid
--   _tenant_name   text
--   _slug          text
--   _color         text
--   _logo          text
WITH wanted AS (
    SELECT :tenant_or_null AS tenant,
           CASE
               WHEN NOT (:role IN ('owner', 'admin', 'member')
                         OR EXISTS (SELECT
                                      FROM svc.role role
                                     WHERE role.tenant_id = :tenant AND role.key = :role))
                   THEN 'unknown ' || :role
               WHEN (SELECT :role_beyond FROM (SELECT :role::text AS role) old) THEN 'lacks'
               WHEN NOT svc.token_acts(NULL, :role) THEN 'token'
               WHEN :group_ids::text <> '{}' AND 'groups:manage' <> ALL (:caller_permissions)
                   THEN 'grouped'
               WHEN missing.id IS NOT NULL THEN 'group ' || missing.id
               WHEN (SELECT account.id
                       FROM svc.user_account account
                      WHERE account.tenant_id = :tenant
                        AND account.user_name_key BETWEEN (SELECT svc.address_key(:email))
                                                      AND (SELECT svc.address_key(:email))
                      ORDER BY account.user_name_key
                      LIMIT 1) IS NOT NULL
                   THEN 'email'
               WHEN (SELECT invitation.id
                       FROM svc.invitation invitation
                      WHERE invitation.tenant_id = :tenant
                        AND invitation.email_key BETWEEN (SELECT svc.address_key(:email))
                                                     AND (SELECT svc.address_key(:email))
                        AND invitation.accepted_at IS NULL
                        AND invitation.revoked_at IS NULL
                      ORDER BY invitation.email_key
                      LIMIT 1) IS NOT NULL
                   THEN 'pending'
               WHEN (SELECT count(*)
                       FROM svc.invitation invitation
                      WHERE invitation.tenant_id = :tenant
                        AND invitation.accepted_at IS NULL
                        AND invitation.revoked_at IS NULL
                        AND invitation.expires_at > now()) >= 1000
                   THEN 'full'
           END AS verdict
      FROM (VALUES (1)) always
      LEFT JOIN (SELECT invited.id
                   FROM unnest(:group_ids::text::uuid[]) invited (id)
                  WHERE (SELECT true
                           FROM svc.user_group user_group
                          WHERE user_group.tenant_id = :tenant
                            AND user_group.id BETWEEN invited.id AND invited.id
                          ORDER BY user_group.id
                          LIMIT 1) IS NULL
                  LIMIT 1) missing ON true
), invitation AS (
    INSERT INTO svc.invitation AS invitation
        (tenant_id, id, token_hash, email, email_key, role, group_ids, days, expires_at)
    SELECT wanted.tenant, :invitation_id::uuid, :token_hash::bytea, :email,
           svc.address_key(:email), :role,
           ARRAY(SELECT DISTINCT invited.id FROM unnest(:group_ids::text::uuid[]) invited (id)),
           coalesce(:days::int4, 7), now() + coalesce(:days::int4, 7) * interval '24 hours'
      FROM wanted
     WHERE wanted.tenant IS NOT NULL AND wanted.verdict IS NULL
    RETURNING invitation.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'invitation.created', 'invitation', invitation.id::text, NULL,
           jsonb_build_object('role', invitation.role, 'groupIds', to_jsonb(invitation.group_ids))
      FROM invitation
)
SELECT wanted.verdict AS _verdict, invitation.id, invitation.email, invitation.role,
       array_to_json(invitation.group_ids) AS "groupIds",
       CASE
           WHEN invitation.accepted_at IS NOT NULL THEN 'accepted'
           WHEN invitation.revoked_at IS NOT NULL THEN 'revoked'
           WHEN invitation.expires_at <= now() THEN 'expired'
           ELSE 'pending'
       END AS status,
       invitation.invited_by_type AS "invitedBy.type", invitation.invited_by_id AS "invitedBy.id",
       invitation.invited_by_name AS "invitedBy.name", invitation.created_at AS "createdAt",
       invitation.expires_at AS "expiresAt", invitation.email AS _to,
       ceil(extract(epoch FROM invitation.expires_at))::bigint AS _until,
       (SELECT tenant.slug FROM svc.tenant tenant WHERE tenant.id = :tenant) AS _of,
       mail.*
  FROM wanted
  LEFT JOIN invitation ON true
  LEFT JOIN LATERAL (
       SELECT :notice_tenant
         FROM svc.tenant tenant
        WHERE tenant.id = :tenant AND :wanted_notice::text IS NOT NULL) mail
       ON invitation.id IS NOT NULL;


-- statement: admin_invitations_resend
-- Whoever gets a new link to give away might as well have invited: the same is asked.
--
-- missing: NGX_SVC_ADMIN_NO_INVITATION
-- parameters
--   invitation_id  uuid  ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INVITATION)
--   token_hash     bytea ngx_svc_param_call(ngx_svc_admin_invitation_bind_hash)
--   wanted_notice  text  ngx_svc_param_notice()
-- verdicts
--   NGX_SVC_ADMIN_INVITATION_VERDICTS
--   over           conflict        The invitation has been %V: make another one.
-- columns
--   :invitation_made
--   _notice        uuid
--   _tenant_name   text
--   _slug          text
--   _color         text
--   _logo          text
WITH old AS (
    SELECT *
      FROM svc.invitation
     WHERE tenant_id = :tenant AND id = :invitation_id
     FOR UPDATE
), decided AS (
    SELECT CASE
               WHEN :role_beyond THEN 'lacks'
               WHEN NOT svc.token_acts(NULL, old.role) THEN 'token'
               WHEN old.group_ids <> '{}' AND 'groups:manage' <> ALL (:caller_permissions)
                   THEN 'grouped'
               WHEN old.accepted_at IS NOT NULL THEN 'over accepted'
               WHEN old.revoked_at IS NOT NULL THEN 'over revoked'
               WHEN (SELECT account.id
                       FROM svc.user_account account
                      WHERE account.tenant_id = :tenant
                        AND account.user_name_key BETWEEN old.email_key AND old.email_key
                      ORDER BY account.user_name_key
                      LIMIT 1) IS NOT NULL
                   THEN 'email'
               WHEN old.expires_at <= now()
                    AND (SELECT count(*)
                           FROM svc.invitation invitation
                          WHERE invitation.tenant_id = :tenant
                            AND invitation.accepted_at IS NULL
                            AND invitation.revoked_at IS NULL
                            AND invitation.expires_at > now()) >= 1000
                   THEN 'full'
           END AS verdict
      FROM old
), renewed AS (
    UPDATE svc.invitation invitation
       SET token_hash = :token_hash::bytea,
           expires_at = now() + invitation.days * interval '24 hours'
      FROM decided
     WHERE invitation.tenant_id = :tenant
       AND invitation.id = :invitation_id
       AND decided.verdict IS NULL
    RETURNING invitation.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'invitation.resent', 'invitation', renewed.id::text, NULL, '{}'
      FROM renewed
)
SELECT decided.verdict AS _verdict, renewed.id, renewed.email, renewed.role,
       array_to_json(renewed.group_ids) AS "groupIds",
       CASE
           WHEN renewed.accepted_at IS NOT NULL THEN 'accepted'
           WHEN renewed.revoked_at IS NOT NULL THEN 'revoked'
           WHEN renewed.expires_at <= now() THEN 'expired'
           ELSE 'pending'
       END AS status,
       renewed.invited_by_type AS "invitedBy.type", renewed.invited_by_id AS "invitedBy.id",
       renewed.invited_by_name AS "invitedBy.name", renewed.created_at AS "createdAt",
       renewed.expires_at AS "expiresAt", renewed.email AS _to,
       ceil(extract(epoch FROM renewed.expires_at))::bigint AS _until,
       (SELECT tenant.slug FROM svc.tenant tenant WHERE tenant.id = :tenant) AS _of,
       mail.*
  FROM decided
  LEFT JOIN renewed ON true
  LEFT JOIN LATERAL (
       SELECT :notice_tenant
         FROM svc.tenant tenant
        WHERE tenant.id = :tenant AND :wanted_notice::text IS NOT NULL) mail
       ON renewed.id IS NOT NULL;


-- statement: admin_invitations_revoke
--
-- missing: NGX_SVC_ADMIN_NO_INVITATION
-- parameters
--   invitation_id  uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INVITATION)
-- verdicts
--   over           conflict        The invitation has been accepted: the account is a
--                                  member's.
WITH old AS (
    SELECT id, accepted_at
      FROM svc.invitation
     WHERE tenant_id = :tenant AND id = :invitation_id
     FOR UPDATE
), revoked AS (
    UPDATE svc.invitation invitation
       SET revoked_at = now()
     WHERE invitation.tenant_id = :tenant
       AND invitation.id = (SELECT old.id FROM old WHERE old.accepted_at IS NULL)
       AND invitation.revoked_at IS NULL
    RETURNING invitation.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'invitation.revoked', 'invitation', revoked.id::text, NULL, '{}'
      FROM revoked
)
SELECT CASE WHEN old.accepted_at IS NOT NULL THEN 'over' END AS _verdict
  FROM old;
