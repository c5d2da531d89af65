-- statement: oauth_logout
-- Whether the client has registered the URI, if there is one; and the root of the user's
-- session, which is one of the client's tenant, and has been let in by the statement before.
--
-- parameters
--   client_id       text   ngx_svc_oauth_param(client.id)
--   redirect_uri    text   ngx_svc_oauth_logout_param(redirect_uri)
--   session_digest  bytea  ngx_svc_oauth_logout_param(digest)
-- columns
--   registered     bool
--   root           uuid
SELECT :redirect_uri::text = ANY (client.post_logout_redirect_uris) AS registered,
       session.root_id AS root
  FROM (SELECT client.post_logout_redirect_uris
          FROM svc.application client
         WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
         ORDER BY client.client_id
         LIMIT 1) client
  LEFT JOIN LATERAL (
       SELECT coalesce(session.root_id, session.id) AS root_id
         FROM (SELECT session.id, session.user_id, session.root_id
                 FROM svc.session session
                WHERE session.tenant_id = :tenant
                  AND session.token_hash BETWEEN :session_digest::bytea AND :session_digest::bytea
                ORDER BY session.token_hash
                LIMIT 1) session
        WHERE session.user_id::text = current_setting('svc.actor_id', true)) session ON true;
