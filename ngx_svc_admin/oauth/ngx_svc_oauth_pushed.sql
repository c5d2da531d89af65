-- The request that a request_uri stands for.  The browser that opens it first has it for
-- an hour; the page's calls, and what it comes back with, are of the same browser.


-- fragment: pushed
-- columns
--   params         text
--   jkt            bytea
--   used           bool
--   opened         text
--   age            text


-- statement: oauth_par_read
-- "opened" is when that was, since the epoch, and "age" how many seconds ago.
--
-- parameters
--   pushed_digest   bytea  ngx_svc_oauth_request_param(pushed)
--   client_id       text   ngx_svc_oauth_request_param(oauth.client.id)
--   browser_digest  bytea  ngx_svc_oauth_request_param(browser)
-- columns
--   :pushed
SELECT pushed.params, pushed.jkt, pushed.used_at IS NOT NULL AS used,
       extract(epoch FROM pushed.expires_at - make_interval(secs => 3600))::text AS opened,
       floor(extract(epoch FROM now() - (pushed.expires_at - make_interval(secs => 3600))))::text
           AS age
  FROM (SELECT pushed.client_id, pushed.params, pushed.jkt, pushed.browser, pushed.used_at,
               pushed.expires_at
          FROM svc.oauth_par pushed
         WHERE pushed.tenant_id = :tenant
           AND pushed.digest BETWEEN :pushed_digest::bytea AND :pushed_digest::bytea
         ORDER BY pushed.digest
         LIMIT 1) pushed
 WHERE pushed.client_id = :client_id
   AND pushed.browser = :browser_digest::bytea
   AND pushed.expires_at > now();


-- statement: oauth_par_open
-- The row is locked: of two that come at once, as those of a browser that loads a page
-- ahead do, the second one finds what the first has made of it.
--
-- parameters
--   pushed_digest   bytea  ngx_svc_oauth_request_param(pushed)
--   client_id       text   ngx_svc_oauth_request_param(oauth.client.id)
--   browser_digest  bytea  ngx_svc_oauth_request_param(browser)
-- columns
--   :pushed
WITH wanted AS (
    SELECT pushed.client_id, pushed.params, pushed.jkt, pushed.browser, pushed.used_at,
           pushed.expires_at
      FROM svc.oauth_par pushed
     WHERE pushed.tenant_id = :tenant
       AND pushed.digest BETWEEN :pushed_digest::bytea AND :pushed_digest::bytea
     ORDER BY pushed.digest
     LIMIT 1
     FOR UPDATE
), opened AS (
    UPDATE svc.oauth_par pushed
       SET browser = :browser_digest::bytea, expires_at = now() + make_interval(secs => 3600)
      FROM wanted
     WHERE wanted.client_id = :client_id
       AND wanted.browser IS NULL
       AND wanted.used_at IS NULL
       AND wanted.expires_at > now()
       AND pushed.tenant_id = :tenant
       AND pushed.digest BETWEEN :pushed_digest::bytea AND :pushed_digest::bytea
    RETURNING pushed.params, pushed.jkt, pushed.used_at
)
SELECT opened.params, opened.jkt, opened.used_at IS NOT NULL AS used,
       extract(epoch FROM now())::text AS opened,
       floor(extract(epoch FROM now() - (now())))::text AS age
  FROM opened
UNION ALL
SELECT wanted.params, wanted.jkt, wanted.used_at IS NOT NULL AS used,
       extract(epoch FROM wanted.expires_at - make_interval(secs => 3600))::text AS opened,
       floor(extract(epoch FROM now() - (wanted.expires_at - make_interval(secs => 3600))))::text
           AS age
  FROM wanted
 WHERE wanted.client_id = :client_id
   AND wanted.browser = :browser_digest::bytea
   AND wanted.expires_at > now();


-- statement: oauth_par_spend
--
-- parameters
--   pushed_digest  bytea  ngx_svc_oauth_request_param(pushed)
UPDATE svc.oauth_par pushed
   SET used_at = now()
 WHERE pushed.tenant_id = :tenant
   AND pushed.digest BETWEEN :pushed_digest::bytea AND :pushed_digest::bytea
   AND pushed.used_at IS NULL;
