/*
 * Which methods a tenant offers: what it has switched on and the server can do.
 */

#include "ngx_svc_method_options.h"
#include "ngx_svc_methods.h"
#include "ngx_svc_pg_results.h"
#include "ngx_svc_row.h"


static ngx_uint_t ngx_svc_method_offered(ngx_svc_request_t *sr,
    const ngx_svc_method_option_t *option);


ngx_int_t
ngx_svc_method_options_read(ngx_svc_request_t *sr)
{
    const ngx_svc_method_t *const  *method;
    const ngx_svc_method_option_t  *option;

    for (method = ngx_svc_methods; *method; method++) {
        option = (*method)->option;

        if (option && option->tenant
            && ngx_svc_route_call(sr, option->tenant, NULL) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


void
ngx_svc_method_options_write(ngx_svc_request_t *sr, ngx_svc_json_writer_t *w)
{
    const ngx_svc_method_t *const  *method;
    const ngx_svc_method_option_t  *option;

    for (method = ngx_svc_methods; *method; method++) {
        option = (*method)->option;

        if (option) {
            ngx_svc_json_boolean(w, option->name,
                                 ngx_svc_method_offered(sr, option));
        }
    }
}


static ngx_uint_t
ngx_svc_method_offered(ngx_svc_request_t *sr,
    const ngx_svc_method_option_t *option)
{
    if (option->possible && !option->possible(sr)) {
        return 0;
    }

    return option->tenant == NULL
           || ngx_svc_row_true(ngx_svc_result(sr, option->tenant), 0,
                               "offered");
}
