/*
 * Outbound SCIM: the statements of the helper, about targets.
 */

#include "ngx_svc_push_sql.h"


#include "ngx_svc_push_sql.sql.h"


