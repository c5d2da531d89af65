/*
 * Outbound SCIM: the statements by which the helper has users and gives them
 * back.
 */

#include "ngx_svc_push_sql_users.h"

#include "ngx_svc_push_sql_users.sql.h"


