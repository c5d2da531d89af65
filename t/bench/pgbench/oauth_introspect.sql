-- An introspection of an opaque token, as one pipeline.
\startpipeline
{oauth_login, :digest};
{oauth_introspect, :client, :jti, :ms, :issuer, :secret, :no, NULL, :no, NULL};
\endpipeline
