/*
 * The result of an attempt to deliver.
 */

#include "ngx_svc_outbound_result.h"


void
ngx_svc_outbound_reason(ngx_svc_outbound_result_t *result, const char *fmt, ...)
{
    u_char   *p;
    va_list   args;

    va_start(args, fmt);
    p = ngx_vslprintf(result->text, result->text + sizeof(result->text), fmt,
                      args);
    va_end(args);

    result->error.data = result->text;
    result->error.len = p - result->text;
}


void
ngx_svc_outbound_detail(ngx_svc_outbound_result_t *result, const char *fmt, ...)
{
    u_char   *p;
    va_list   args;

    va_start(args, fmt);
    p = ngx_vslprintf(result->detail_text,
                      result->detail_text + sizeof(result->detail_text), fmt,
                      args);
    va_end(args);

    result->detail.data = result->detail_text;
    result->detail.len = p - result->detail_text;
}
