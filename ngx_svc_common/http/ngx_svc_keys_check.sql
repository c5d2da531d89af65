-- statement: keys_needed
-- Which keys have sealed something that is still there. Ids have no commas.
--
-- columns
--   ids            text
SELECT string_agg(sealed.id, ',') AS ids FROM svc.sealed_keys() sealed (id);
