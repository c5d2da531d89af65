/*
 * Where on Earth a client is, as svc_coordinates says.
 */

#include "ngx_svc_coordinates.h"


#define NGX_SVC_COORDINATES_TEXT  sizeof("-180.0")


static ngx_int_t ngx_svc_coordinates_value(ngx_http_request_t *r,
    ngx_http_complex_value_t *cv, ngx_uint_t max, ngx_str_t *text);
static ngx_int_t ngx_svc_coordinates_tenths(const ngx_str_t *value,
    ngx_uint_t *tenths);


/* Without a variable in each text all clients would be at one place. */

char *
ngx_svc_conf_coordinates(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_admin_loc_conf_t  *alcf = conf;

    ngx_str_t                         *value;
    ngx_uint_t                         i;
    ngx_http_complex_value_t         **slots[2];
    ngx_http_compile_complex_value_t   ccv;

    if (alcf->latitude) {
        return "is duplicate";
    }

    value = cf->args->elts;
    slots[0] = &alcf->latitude;
    slots[1] = &alcf->longitude;

    for (i = 0; i < 2; i++) {

        if (ngx_http_script_variables_count(&value[i + 1]) == 0) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"svc_coordinates\" takes two variables such "
                               "as $geoip2_data_latitude and "
                               "$geoip2_data_longitude, not \"%V\"",
                               &value[i + 1]);
            return NGX_CONF_ERROR;
        }

        *slots[i] = ngx_palloc(cf->pool, sizeof(ngx_http_complex_value_t));
        if (*slots[i] == NULL) {
            return NGX_CONF_ERROR;
        }

        ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));

        ccv.cf = cf;
        ccv.value = &value[i + 1];
        ccv.complex_value = *slots[i];

        if (ngx_http_compile_complex_value(&ccv) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


ngx_int_t
ngx_svc_coordinates(ngx_http_request_t *r, ngx_str_t *latitude,
    ngx_str_t *longitude)
{
    ngx_svc_admin_loc_conf_t  *alcf;

    alcf = ngx_http_get_module_loc_conf(r, ngx_http_svc_admin_module);

    ngx_str_null(latitude);
    ngx_str_null(longitude);

    if (alcf->latitude == NULL) {
        return NGX_OK;
    }

    if (ngx_svc_coordinates_value(r, alcf->latitude, 90, latitude) != NGX_OK
        || ngx_svc_coordinates_value(r, alcf->longitude, 180, longitude)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (latitude->data == NULL || longitude->data == NULL) {
        ngx_str_null(latitude);
        ngx_str_null(longitude);
    }

    return NGX_OK;
}


/* Leaves *text as it is unless the value is a number of at most max degrees. */

static ngx_int_t
ngx_svc_coordinates_value(ngx_http_request_t *r, ngx_http_complex_value_t *cv,
    ngx_uint_t max, ngx_str_t *text)
{
    ngx_str_t   value;
    ngx_uint_t  tenths, negative;

    if (ngx_http_complex_value(r, cv, &value) != NGX_OK) {
        return NGX_ERROR;
    }

    negative = value.len && value.data[0] == '-';
    value.data += negative;
    value.len -= negative;

    if (ngx_svc_coordinates_tenths(&value, &tenths) != NGX_OK
        || tenths > 10 * max)
    {
        return NGX_OK;
    }

    text->data = ngx_pnalloc(r->pool, NGX_SVC_COORDINATES_TEXT);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    text->len = ngx_sprintf(text->data, "%s%ui.%ui", negative ? "-" : "",
                            tenths / 10, tenths % 10)
                - text->data;

    return NGX_OK;
}


/* Takes "48.8566", or "48".  Returns NGX_OK, or NGX_DECLINED. */

static ngx_int_t
ngx_svc_coordinates_tenths(const ngx_str_t *value, ngx_uint_t *tenths)
{
    u_char     *p, *last, *point;
    ngx_int_t   whole;

    last = value->data + value->len;
    point = ngx_strlchr(value->data, last, '.');

    if (point == NULL) {
        point = last;
    }

    if (point - value->data > 3) {
        return NGX_DECLINED;
    }

    whole = ngx_atoi(value->data, point - value->data);

    if (whole == NGX_ERROR || point + 1 == last) {
        return NGX_DECLINED;
    }

    for (p = point + 1; p < last; p++) {
        if (*p < '0' || *p > '9') {
            return NGX_DECLINED;
        }
    }

    *tenths = 10 * whole;

    if (last - point > 1) {
        *tenths += point[1] - '0';
    }

    if (last - point > 2 && point[2] >= '5') {
        (*tenths)++;
    }

    return NGX_OK;
}
