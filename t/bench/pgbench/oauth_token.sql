-- Reads what the issuing of a client's own token depends on, as one pipeline.
\startpipeline
{oauth_login, :digest};
{oauth_own, :client};
\endpipeline
