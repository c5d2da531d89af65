/*
 * The resources that outbound SCIM adds to the admin API.
 */

#include "ngx_svc_push_api.h"


ngx_svc_resources_t  ngx_svc_push_resources[] = {
    ngx_svc_push_targets,
    ngx_svc_push_target_users,
    ngx_svc_push_target_sync,
    ngx_svc_push_target_test,
    NULL
};
