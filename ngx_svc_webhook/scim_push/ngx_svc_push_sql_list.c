/*
 * Outbound SCIM: the statements that compare a target's list.
 */

#include "ngx_svc_push_sql_list.h"


#include "ngx_svc_push_sql_list.sql.h"
