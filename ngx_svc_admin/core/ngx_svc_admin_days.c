/*
 * The number of days that statistics cover.
 */

#include "ngx_svc_admin_days.h"

#include "ngx_svc_admin.h"
#include "ngx_svc_args.h"


#define NGX_SVC_ADMIN_STAT_DAYS  30     /* the query's default */
#define NGX_SVC_ADMIN_STAT_MAX   90


ngx_int_t
ngx_svc_admin_stat_days(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_int_t  rc, days;
    ngx_str_t  text;

    rc = ngx_svc_argument(sr, "days", &text);
    if (rc != NGX_OK) {
        return rc;
    }

    days = text.data ? ngx_atoi(text.data, text.len) : NGX_SVC_ADMIN_STAT_DAYS;

    if (days < 1 || days > NGX_SVC_ADMIN_STAT_MAX) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "\"days\" must be an integer from 1 to "
                            ngx_value(NGX_SVC_ADMIN_STAT_MAX) ".");
    }

    return ngx_svc_pg_bind_int(sr->op, call, (int32_t) days);
}
