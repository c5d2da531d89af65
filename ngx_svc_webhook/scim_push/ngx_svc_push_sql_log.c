/*
 * Outbound SCIM: the statements by which the helper finds who is to be pushed.
 */

#include "ngx_svc_push_sql_log.h"

#include "ngx_svc_push_sql_log.sql.h"


