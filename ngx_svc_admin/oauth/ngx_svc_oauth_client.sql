-- What finds a client by the digest of its id or secret, and sets its tenant.
-- No table of a tenant is seen before svc.tenant is set.


-- statement: oauth_login
-- A secret that is retired sets no tenant: nothing behind it finds anything.
--
-- parameters
--   login_digest  bytea  ngx_svc_oauth_param(client.digest)
-- columns
--   :login_found
SELECT CASE
           WHEN login.retired_at <= now() THEN NULL
           ELSE set_config('svc.tenant', login.tenant_id::text, true)
       END AS tenant,
       coalesce(login.retired_at <= now(), false) AS retired
  FROM svc.oauth_login login
 WHERE login.digest = :login_digest;


-- statement: oauth_login_pinned
-- Where the location has a tenant, a client of another one is unknown.  The sub-select sets
-- the tenant before the select around it looks for that of the location; OFFSET 0 keeps it
-- so.
--
-- parameters
--   login_digest  bytea  ngx_svc_oauth_param(client.digest)
--   wanted_slug   text   ngx_svc_param_call(ngx_svc_oauth_client_bind_tenant)
-- columns
--   :login_found
SELECT CASE
           WHEN EXISTS (SELECT
                          FROM svc.tenant tenant
                         WHERE tenant.id = :tenant AND tenant.slug = :wanted_slug)
                THEN login.tenant
           ELSE nullif(set_config('svc.tenant', '', true), '')
       END AS tenant,
       login.retired
  FROM (SELECT CASE
                   WHEN login.retired_at <= now() THEN NULL
                   ELSE set_config('svc.tenant', login.tenant_id::text, true)
               END AS tenant,
               coalesce(login.retired_at <= now(), false) AS retired
          FROM svc.oauth_login login
         WHERE login.digest = :login_digest
        OFFSET 0) login;


-- statement: oauth_login_async
-- Nobody waits for the disk.
--
-- parameters
--   login_digest  bytea  ngx_svc_oauth_param(client.digest)
-- columns
--   :login_found
--   set_config     text         unread
SELECT CASE
           WHEN login.retired_at <= now() THEN NULL
           ELSE set_config('svc.tenant', login.tenant_id::text, true)
       END AS tenant,
       coalesce(login.retired_at <= now(), false) AS retired,
       set_config('synchronous_commit', 'off', true)
  FROM svc.oauth_login login
 WHERE login.digest = :login_digest;


-- statement: oauth_login_async_pinned
--
-- parameters
--   login_digest  bytea  ngx_svc_oauth_param(client.digest)
--   wanted_slug   text   ngx_svc_param_call(ngx_svc_oauth_client_bind_tenant)
-- columns
--   :login_found
--   set_config     text         unread
SELECT CASE
           WHEN EXISTS (SELECT
                          FROM svc.tenant tenant
                         WHERE tenant.id = :tenant AND tenant.slug = :wanted_slug)
                THEN login.tenant
           ELSE nullif(set_config('svc.tenant', '', true), '')
       END AS tenant,
       login.retired,
       set_config('synchronous_commit', 'off', true)
  FROM (SELECT CASE
                   WHEN login.retired_at <= now() THEN NULL
                   ELSE set_config('svc.tenant', login.tenant_id::text, true)
               END AS tenant,
               coalesce(login.retired_at <= now(), false) AS retired
          FROM svc.oauth_login login
         WHERE login.digest = :login_digest
        OFFSET 0) login;


-- statement: oauth_login_any
-- A retired secret finds its client as well, so that the refusal can be recorded; and what
-- the defaults of svc.audit_event read is set.  set_config() never returns NULL: all are
-- called.
--
-- parameters
--   login_digest  bytea  ngx_svc_oauth_param(client.digest)
--   wanted_slug   text   ngx_svc_param_call(ngx_svc_oauth_client_bind_tenant)
--   actor_type    text   ngx_svc_param_call(ngx_svc_oauth_client_bind_type)
--   client_id     text   ngx_svc_oauth_param(client.id)
--   ip            text   { .bind = ngx_svc_oauth_client_bind_from, .n = 0 }
--   user_agent    text   { .bind = ngx_svc_oauth_client_bind_from, .n = 1 }
--   request_id    text   { .bind = ngx_svc_oauth_client_bind_from, .n = 2 }
-- columns
--   :login_found
--   ?column?       bool         unread
SELECT CASE
           WHEN :wanted_slug::text IS NULL
                 OR EXISTS (SELECT
                              FROM svc.tenant tenant
                             WHERE tenant.id = :tenant AND tenant.slug = :wanted_slug)
                THEN login.tenant
           ELSE nullif(set_config('svc.tenant', '', true), '')
       END AS tenant,
       login.retired,
       set_config('svc.actor_type', :actor_type, true)
       || set_config('svc.actor_id', :client_id, true) || set_config('svc.ip', :ip, true)
       || set_config('svc.user_agent', :user_agent, true)
       || set_config('svc.request_id', :request_id, true) IS NULL
  FROM (SELECT set_config('svc.tenant', login.tenant_id::text, true) AS tenant,
               coalesce(login.retired_at <= now(), false) AS retired
          FROM svc.oauth_login login
         WHERE login.digest = :login_digest
        OFFSET 0) login;


-- statement: oauth_tenant
-- What comes in a later transaction of the same request has the tenant by then.
--
-- parameters
--   found_tenant  uuid   ngx_svc_oauth_param(tenant)
SELECT set_config('svc.tenant', :found_tenant::uuid::text, true);
