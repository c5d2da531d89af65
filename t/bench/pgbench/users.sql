-- GET of the newest hundred users, as one pipeline.
\startpipeline
{auth_read, :api_hash{tenant}, :api_kind, :api_view};
{admin_users_list, NULL, NULL, 100, 0};
\endpipeline
