/*
 * The revision of a tenant's governance, and the lock that its changes take.
 */

#include "ngx_svc_admin_revision.h"


#include "ngx_svc_admin_revision.sql.h"
