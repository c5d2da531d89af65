-- statement: oauth_delegation_refused (shared)
-- Who was refused to act for whom, in the journal, by the name that the client has now.
-- Without a chain it is the client alone.
--
-- parameters
--   id          uuid
--   client_id   text
--   user_id     text
--   subject     text
--   chain       text
--   grant_type  text
--   audience    text
--   scopes      text
--   reason      text
--   parent_jti  text
--   root_jti    text
--   jkt         bytea
--   ip          text
--   country     text
--   request_id  text
INSERT INTO svc.delegation
    (id, client_id, client_name, subject_type, subject_id, chain, grant_type, audience, scopes,
     outcome, reason, parent_jti, root_jti, bound, ip, country, request_id)
SELECT :id::uuid, client.client_id, client.name,
       CASE
           WHEN :user_id::text IS NOT NULL THEN 'user'
           WHEN :subject::text LIKE 'agt\_%' THEN 'agent'
           WHEN :subject::text IS NOT NULL THEN 'service'
       END,
       :subject::text, coalesce(string_to_array(:chain::text, ' '), ARRAY[client.client_id]),
       :grant_type::text, :audience::text, coalesce(:scopes::text::text[], '{}'), 'refused',
       :reason::text, :parent_jti::text::uuid, :root_jti::text::uuid, :jkt::bytea IS NOT NULL,
       :ip::text, :country::text, :request_id::text
  FROM (SELECT client.*
          FROM svc.application client
         WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
         ORDER BY client.client_id
         LIMIT 1) client;
