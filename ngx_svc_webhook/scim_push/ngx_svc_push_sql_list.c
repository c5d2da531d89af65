/*
 * Outbound SCIM: the statements by which a target's list is compared.
 */

#include "ngx_svc_push_sql_list.h"


#include "ngx_svc_push_sql_list.sql.h"


