-- statement: invitation_lookup
-- It is said what the account will be: a role that has gone is that of a member, and the
-- password is to be as that of a user of the invitation's groups.
-- An invitation is good while it is open, and nobody has its address.
--
-- parameters
--   token          bytea ngx_svc_invitation_param(token)
SELECT invitation.email,
       CASE
           WHEN invitation.role IN ('owner', 'admin', 'member')
                OR EXISTS (SELECT
                             FROM svc.role role
                            WHERE role.tenant_id = :tenant AND role.key = invitation.role)
               THEN invitation.role
           ELSE 'member'
       END AS role,
       tenant.slug AS "tenant.slug", tenant.name AS "tenant.name",
       rules.min_length AS "passwordPolicy.minLength",
       rules.require_lower AS "passwordPolicy.requireLower",
       rules.require_upper AS "passwordPolicy.requireUpper",
       rules.require_digit AS "passwordPolicy.requireDigit",
       rules.require_symbol AS "passwordPolicy.requireSymbol",
       rules.reject_breached AS "passwordPolicy.rejectBreached",
       rules.reject_contextual AS "passwordPolicy.rejectContextual"
  FROM (SELECT invitation.*
          FROM svc.invitation invitation
         WHERE invitation.tenant_id = :tenant AND invitation.token_hash BETWEEN :token AND :token
         ORDER BY invitation.token_hash
         LIMIT 1) invitation
  JOIN svc.tenant tenant ON tenant.id = invitation.tenant_id
  JOIN svc.governance governance ON governance.tenant_id = invitation.tenant_id
  CROSS JOIN LATERAL (
       SELECT coalesce(max(policy.min_length), governance.min_length) AS min_length,
              coalesce(max(policy.history_count), governance.history_count) AS history_count,
              coalesce(bool_or(policy.reject_breached), governance.reject_breached)
                  AS reject_breached,
              coalesce(bool_or(policy.reject_contextual), governance.reject_contextual)
                  AS reject_contextual,
              coalesce(bool_or(policy.require_lower), governance.require_lower) AS require_lower,
              coalesce(bool_or(policy.require_upper), governance.require_upper) AS require_upper,
              coalesce(bool_or(policy.require_digit), governance.require_digit) AS require_digit,
              coalesce(bool_or(policy.require_symbol), governance.require_symbol) AS require_symbol
         FROM svc.group_password_policy policy
        WHERE policy.tenant_id = invitation.tenant_id
          AND policy.group_id = ANY (invitation.group_ids)) rules
 WHERE invitation.accepted_at IS NULL
   AND invitation.revoked_at IS NULL
   AND invitation.expires_at > now()
   AND (SELECT account.id
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant
           AND account.user_name_key BETWEEN invitation.email_key AND invitation.email_key
         ORDER BY account.user_name_key
         LIMIT 1) IS NULL;


-- statement: invitation_read
-- The same, of whoever accepts it: these are the columns of ngx_svc_new_password_job().
--
-- parameters
--   client_ip      text  ngx_svc_login_param(client.ip)
--   token          bytea ngx_svc_invitation_param(token)
--   display_name   text  ngx_svc_account_param(display_name)
-- columns
--   :login_denied
--   _email            text
--   _first            text
--   _last             text
--   _display          text
--   _slug             text
--   _name             text
--   min_length        int4
--   history_count     int4         unread
--   reject_breached   bool
--   reject_contextual bool
--   require_lower     bool
--   require_upper     bool
--   require_digit     bool
--   require_symbol    bool
--   _hash             text
--   _history          text
--   forced            bool
SELECT :login_governance, NULL::bigint AS locked, invitation.email AS _email, NULL::text AS _first,
       NULL::text AS _last, :display_name::text AS _display, tenant.slug AS _slug,
       tenant.name AS _name, rules.*, NULL::text AS _hash, NULL::text AS _history,
       svc.sign_in_by(tenant.id, tenant.sign_in_forced, invitation.email) IS NOT NULL AS forced
  FROM (SELECT invitation.*
          FROM svc.invitation invitation
         WHERE invitation.tenant_id = :tenant AND invitation.token_hash BETWEEN :token AND :token
         ORDER BY invitation.token_hash
         LIMIT 1) invitation
  JOIN svc.tenant tenant ON tenant.id = invitation.tenant_id
  JOIN svc.governance governance ON governance.tenant_id = invitation.tenant_id
  CROSS JOIN LATERAL (
       SELECT coalesce(max(policy.min_length), governance.min_length) AS min_length,
              coalesce(max(policy.history_count), governance.history_count) AS history_count,
              coalesce(bool_or(policy.reject_breached), governance.reject_breached)
                  AS reject_breached,
              coalesce(bool_or(policy.reject_contextual), governance.reject_contextual)
                  AS reject_contextual,
              coalesce(bool_or(policy.require_lower), governance.require_lower) AS require_lower,
              coalesce(bool_or(policy.require_upper), governance.require_upper) AS require_upper,
              coalesce(bool_or(policy.require_digit), governance.require_digit) AS require_digit,
              coalesce(bool_or(policy.require_symbol), governance.require_symbol) AS require_symbol
         FROM svc.group_password_policy policy
        WHERE policy.tenant_id = invitation.tenant_id
          AND policy.group_id = ANY (invitation.group_ids)) rules
 WHERE invitation.accepted_at IS NULL
   AND invitation.revoked_at IS NULL
   AND invitation.expires_at > now()
   AND (SELECT account.id
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant
           AND account.user_name_key BETWEEN invitation.email_key AND invitation.email_key
         ORDER BY account.user_name_key
         LIMIT 1) IS NULL;


-- statement: invitation_lock (shared)
-- The write begins: it takes its locks in their order, the invitation's before those of
-- its groups.
--
-- parameters
--   token          bytea ngx_svc_invitation_param(token)
SELECT
  FROM (SELECT invitation.*
          FROM svc.invitation invitation
         WHERE invitation.tenant_id = :tenant AND invitation.token_hash BETWEEN :token AND :token
         ORDER BY invitation.token_hash
         LIMIT 1
         FOR UPDATE) invitation;


-- statement: invitation_groups (shared)
-- Its groups are locked in the order of their ids, by all who lock several.
--
-- parameters
--   token          bytea ngx_svc_invitation_param(token)
SELECT user_group.id
  FROM (SELECT invited.id
          FROM (SELECT invitation.*
                  FROM svc.invitation invitation
                 WHERE invitation.tenant_id = :tenant
                   AND invitation.token_hash BETWEEN :token AND :token
                 ORDER BY invitation.token_hash
                 LIMIT 1) invitation
          CROSS JOIN LATERAL unnest(invitation.group_ids) invited (id)
         ORDER BY invited.id OFFSET 0) invited
  CROSS JOIN LATERAL (
       SELECT user_group.id
         FROM svc.user_group user_group
        WHERE user_group.tenant_id = :tenant
          AND user_group.id BETWEEN invited.id AND invited.id
        ORDER BY user_group.id
        LIMIT 1
        FOR NO KEY UPDATE) user_group;


-- statement: invitation_user (shared)
-- The account is made of an invitation that is as good as it was when it was read, and gets
-- its groups but those that have gone meanwhile. Without such an invitation there is no tenant
-- for the rest.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   display_name   text  ngx_svc_account_param(display_name)
--   stage_name     text  ngx_svc_login_param(written.stage)
--   token          bytea ngx_svc_invitation_param(token)
-- columns
--   :account_stored
--   settings_set   bool         unread
WITH invitation AS MATERIALIZED (
    SELECT invitation.*
      FROM svc.invitation invitation
     WHERE invitation.tenant_id = :tenant AND invitation.token_hash BETWEEN :token AND :token
     ORDER BY invitation.token_hash
     LIMIT 1
), account AS (
    INSERT INTO svc.user_account
        (tenant_id, id, user_name, display_name, role, email_verified, source, last_login_at)
    SELECT :tenant, :user::uuid, invitation.email, :display_name,
           CASE
               WHEN invitation.role IN ('owner', 'admin', 'member')
                    OR EXISTS (SELECT
                                 FROM svc.role role
                                WHERE role.tenant_id = :tenant AND role.key = invitation.role)
                   THEN invitation.role
               ELSE 'member'
           END,
           true, 'invitation', CASE :stage_name WHEN 'full' THEN now() END
      FROM invitation
     WHERE invitation.accepted_at IS NULL
       AND invitation.revoked_at IS NULL
       AND invitation.expires_at > now()
       AND (SELECT account.id
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant
               AND account.user_name_key BETWEEN invitation.email_key AND invitation.email_key
             ORDER BY account.user_name_key
             LIMIT 1) IS NULL
    ON CONFLICT DO NOTHING
    RETURNING id, user_name, role
), member AS (
    INSERT INTO svc.group_member (tenant_id, group_id, user_id)
    SELECT invitation.tenant_id, user_group.id, account.id
      FROM invitation, account, LATERAL unnest(invitation.group_ids) invited (id)
      CROSS JOIN LATERAL (
           SELECT user_group.id
             FROM svc.user_group user_group
            WHERE user_group.tenant_id = :tenant
              AND user_group.id BETWEEN invited.id AND invited.id
            ORDER BY user_group.id
            LIMIT 1) user_group
), accepted AS (
    UPDATE svc.invitation accepted
       SET accepted_at = now(), accepted_by = account.id
      FROM invitation, account
     WHERE accepted.tenant_id = :tenant AND accepted.id = invitation.id
), event AS (
    INSERT INTO svc.audit_event
        (actor_type, actor_id, action, target_type, target_id, target_name, details)
    SELECT 'user', account.id::text, 'user.created', 'user', account.id::text, NULL,
           '{"source":"invitation"}'::jsonb
      FROM account
    UNION ALL
    SELECT 'user', account.id::text, 'invitation.accepted', 'invitation', invitation.id::text,
           NULL,
           jsonb_build_object('userId', account.id,
                              'role', account.role,
                              'invitedRole', invitation.role,
                              'groupIds', invitation.group_ids,
                              'invitedBy', jsonb_build_object('type', invitation.invited_by_type,
                                                              'id', invitation.invited_by_id))
      FROM invitation, account
)
SELECT account.id AS _user, account.user_name AS _email, now()::timestamptz(3) AS _at,
       array_to_string(ARRAY(SELECT endpoint.id
                               FROM svc.webhook_endpoint endpoint
                              WHERE endpoint.tenant_id = :tenant
                                AND endpoint.enabled
                                AND 'user.created' = ANY (endpoint.events)),
                       ',') AS _subscribers,
       CASE
           WHEN account.id IS NULL THEN set_config('svc.tenant', '', true)
           ELSE set_config('svc.actor_type', 'user', true)
                || set_config('svc.actor_id', account.id::text, true)
       END IS NULL AS settings_set
  FROM (VALUES (1)) always
  LEFT JOIN account ON true;
