-- What a token of a client's own is decided on, as one pipeline.
\startpipeline
{oauth_login, :digest};
{oauth_own, :client};
\endpipeline
