/*
 * Outbound SCIM: the helper's statements about targets.
 */

#include "ngx_svc_push_sql.h"


#include "ngx_svc_push_sql.sql.h"
