/*
 * Checks of members.
 */

#include "ngx_svc_check.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_time.h"


ngx_int_t
ngx_svc_check_addr(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    ngx_svc_addr_t  addr;

    if (ngx_svc_addr_parse(value->str.data, value->str.len, &addr) == NGX_OK) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be one IPv4 or IPv6 address such as "
                        "\"198.51.100.9\" or \"2001:db8::9\".", path);
}


ngx_int_t
ngx_svc_check_expiry(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    int64_t      at;
    ngx_time_t  *tp;

    tp = ngx_timeofday();

    if (ngx_svc_time_parse(&value->str, &at) == NGX_OK
        && at > (int64_t) tp->sec * 1000 + (int64_t) tp->msec)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a time in the future such as "
                        "\"2030-01-31T00:00:00Z\", before year 10000 in UTC.",
                        path);
}
