/*
 * The client of a request, as access policies look at it.
 */

#include "ngx_svc_access_caller.h"


static ngx_uint_t ngx_svc_access_letters(const ngx_str_t *value);


ngx_int_t
ngx_svc_access_caller(ngx_svc_request_t *sr, ngx_svc_access_caller_t *caller)
{
    ngx_str_t            country;
    ngx_svc_loc_conf_t  *slcf;
    ngx_http_request_t  *r;

    r = sr->request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_svc_common_module);

    ngx_memzero(caller, sizeof(ngx_svc_access_caller_t));

    caller->now = ngx_time();

    if (ngx_svc_addr_from_sockaddr(r->connection->sockaddr, &caller->addr)
        != NGX_OK)
    {
        caller->addr.family = AF_UNSPEC;
    }

    if (slcf->country == NULL) {
        return NGX_OK;
    }

    if (ngx_http_complex_value(r, slcf->country, &country) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_svc_access_letters(&country)) {
        caller->country.code[0] = ngx_toupper(country.data[0]);
        caller->country.code[1] = ngx_toupper(country.data[1]);
    }

    return NGX_OK;
}


/* The country is unknown if it is not two letters, such as "-". */

static ngx_uint_t
ngx_svc_access_letters(const ngx_str_t *value)
{
    ngx_uint_t  i;

    if (value->len != 2) {
        return 0;
    }

    for (i = 0; i < 2; i++) {
        if ((value->data[i] | 0x20) < 'a' || (value->data[i] | 0x20) > 'z') {
            return 0;
        }
    }

    return 1;
}
