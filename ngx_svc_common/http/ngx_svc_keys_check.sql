-- statement: keys_needed
-- Which keys have sealed something that is still there. Ids have no commas.
SELECT string_agg(sealed.id, ',') FROM svc.sealed_keys() sealed (id);
