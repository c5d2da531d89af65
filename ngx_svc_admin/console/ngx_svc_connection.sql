-- A connection is a row of svc.social, svc.saml_sp or svc.ldap. What they have in common are
-- columns of the same names. A request that writes one has three statements: the lock, what
-- judges the body, and what stores it; the one of GET is behind them, and is the answer.


-- fragment: connection_good
-- Whether admin_connection_judge has found nothing.
current_setting('svc.verdict', true) = ''


-- fragment: connection_by_owner
-- Whether admin_connection_judge has found that an owner calls.
current_setting('svc.owner', true) = 'true'


-- fragment: connection_shown
-- needs: connection
-- What an answer has of any connection, behind what it has of its kind. A proof of it does for
-- people who may do no more than the last one who has said whose identities it brings.
CASE
    WHEN connection.vouched_owner THEN 'owners'
    WHEN connection.vouched @> ARRAY['apps:manage', 'audit:view', 'groups:manage',
                                     'members:manage', 'roles:manage', 'tenant:manage',
                                     'users:view'] THEN 'admins'
    ELSE 'members'
END AS covers,
connection.label, array_to_json(connection.domains) AS domains, 'member' AS "jitRole",
coalesce(connection.link_by_email, 'owned') AS "linkByEmail",
coalesce(connection.trust_mfa, false) AS "trustMfa",
array_to_json(connection.mfa_contexts) AS "mfaContexts",
coalesce(connection.show_on_page, false) AS "showOnPage",
coalesce(connection.group_mapping, '[]') AS "groupMapping"


-- statement: admin_connections_lock (shared)
-- Who writes a connection waits here for who writes another: each sees what is committed.
SELECT pg_advisory_xact_lock(hashtext('svc.connection'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_connection_judge (shared)
-- Says of a body what is wrong whatever the connection is, and leaves that, or what was wrong
-- before, to the statement that stores the connection; and whether the caller is an owner by a
-- session. A domain
-- that is verified no more when that runs, or later, is none of the tenant's for whoever
-- signs in.
--
-- parameters
--   said           text ngx_svc_param_data(ngx_svc_connection_said_t, said)
--   keep_links     bool ngx_svc_param_boolean(ngx_svc_connection_t, keep_links)
-- verdicts
--   links          forbidden       "keepLinks" takes the session of an owner.
--   domain         invalid_value   "domains" must be domains that the tenant has verified,
--                                  and %V is none.
--   group          invalid_value   "groupMapping" must name groups of the tenant: there is no
--                                  group %V.
WITH caller AS (
    SELECT coalesce(:caller_is_user
                    AND (SELECT account.role
                           FROM svc.user_account account
                          WHERE account.tenant_id = :tenant
                            AND account.id
                                BETWEEN nullif(current_setting('svc.actor_id', true), '')::uuid
                                    AND nullif(current_setting('svc.actor_id', true), '')::uuid
                          ORDER BY account.id
                          LIMIT 1) = 'owner', false) AS owner
), judged AS (
    SELECT set_config('svc.owner', caller.owner::text, true) AS owner,
           CASE
               WHEN :keep_links::bool AND NOT caller.owner THEN 'links'
               ELSE coalesce(
                   (SELECT 'domain ' || named.domain
                      FROM jsonb_array_elements_text(
                               nullif(:said::text::jsonb -> 'domains', 'null')) named (domain)
                     WHERE (SELECT domain.verified_at
                              FROM svc.domain domain
                             WHERE domain.tenant_id = :tenant
                               AND domain.domain BETWEEN named.domain AND named.domain
                             ORDER BY domain.domain
                             LIMIT 1) IS NULL
                     LIMIT 1),
                   (SELECT 'group ' || mapped.id
                      FROM (SELECT (entry ->> 'groupId')::uuid AS id
                              FROM jsonb_array_elements(:said::text::jsonb -> 'group_mapping') entry
                            OFFSET 0) mapped
                     WHERE (SELECT true
                              FROM svc.user_group user_group
                             WHERE user_group.tenant_id = :tenant
                               AND user_group.id BETWEEN mapped.id AND mapped.id
                             ORDER BY user_group.id
                             LIMIT 1) IS NULL
                     LIMIT 1))
           END AS verdict
      FROM caller
)
SELECT nullif(set_config('svc.verdict', coalesce(nullif(current_setting('svc.verdict', true), ''),
                                                 judged.verdict, ''), true), '') AS _verdict,
       judged.owner AS _owner
  FROM judged
 WHERE :tenant_or_null IS NOT NULL;
