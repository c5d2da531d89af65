-- A token of a client's own, as one pipeline.
\set n random(100000000000, 999999999999)
\startpipeline
{oauth_login_async, :digest};
{oauth_own, :client, :no, NULL, NULL, NULL, '70008000' || :n, :secret, NULL, :ip, NULL, :issuer, 4096, NULL};
\endpipeline
