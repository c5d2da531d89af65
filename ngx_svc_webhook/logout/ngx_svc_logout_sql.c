/*
 * Logout tokens: the helper's statements.
 */

#include "ngx_svc_logout_sql.h"

#include "ngx_svc_logout_sql.sql.h"


