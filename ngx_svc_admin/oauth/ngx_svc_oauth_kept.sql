-- statement: oauth_kept
-- Tokens that were given before, as many as have come together: an array of each column.
-- A crash of PostgreSQL may lose what it has stored last.
--
-- parameters
--   tenants        text
--   jtis           text
--   issued_ms      text
--   client_ids     text
--   scopes         text
--   audiences      text
--   audience_keys  text
--   secret_hashes  text
--   kids           text
--   jkts           text
--   ttls           text
--   ips            text
--   countries      text
SELECT set_config('synchronous_commit', 'off', true),
       svc.oauth_token_keep(:tenants::text::uuid[], :jtis::text::uuid[],
                            :issued_ms::text::bigint[], :client_ids::text::text[],
                            :scopes::text::text[], :audiences::text::text[],
                            :audience_keys::text::text[], :secret_hashes::text::bytea[],
                            :kids::text::text[], :jkts::text::bytea[], :ttls::text::integer[],
                            :ips::text::inet[], :countries::text::text[])::text;
