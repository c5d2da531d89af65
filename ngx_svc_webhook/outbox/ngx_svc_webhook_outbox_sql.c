/*
 * The statements of the outbox.
 */

#include "ngx_svc_webhook_outbox_sql.h"
#include "ngx_svc_webhook_event.h"

#include "ngx_svc_webhook_outbox_sql.sql.h"


