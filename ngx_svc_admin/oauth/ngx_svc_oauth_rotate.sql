-- statement: oauth_rotate_keys
-- New keys are taken in.  Of the rows the first one says in "n" alone how many tenants need
-- a key, 32 at most.  Behind it is one row for each of those, with the algorithm in "needs",
-- and one for each tenant whose published keys are others now, without.
--
-- parameters
--   new_keys  text
-- columns
--   n              int8         in the first row
--   tenant         uuid
--   needs          text
SELECT *
  FROM svc.oauth_key_turns(:new_keys::text::json, 32);
