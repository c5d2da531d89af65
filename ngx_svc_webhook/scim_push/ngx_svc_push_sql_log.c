/*
 * Outbound SCIM: the statements that find the users to be pushed.
 */

#include "ngx_svc_push_sql_log.h"

#include "ngx_svc_push_sql_log.sql.h"
