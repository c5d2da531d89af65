-- serves: 1
--
-- What a client has asked for by name, in the parameter "claims" of its authorization
-- request, goes with the grant: userinfo is asked later, and each refresh has an ID token.
-- An element is "<scope> <place> <claim>"; NULL: nothing was asked for.


ALTER TABLE svc.oauth_grant ADD COLUMN claims text[] COLLATE "C";
