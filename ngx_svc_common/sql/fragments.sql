-- Fragments of all folders.


-- fragment: tenant
-- What a tenant's id is compared with, in the words of the policies, so that both are one
-- condition, and a key that begins with it is looked up. Without a tenant it is nobody's id:
-- greatest() passes over a setting that is missing or empty. It is not NULL then, since the
-- planner would count on no rows, and a plan is for all executions.
greatest(current_setting('svc.tenant', true), '00000000-0000-0000-0000-000000000000')::uuid


-- fragment: tenant_or_null
-- The tenant of the transaction, or NULL: for what inserts, which asks whether there is one.
-- Behind a credential that was refused there is none, and nothing is stored.
nullif(current_setting('svc.tenant', true), '')::uuid


-- fragment: caller_is_user
-- Whether who calls does so by a user's session, and not by a token.
current_setting('svc.actor_type', true) = 'user'


-- fragment: caller_stale
-- Whether the caller is a user's session that is not fresh: for statements that find that a
-- fresh one is needed. Where all bodies of a route need one its flag says so instead.
(:caller_is_user AND current_setting('svc.fresh', true) IS DISTINCT FROM 'true')


-- fragment: notice
-- The row of a notice by mail to the user ":user", who is active and has this address here:
-- for LATERAL. It has none where no notice is wanted, and no "_to" where there is no such user.
SELECT :notice_tenant,
       coalesce(nullif(current_setting('svc.base_url', true), ''), :wanted_notice::text)
       || '/login?tenant=' || tenant.slug AS _link,
       account.user_name AS _to, account.display_name AS _name, account.locale AS _locale
  FROM svc.tenant tenant
  LEFT JOIN LATERAL (
       SELECT account.user_name, account.display_name, account.locale, account.status
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN :user AND :user
        ORDER BY account.id
        LIMIT 1) account ON account.status = 'active'
 WHERE tenant.id = :tenant AND :wanted_notice::text IS NOT NULL


-- fragment: notice_tenant
-- needs: tenant
-- What each mail has of the tenant. ":wanted_notice" is the base of its URLs, unless the tenant
-- has a domain that the request came to.
tenant.id AS _notice, tenant.name AS _tenant_name, tenant.slug AS _slug,
       tenant.branding ->> 'primary' AS _color,
       coalesce(nullif(current_setting('svc.base_url', true), ''), :wanted_notice::text)
       || '/v1/tenants/' || tenant.slug || '/logo?v=' || tenant.logo_etag AS _logo
