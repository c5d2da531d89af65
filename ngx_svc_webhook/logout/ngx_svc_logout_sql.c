/*
 * The statements for logout tokens.
 */

#include "ngx_svc_logout_sql.h"

#include "ngx_svc_logout_sql.sql.h"


