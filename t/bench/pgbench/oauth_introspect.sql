-- An introspection of a client's own opaque token, as one pipeline.
\startpipeline
{oauth_login, :digest};
{oauth_own_opaque, :client, :no, :client, :jti, :ms};
\endpipeline
