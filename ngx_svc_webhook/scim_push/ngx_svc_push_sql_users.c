/*
 * Outbound SCIM: the statements that take users, and record their outcomes.
 */

#include "ngx_svc_push_sql_users.h"

#include "ngx_svc_push_sql_users.sql.h"
