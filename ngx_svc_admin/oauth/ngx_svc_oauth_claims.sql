-- statement: oauth_claims
-- What claims are made of, by their names.  What can be made of these here is not made
-- here: an expression costs more than its column.
--
-- parameters
--   user_id  uuid   ngx_svc_oauth_param(about)
SELECT account.id AS sub, account.display_name AS name, account.first_name AS given_name,
       account.last_name AS family_name, account.locale,
       date_part('epoch', account.updated_at) AS updated_at, account.user_name AS email,
       account.email_verified, account.role AS roles
  FROM (SELECT account.id, account.display_name, account.first_name, account.last_name,
               account.locale, account.updated_at, account.user_name, account.email_verified,
               account.role
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant AND account.id BETWEEN :user_id::uuid AND :user_id::uuid
         ORDER BY account.id
         LIMIT 1) account;


-- statement: oauth_claims_groups
-- One more is read than is told: then they are too many.
--
-- parameters
--   user_id    uuid   ngx_svc_oauth_param(about)
--   client_id  text   ngx_svc_oauth_param(client.id)
-- columns
--   name           text
SELECT found.name
  FROM (SELECT user_group.name
          FROM (SELECT client.client_id, client.groups_claim
                  FROM svc.application client
                 WHERE client.tenant_id = :tenant
                   AND client.client_id BETWEEN :client_id::text AND :client_id::text
                 ORDER BY client.client_id
                 LIMIT 1) client
         CROSS JOIN LATERAL (
               SELECT member.group_id
                 FROM svc.group_member member
                WHERE member.tenant_id = :tenant
                  AND member.user_id BETWEEN :user_id::uuid AND :user_id::uuid
                ORDER BY member.user_id
               OFFSET 0) member
         CROSS JOIN LATERAL (
               SELECT user_group.name
                 FROM svc.user_group user_group
                WHERE user_group.tenant_id = :tenant
                  AND user_group.id BETWEEN member.group_id AND member.group_id
                ORDER BY user_group.id
                LIMIT 1) user_group
         WHERE client.groups_claim = 'all'
            OR EXISTS (SELECT
                         FROM (SELECT
                                 FROM svc.group_app assigned
                                WHERE assigned.tenant_id = :tenant
                                  AND (assigned.client_id, assigned.group_id)
                                      BETWEEN (client.client_id, member.group_id)
                                          AND (client.client_id, member.group_id)
                                ORDER BY assigned.client_id, assigned.group_id
                                LIMIT 1) assigned)
         LIMIT 1 + 200) found
 ORDER BY found.name COLLATE "C";
