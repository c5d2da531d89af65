-- serves: 1
--
-- Nobody asks for the tokens of a grant: each token says whose grant it is of, and that is
-- looked at when somebody shows the token.  What a code or a refresh token gives is stored
-- without an entry in an index of them.


DROP INDEX svc.oauth_token_grant_idx;
