-- The statements set the tenant that the cookie names, and look there for the session,
-- under row-level security. Unless it does for the route they unset the tenant again. An
-- outer join "ON true" is a nested loop, which takes its left side first: were the tenant
-- not set before, there would be no session.
--
-- More than half of their time is that of the start of the nodes, and of each function
-- and operator in them, whose right to be called is looked up. So there are as few as
-- there can be: CURRENT_TIMESTAMP is none, now() is one. An OR of what is never NULL
-- makes all its parts.
--
-- Of the parameters, stages are those that may call the route, none of whose names is a
-- part of another; of permission NULL is none at all, and '' is any.


-- fragment: tenant_unset
-- Nothing behind a refused session sees a tenant that is not proved. It is NULL itself.
CASE WHEN set_config('svc.tenant', '', true) IS NULL THEN '' END


-- fragment: session_user
-- Rows of a FROM, of the parameters token_hash and session_idle: the session of a cookie,
-- that has not ended, and its user, who is active, and has not been cut off since it began;
-- or no row. Whether its tenant is suspended the row says, which triggers see to. A
-- sub-select with an order has its index looked up whatever the planner knows, and as it
-- names its columns, the key first, it is the index scan alone. With a plain "ended_at IS
-- NULL" session_live_idx would be as good to the planner.
(SELECT session.token_hash, session.tenant_id, session.user_id, session.stage,
        session.created_at, session.last_seen_at, session.mfa_at, session.reauth_at
   FROM svc.session session
  WHERE session.tenant_id = :tenant
    AND session.token_hash BETWEEN :token_hash AND :token_hash
    AND session.tenant_suspended_at IS NULL
    AND coalesce(session.ended_at, 'infinity') = 'infinity'
    AND coalesce(session.expires_at > CURRENT_TIMESTAMP, false)
    AND session.last_seen_at > CURRENT_TIMESTAMP - :session_idle::int4 * interval '1 second'
  ORDER BY session.token_hash OFFSET 0) session
CROSS JOIN LATERAL (
     SELECT account.id, account.role, account.mfa_enrolled, account.display_name,
            account.user_name
       FROM svc.user_account account
      WHERE account.tenant_id = :tenant
        AND account.id BETWEEN session.user_id AND session.user_id
        AND account.status = 'active'
        AND session.created_at >= coalesce(account.valid_after, '-infinity')
      ORDER BY account.id OFFSET 0) account


-- fragment: session_verdict
-- needs: session, account
-- What a route that changes something says of it. A role of the system has all
-- permissions, but "member", which has none; of other roles a function asks, for a scan
-- costs at the start whether it is needed or not. Who has a second factor has to have
-- shown it of late; without one a password does.
CASE
    WHEN strpos(:stages, session.stage) = 0 THEN session.stage
    WHEN NOT (account.role IN ('owner', 'admin')
              OR :permission::text IS NULL
              OR account.role <> 'member' AND svc.role_grants(account.role, :permission))
         THEN 'forbidden'
    WHEN :fresh_wanted
         AND session.stage = 'full'
         AND NOT coalesce(CASE
                              WHEN account.mfa_enrolled THEN session.mfa_at
                              ELSE greatest(session.mfa_at, session.reauth_at)
                          END > CURRENT_TIMESTAMP - :fresh_window::int4 * interval '1 second',
                          false) THEN 'stale'
    ELSE 'go'
END


-- fragment: session_judged
-- columns
--   :credential
--   verdict        text         "go", or why it is refused


-- statement: session_find
-- An op asks this that goes on with what a request was let in with: there is no verdict.
-- The session is that of session_user, and its user is not asked for again.
--
-- parameters
--   token_hash     bytea
--   tenant_id      text
--   session_idle   int4
SELECT CASE
           WHEN session.tenant_id IS NOT NULL THEN named.id
           ELSE :tenant_unset
       END AS tenant
  FROM (SELECT set_config('svc.tenant', :tenant_id, true) AS id) named
  LEFT JOIN (SELECT session.tenant_id
               FROM (SELECT session.token_hash, session.tenant_id, session.user_id, session.stage,
                            session.created_at, session.last_seen_at, session.mfa_at,
                            session.reauth_at
                       FROM svc.session session
                      WHERE session.tenant_id = :tenant
                        AND session.token_hash BETWEEN :token_hash AND :token_hash
                        AND session.tenant_suspended_at IS NULL
                        AND coalesce(session.ended_at, 'infinity') = 'infinity'
                        AND coalesce(session.expires_at > CURRENT_TIMESTAMP, false)
                        AND session.last_seen_at
                            > CURRENT_TIMESTAMP - :session_idle::int4 * interval '1 second'
                      ORDER BY session.token_hash OFFSET 0) session
             OFFSET 0) session ON true;


-- statement: session_read
--
-- parameters
--   token_hash     bytea
--   tenant_id      text
--   session_idle   int4
--   stages         text
--   permission     text
-- columns
--   :session_judged
SELECT CASE judged.verdict
           WHEN 'go' THEN named.id
           ELSE :tenant_unset
       END AS tenant,
       judged.old AS touch, judged.verdict
  FROM (SELECT set_config('svc.tenant', :tenant_id, true) AS id) named
  LEFT JOIN (SELECT session.tenant_id,
                    session.last_seen_at < CURRENT_TIMESTAMP - interval '1 minute' AS old,
                    CASE
                        WHEN strpos(:stages, session.stage) = 0 THEN session.stage
                        WHEN NOT (account.role IN ('owner', 'admin')
                                  OR :permission::text IS NULL
                                  OR account.role <> 'member'
                                     AND svc.role_grants(account.role, :permission))
                             THEN 'forbidden'
                        ELSE 'go'
                    END AS verdict
               FROM :session_user OFFSET 0) judged ON true;


-- statement: session_write
-- It says who acts as well, by the name of now, which what is written keeps: never by the
-- address, which an erasure is to take away. It may refuse whose factor is not fresh.
--
-- parameters
--   token_hash     bytea
--   tenant_id      text
--   session_idle   int4
--   stages         text
--   permission     text
--   fresh_wanted   bool
--   fresh_window   int4
--   client_ip      text
--   user_agent     text
--   request_id     text
-- columns
--   :session_judged
--   actor          bool
SELECT CASE judged.verdict
           WHEN 'go' THEN named.id
           ELSE :tenant_unset
       END AS tenant,
       judged.old AS touch, judged.verdict,
       CASE judged.verdict
           WHEN 'go'
                THEN set_config('svc.actor_type', 'user', true) IS NULL
                     OR set_config('svc.actor_id', judged.user_id::text, true) IS NULL
                     OR set_config('svc.actor_name', judged.name, true) IS NULL
                     OR set_config('svc.ip', :client_ip, true) IS NULL
                     OR set_config('svc.user_agent', :user_agent, true) IS NULL
                     OR set_config('svc.request_id', :request_id, true) IS NULL
       END AS actor
  FROM (SELECT set_config('svc.tenant', :tenant_id, true) AS id) named
  LEFT JOIN (SELECT session.tenant_id,
                    session.last_seen_at < CURRENT_TIMESTAMP - interval '1 minute' AS old,
                    :session_verdict AS verdict,
                    session.user_id,
                    account.display_name AS name
               FROM :session_user OFFSET 0) judged ON true;


-- statement: session_caller
-- It says in addition what the caller may do, and whether a factor is fresh, of routes
-- that only know from what they find what is needed.
--
-- parameters
--   token_hash     bytea
--   tenant_id      text
--   session_idle   int4
--   stages         text
--   permission     text
--   fresh_wanted   bool
--   fresh_window   int4
--   client_ip      text
--   user_agent     text
--   request_id     text
-- columns
--   :session_judged
--   actor          bool
SELECT CASE judged.verdict
           WHEN 'go' THEN named.id
           ELSE :tenant_unset
       END AS tenant,
       judged.old AS touch, judged.verdict,
       CASE judged.verdict
           WHEN 'go'
                THEN set_config('svc.actor_type', 'user', true) IS NULL
                     OR set_config('svc.actor_id', judged.user_id::text, true) IS NULL
                     OR set_config('svc.actor_name', judged.name, true) IS NULL
                     OR set_config('svc.ip', :client_ip, true) IS NULL
                     OR set_config('svc.user_agent', :user_agent, true) IS NULL
                     OR set_config('svc.request_id', :request_id, true) IS NULL
                     OR set_config('svc.permissions', judged.permissions::text, true) IS NULL
                     OR set_config('svc.fresh', judged.fresh::text, true) IS NULL
       END AS actor
  FROM (SELECT set_config('svc.tenant', :tenant_id, true) AS id) named
  LEFT JOIN (SELECT session.tenant_id,
                    session.last_seen_at < CURRENT_TIMESTAMP - interval '1 minute' AS old,
                    :session_verdict AS verdict,
                    session.user_id,
                    account.display_name AS name,
                    CASE
                        WHEN account.role IN ('owner', 'admin')
                             THEN (ARRAY['', 'apps:manage', 'audit:view', 'groups:manage',
                                         'members:manage', 'roles:manage', 'tenant:manage',
                                         'users:view'])[2:]
                        ELSE coalesce((SELECT role.permissions
                                         FROM svc.role role
                                        WHERE role.tenant_id = :tenant AND role.key = account.role),
                                      '{}')
                    END AS permissions,
                    coalesce(CASE
                                 WHEN account.mfa_enrolled THEN session.mfa_at
                                 ELSE greatest(session.mfa_at, session.reauth_at)
                             END > CURRENT_TIMESTAMP - :fresh_window::int4 * interval '1 second',
                             false) AS fresh
               FROM :session_user OFFSET 0) judged ON true;


-- statement: session_read_domain
-- This one and the next two are the same of requests whose Host might be a domain of the
-- tenant: then URLs begin with it.
--
-- parameters
--   token_hash     bytea
--   tenant_id      text
--   session_idle   int4
--   stages         text
--   permission     text
--   domain         text
--   domain_url     text
-- columns
--   :session_judged
--   _base_url      text
SELECT CASE judged.verdict
           WHEN 'go' THEN named.id
           ELSE :tenant_unset
       END AS tenant,
       judged.old AS touch, judged.verdict,
       (SELECT set_config('svc.base_url', :domain_url, true)
          FROM svc.domain domain
         WHERE domain.tenant_id = judged.tenant_id
           AND domain.domain = :domain
           AND domain.verified_at IS NOT NULL) AS _base_url
  FROM (SELECT set_config('svc.tenant', :tenant_id, true) AS id) named
  LEFT JOIN (SELECT session.tenant_id,
                    session.last_seen_at < CURRENT_TIMESTAMP - interval '1 minute' AS old,
                    CASE
                        WHEN strpos(:stages, session.stage) = 0 THEN session.stage
                        WHEN NOT (account.role IN ('owner', 'admin')
                                  OR :permission::text IS NULL
                                  OR account.role <> 'member'
                                     AND svc.role_grants(account.role, :permission))
                             THEN 'forbidden'
                        ELSE 'go'
                    END AS verdict
               FROM :session_user OFFSET 0) judged ON true;


-- statement: session_write_domain
--
-- parameters
--   token_hash     bytea
--   tenant_id      text
--   session_idle   int4
--   stages         text
--   permission     text
--   fresh_wanted   bool
--   fresh_window   int4
--   client_ip      text
--   user_agent     text
--   request_id     text
--   domain         text
--   domain_url     text
-- columns
--   :session_judged
--   actor          bool
--   _base_url      text
SELECT CASE judged.verdict
           WHEN 'go' THEN named.id
           ELSE :tenant_unset
       END AS tenant,
       judged.old AS touch, judged.verdict,
       CASE judged.verdict
           WHEN 'go'
                THEN set_config('svc.actor_type', 'user', true) IS NULL
                     OR set_config('svc.actor_id', judged.user_id::text, true) IS NULL
                     OR set_config('svc.actor_name', judged.name, true) IS NULL
                     OR set_config('svc.ip', :client_ip, true) IS NULL
                     OR set_config('svc.user_agent', :user_agent, true) IS NULL
                     OR set_config('svc.request_id', :request_id, true) IS NULL
       END AS actor,
       (SELECT set_config('svc.base_url', :domain_url, true)
          FROM svc.domain domain
         WHERE domain.tenant_id = judged.tenant_id
           AND domain.domain = :domain
           AND domain.verified_at IS NOT NULL) AS _base_url
  FROM (SELECT set_config('svc.tenant', :tenant_id, true) AS id) named
  LEFT JOIN (SELECT session.tenant_id,
                    session.last_seen_at < CURRENT_TIMESTAMP - interval '1 minute' AS old,
                    :session_verdict AS verdict,
                    session.user_id,
                    account.display_name AS name
               FROM :session_user OFFSET 0) judged ON true;


-- statement: session_caller_domain
--
-- parameters
--   token_hash     bytea
--   tenant_id      text
--   session_idle   int4
--   stages         text
--   permission     text
--   fresh_wanted   bool
--   fresh_window   int4
--   client_ip      text
--   user_agent     text
--   request_id     text
--   domain         text
--   domain_url     text
-- columns
--   :session_judged
--   actor          bool
--   _base_url      text
SELECT CASE judged.verdict
           WHEN 'go' THEN named.id
           ELSE :tenant_unset
       END AS tenant,
       judged.old AS touch, judged.verdict,
       CASE judged.verdict
           WHEN 'go'
                THEN set_config('svc.actor_type', 'user', true) IS NULL
                     OR set_config('svc.actor_id', judged.user_id::text, true) IS NULL
                     OR set_config('svc.actor_name', judged.name, true) IS NULL
                     OR set_config('svc.ip', :client_ip, true) IS NULL
                     OR set_config('svc.user_agent', :user_agent, true) IS NULL
                     OR set_config('svc.request_id', :request_id, true) IS NULL
                     OR set_config('svc.permissions', judged.permissions::text, true) IS NULL
                     OR set_config('svc.fresh', judged.fresh::text, true) IS NULL
       END AS actor,
       (SELECT set_config('svc.base_url', :domain_url, true)
          FROM svc.domain domain
         WHERE domain.tenant_id = judged.tenant_id
           AND domain.domain = :domain
           AND domain.verified_at IS NOT NULL) AS _base_url
  FROM (SELECT set_config('svc.tenant', :tenant_id, true) AS id) named
  LEFT JOIN (SELECT session.tenant_id,
                    session.last_seen_at < CURRENT_TIMESTAMP - interval '1 minute' AS old,
                    :session_verdict AS verdict,
                    session.user_id,
                    account.display_name AS name,
                    CASE
                        WHEN account.role IN ('owner', 'admin')
                             THEN (ARRAY['', 'apps:manage', 'audit:view', 'groups:manage',
                                         'members:manage', 'roles:manage', 'tenant:manage',
                                         'users:view'])[2:]
                        ELSE coalesce((SELECT role.permissions
                                         FROM svc.role role
                                        WHERE role.tenant_id = :tenant AND role.key = account.role),
                                      '{}')
                    END AS permissions,
                    coalesce(CASE
                                 WHEN account.mfa_enrolled THEN session.mfa_at
                                 ELSE greatest(session.mfa_at, session.reauth_at)
                             END > CURRENT_TIMESTAMP - :fresh_window::int4 * interval '1 second',
                             false) AS fresh
               FROM :session_user OFFSET 0) judged ON true;


-- statement: session_touch
-- A session counts as idle from its last use, which is written once a minute.
--
-- parameters
--   token_hash     bytea
UPDATE svc.session
   SET last_seen_at = now()
 WHERE tenant_id = :tenant
   AND (user_id, id) = (SELECT session.user_id, session.id
                          FROM svc.session session
                         WHERE session.tenant_id = :tenant
                           AND session.token_hash BETWEEN :token_hash AND :token_hash
                         ORDER BY session.token_hash
                         LIMIT 1)
   AND last_seen_at < now() - interval '1 minute';
