/*
 * The resources that webhooks add to the admin API.
 */

#include "ngx_svc_webhook_api.h"


ngx_svc_resources_t  ngx_svc_webhook_resources[] = {
    ngx_svc_webhook_endpoints,
    ngx_svc_webhook_deliveries,
    NULL
};
