/*
 * Arrays of texts, as PostgreSQL writes and reads them.
 */

#include "ngx_svc_pg_array.h"


static u_char *ngx_svc_pg_array_element(u_char *p, u_char *end, u_char **dst);


ngx_int_t
ngx_svc_pg_array_read(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_svc_pg_array_t *array)
{
    u_char      *p, *end, *dst;
    ngx_uint_t   n;

    array->n = 0;

    if (text->len == 0) {
        return NGX_OK;
    }

    if (text->len < sizeof("{}") - 1 || text->data[0] != '{'
        || text->data[text->len - 1] != '}')
    {
        return NGX_DECLINED;
    }

    if (text->len == sizeof("{}") - 1) {
        return NGX_OK;
    }

    p = text->data + 1;
    end = text->data + text->len - 1;

    /* commas within elements are counted, too: n is an upper bound */

    n = 1;

    for (dst = p; dst < end; dst++) {
        n += (*dst == ',');
    }

    array->elts = ngx_palloc(pool, n * sizeof(ngx_str_t) + text->len);
    if (array->elts == NULL) {
        return NGX_ERROR;
    }

    dst = (u_char *) &array->elts[n];

    for ( ;; ) {
        array->elts[array->n].data = dst;

        p = ngx_svc_pg_array_element(p, end, &dst);
        if (p == NULL) {
            return NGX_DECLINED;
        }

        array->elts[array->n].len = dst - array->elts[array->n].data;
        array->n++;

        if (p == end) {
            return NGX_OK;
        }

        if (*p++ != ',') {
            return NGX_DECLINED;
        }
    }
}


/* Copies an element.  Returns what follows it; NULL: its quote is open. */

static u_char *
ngx_svc_pg_array_element(u_char *p, u_char *end, u_char **dst)
{
    if (p == end || *p != '"') {

        while (p < end && *p != ',') {
            *(*dst)++ = *p++;
        }

        return p;
    }

    for (p++; p < end && *p != '"'; p++) {

        if (*p == '\\' && ++p == end) {
            return NULL;
        }

        *(*dst)++ = *p;
    }

    return p < end ? p + 1 : NULL;
}


ngx_uint_t
ngx_svc_pg_array_has(const ngx_svc_pg_array_t *array, const ngx_str_t *value)
{
    ngx_uint_t  i;

    for (i = 0; i < array->n; i++) {
        if (array->elts[i].len == value->len
            && ngx_memcmp(array->elts[i].data, value->data, value->len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_svc_pg_array_join(ngx_pool_t *pool, const ngx_svc_pg_array_t *array,
    ngx_str_t *text)
{
    u_char      *p;
    size_t       len;
    ngx_uint_t   i;

    len = 0;

    for (i = 0; i < array->n; i++) {
        len += array->elts[i].len + (i ? 1 : 0);
    }

    p = ngx_pnalloc(pool, len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;
    text->len = len;

    for (i = 0; i < array->n; i++) {

        if (i) {
            *p++ = ' ';
        }

        p = ngx_cpymem(p, array->elts[i].data, array->elts[i].len);
    }

    return NGX_OK;
}


u_char *
ngx_svc_pg_array_add(u_char *p, const ngx_str_t *value)
{
    size_t  i;

    if (p[-1] != '{') {
        *p++ = ',';
    }

    if (value->data == NULL) {
        return ngx_cpymem(p, "NULL", 4);
    }

    *p++ = '"';

    for (i = 0; i < value->len; i++) {

        if (value->data[i] == '"' || value->data[i] == '\\') {
            *p++ = '\\';
        }

        *p++ = value->data[i];
    }

    *p++ = '"';

    return p;
}
