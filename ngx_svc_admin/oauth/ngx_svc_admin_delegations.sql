-- The journal of delegations.  There is a statement for each filter that finds rows by an
-- index, and one pass has the page and the total, up to 10,000.  A range of one value keeps
-- its column in the order, and with it the index, which an equality would lose.


-- fragment: delegation_matches
-- needs: delegation
-- All filters.  The times are no coalesce(), which may leak, and would lose the index.
delegation.created_at
    >= CASE WHEN :from_ms::text IS NULL THEN '-infinity'
            ELSE to_timestamp(:from_ms::float8 / 1000) END
AND delegation.created_at
    < CASE WHEN :to_ms::text IS NULL THEN 'infinity' ELSE to_timestamp(:to_ms::float8 / 1000) END
AND (:client_id::text IS NULL OR delegation.client_id BETWEEN :client_id AND :client_id)
AND (:user_id::text IS NULL
     OR delegation.subject_id BETWEEN :user_id AND :user_id AND delegation.subject_type = 'user')
AND (:in_chain::text IS NULL OR :in_chain = ANY (delegation.chain))
AND (:token_id::uuid IS NULL OR delegation.token_jti BETWEEN :token_id AND :token_id)
AND (:root_id::uuid IS NULL OR delegation.root_jti BETWEEN :root_id AND :root_id)
AND (:outcome::text IS NULL OR delegation.outcome = :outcome)


-- fragment: delegation_page
-- needs: page
-- The rows of a page, each looked up by itself: a plain join, planned while a month was
-- nearly empty, would read all of it for each.
SELECT delegation.id, delegation.created_at AS "createdAt",
       delegation.client_id AS "actor.clientId", delegation.client_name AS "actor.name",
       delegation.subject_type AS "subject.type", delegation.subject_id AS "subject.id",
       account.user_name AS "subject.email", array_to_json(delegation.chain) AS chain,
       delegation.grant_type AS "grantType", delegation.audience,
       array_to_json(delegation.scopes) AS scopes, delegation.outcome, delegation.reason,
       delegation.token_jti AS "tokenId", delegation.parent_jti AS "parentTokenId",
       delegation.root_jti AS "rootTokenId", delegation.expires_at AS "expiresAt", delegation.ip,
       delegation.country
  FROM page
  CROSS JOIN LATERAL (
       SELECT delegation.*,
              CASE delegation.subject_type WHEN 'user' THEN delegation.subject_id::uuid END
                  AS user_id
         FROM svc.delegation delegation
        WHERE delegation.tenant_id = :tenant
          AND delegation.created_at = page.created_at
          AND delegation.id = page.id
        LIMIT 1) delegation
  LEFT JOIN LATERAL (
       SELECT account.user_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN delegation.user_id AND delegation.user_id
        ORDER BY account.id
        LIMIT 1) account ON true


-- statement: admin_delegations_all
--
-- when: ngx_svc_admin_delegations_all
-- parameters
--   client_id      text ngx_svc_param_data(ngx_svc_admin_delegations_t, client_id)
--   user_id        text ngx_svc_param_data(ngx_svc_admin_delegations_t, user_id)
--   in_chain       text ngx_svc_param_data(ngx_svc_admin_delegations_t, in_chain)
--   token_id       uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, token_id)
--   root_id        uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, root_id)
--   outcome        text ngx_svc_param_data(ngx_svc_admin_delegations_t, outcome)
--   from_ms        text ngx_svc_param_data(ngx_svc_admin_delegations_t, from)
--   to_ms          text ngx_svc_param_data(ngx_svc_admin_delegations_t, to)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
WITH found AS MATERIALIZED (
    SELECT delegation.created_at, delegation.id
      FROM svc.delegation delegation
     WHERE delegation.tenant_id = :tenant
       AND :delegation_matches
     ORDER BY delegation.created_at DESC, delegation.id DESC
     LIMIT greatest(10000, :page_limit::int4::int8 + :page_offset::int4)
), page AS MATERIALIZED (
    SELECT *
      FROM found
     ORDER BY created_at DESC, id DESC
     LIMIT :page_limit::int4 OFFSET :page_offset::int4
)
SELECT counted.total AS _total, shown.*
  FROM (SELECT least(count(*), 10000) AS total FROM found) counted
  LEFT JOIN (:delegation_page) shown ON true
 ORDER BY shown."createdAt" DESC, shown.id DESC;


-- statement: admin_delegations_client
--
-- when: ngx_svc_admin_delegations_client
-- parameters
--   client_id      text ngx_svc_param_data(ngx_svc_admin_delegations_t, client_id)
--   user_id        text ngx_svc_param_data(ngx_svc_admin_delegations_t, user_id)
--   in_chain       text ngx_svc_param_data(ngx_svc_admin_delegations_t, in_chain)
--   token_id       uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, token_id)
--   root_id        uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, root_id)
--   outcome        text ngx_svc_param_data(ngx_svc_admin_delegations_t, outcome)
--   from_ms        text ngx_svc_param_data(ngx_svc_admin_delegations_t, from)
--   to_ms          text ngx_svc_param_data(ngx_svc_admin_delegations_t, to)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
WITH found AS MATERIALIZED (
    SELECT delegation.created_at, delegation.id
      FROM svc.delegation delegation
     WHERE delegation.tenant_id = :tenant
       AND delegation.client_id BETWEEN :client_id AND :client_id
       AND :delegation_matches
     ORDER BY delegation.client_id DESC, delegation.created_at DESC, delegation.id DESC
     LIMIT greatest(10000, :page_limit::int4::int8 + :page_offset::int4)
), page AS MATERIALIZED (
    SELECT *
      FROM found
     ORDER BY created_at DESC, id DESC
     LIMIT :page_limit::int4 OFFSET :page_offset::int4
)
SELECT counted.total AS _total, shown.*
  FROM (SELECT least(count(*), 10000) AS total FROM found) counted
  LEFT JOIN (:delegation_page) shown ON true
 ORDER BY shown."createdAt" DESC, shown.id DESC;


-- statement: admin_delegations_user
--
-- when: ngx_svc_admin_delegations_user
-- parameters
--   client_id      text ngx_svc_param_data(ngx_svc_admin_delegations_t, client_id)
--   user_id        text ngx_svc_param_data(ngx_svc_admin_delegations_t, user_id)
--   in_chain       text ngx_svc_param_data(ngx_svc_admin_delegations_t, in_chain)
--   token_id       uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, token_id)
--   root_id        uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, root_id)
--   outcome        text ngx_svc_param_data(ngx_svc_admin_delegations_t, outcome)
--   from_ms        text ngx_svc_param_data(ngx_svc_admin_delegations_t, from)
--   to_ms          text ngx_svc_param_data(ngx_svc_admin_delegations_t, to)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
WITH found AS MATERIALIZED (
    SELECT delegation.created_at, delegation.id
      FROM svc.delegation delegation
     WHERE delegation.tenant_id = :tenant
       AND delegation.subject_id BETWEEN :user_id AND :user_id
       AND :delegation_matches
     ORDER BY delegation.subject_id DESC, delegation.created_at DESC, delegation.id DESC
     LIMIT greatest(10000, :page_limit::int4::int8 + :page_offset::int4)
), page AS MATERIALIZED (
    SELECT *
      FROM found
     ORDER BY created_at DESC, id DESC
     LIMIT :page_limit::int4 OFFSET :page_offset::int4
)
SELECT counted.total AS _total, shown.*
  FROM (SELECT least(count(*), 10000) AS total FROM found) counted
  LEFT JOIN (:delegation_page) shown ON true
 ORDER BY shown."createdAt" DESC, shown.id DESC;


-- statement: admin_delegations_root
--
-- when: ngx_svc_admin_delegations_root
-- parameters
--   client_id      text ngx_svc_param_data(ngx_svc_admin_delegations_t, client_id)
--   user_id        text ngx_svc_param_data(ngx_svc_admin_delegations_t, user_id)
--   in_chain       text ngx_svc_param_data(ngx_svc_admin_delegations_t, in_chain)
--   token_id       uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, token_id)
--   root_id        uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, root_id)
--   outcome        text ngx_svc_param_data(ngx_svc_admin_delegations_t, outcome)
--   from_ms        text ngx_svc_param_data(ngx_svc_admin_delegations_t, from)
--   to_ms          text ngx_svc_param_data(ngx_svc_admin_delegations_t, to)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
WITH found AS MATERIALIZED (
    SELECT delegation.created_at, delegation.id
      FROM svc.delegation delegation
     WHERE delegation.tenant_id = :tenant
       AND delegation.root_jti BETWEEN :root_id AND :root_id
       AND :delegation_matches
     ORDER BY delegation.root_jti DESC, delegation.created_at DESC, delegation.id DESC
     LIMIT greatest(10000, :page_limit::int4::int8 + :page_offset::int4)
), page AS MATERIALIZED (
    SELECT *
      FROM found
     ORDER BY created_at DESC, id DESC
     LIMIT :page_limit::int4 OFFSET :page_offset::int4
)
SELECT counted.total AS _total, shown.*
  FROM (SELECT least(count(*), 10000) AS total FROM found) counted
  LEFT JOIN (:delegation_page) shown ON true
 ORDER BY shown."createdAt" DESC, shown.id DESC;


-- statement: admin_delegations_token
-- Some rows at most: a token is given once, and may be refused some times.
--
-- when: ngx_svc_admin_delegations_of_token
-- parameters
--   client_id      text ngx_svc_param_data(ngx_svc_admin_delegations_t, client_id)
--   user_id        text ngx_svc_param_data(ngx_svc_admin_delegations_t, user_id)
--   in_chain       text ngx_svc_param_data(ngx_svc_admin_delegations_t, in_chain)
--   token_id       uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, token_id)
--   root_id        uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, root_id)
--   outcome        text ngx_svc_param_data(ngx_svc_admin_delegations_t, outcome)
--   from_ms        text ngx_svc_param_data(ngx_svc_admin_delegations_t, from)
--   to_ms          text ngx_svc_param_data(ngx_svc_admin_delegations_t, to)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
WITH found AS MATERIALIZED (
    SELECT delegation.created_at, delegation.id
      FROM svc.delegation delegation
     WHERE delegation.tenant_id = :tenant
       AND delegation.token_jti BETWEEN :token_id AND :token_id
       AND :delegation_matches
     ORDER BY delegation.token_jti DESC, delegation.created_at DESC, delegation.id DESC
     LIMIT greatest(10000, :page_limit::int4::int8 + :page_offset::int4)
), page AS MATERIALIZED (
    SELECT *
      FROM found
     ORDER BY created_at DESC, id DESC
     LIMIT :page_limit::int4 OFFSET :page_offset::int4
)
SELECT counted.total AS _total, shown.*
  FROM (SELECT least(count(*), 10000) AS total FROM found) counted
  LEFT JOIN (:delegation_page) shown ON true
 ORDER BY shown."createdAt" DESC, shown.id DESC;


-- statement: admin_delegations_chain
-- The function looks for who acts by an index of its own.  Who asks for a client, a user, a
-- token or a root as well is served by a statement above.
--
-- when: ngx_svc_admin_delegations_chain
-- parameters
--   client_id      text ngx_svc_param_data(ngx_svc_admin_delegations_t, client_id)
--   user_id        text ngx_svc_param_data(ngx_svc_admin_delegations_t, user_id)
--   in_chain       text ngx_svc_param_data(ngx_svc_admin_delegations_t, in_chain)
--   token_id       uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, token_id)
--   root_id        uuid ngx_svc_param_data(ngx_svc_admin_delegations_t, root_id)
--   outcome        text ngx_svc_param_data(ngx_svc_admin_delegations_t, outcome)
--   from_ms        text ngx_svc_param_data(ngx_svc_admin_delegations_t, from)
--   to_ms          text ngx_svc_param_data(ngx_svc_admin_delegations_t, to)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
WITH found AS MATERIALIZED (
    SELECT delegation.created_at, delegation.id
      FROM svc.delegation_chain(
               :in_chain, :outcome,
               CASE WHEN :from_ms::text IS NULL THEN '-infinity'
                    ELSE to_timestamp(:from_ms::float8 / 1000) END,
               CASE WHEN :to_ms::text IS NULL THEN 'infinity'
                    ELSE to_timestamp(:to_ms::float8 / 1000) END,
               greatest(10000, :page_limit::int4::int8 + :page_offset::int4)::int4) delegation
     WHERE :client_id::text IS NULL AND :user_id::text IS NULL
       AND :token_id::uuid IS NULL AND :root_id::uuid IS NULL
), page AS MATERIALIZED (
    SELECT *
      FROM found
     ORDER BY created_at DESC, id DESC
     LIMIT :page_limit::int4 OFFSET :page_offset::int4
)
SELECT counted.total AS _total, shown.*
  FROM (SELECT least(count(*), 10000) AS total FROM found) counted
  LEFT JOIN (:delegation_page) shown ON true
 ORDER BY shown."createdAt" DESC, shown.id DESC;
