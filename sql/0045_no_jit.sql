-- serves: 1
--
-- What runs by itself, and deletes a little at a time, is not compiled: its plans seem
-- dear for what they are told not to do, and each minute compiling took ninety milliseconds
-- of an instance that nobody asked for anything.


ALTER FUNCTION svc.oauth_expire(integer) SET jit = off;
ALTER FUNCTION svc.sign_in_expire(integer, integer) SET jit = off;
ALTER FUNCTION svc.sealed_keys() SET jit = off;
ALTER FUNCTION svc.webhook_outbox_rest() SET jit = off;
ALTER FUNCTION svc.scim_release(text, uuid[]) SET jit = off;
