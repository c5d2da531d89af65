-- serves: 1
--
-- A refresh token of FAPI 2.0 stays what it is when it is used, and is idle from then on.

GRANT UPDATE (expires_at) ON svc.oauth_refresh TO svc_app;
