/*
 * Parameters of statements in the binary form of their types, made of text.
 */

#include "ngx_svc_oauth_bind.h"


#define NGX_SVC_OAUTH_TID  6        /* bytes: a block, and a place in it */


#define ngx_svc_oauth_bind_value(sr, param)                                   \
    ((ngx_str_t *) ((u_char *) ((ngx_svc_oauth_t *) (sr)->data)->data         \
                    + (param)->offset))


static ngx_int_t ngx_svc_oauth_bind_bytes(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, uint64_t n, size_t len);


ngx_int_t
ngx_svc_oauth_bind_uuid(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char     *p;
    ngx_str_t  *value;

    value = ngx_svc_oauth_bind_value(sr, param);

    if (value->data == NULL) {
        ngx_svc_pg_bind(call, NULL, 0);
        return NGX_OK;
    }

    p = ngx_pnalloc(sr->op->pool, NGX_SVC_UUID_LEN);

    if (p == NULL || ngx_svc_uuid_parse(value->data, value->len, p) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, p, NGX_SVC_UUID_LEN);

    return NGX_OK;
}


/* The text of a tid is "(block,place)". */

ngx_int_t
ngx_svc_oauth_bind_tid(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char     *p, *comma, *end;
    ngx_int_t   block, place;
    ngx_str_t  *value;

    value = ngx_svc_oauth_bind_value(sr, param);

    p = value->data + 1;
    end = value->data + value->len - 1;
    comma = value->len > 2 ? ngx_strlchr(p, end, ',') : NULL;

    if (comma == NULL) {
        return NGX_ERROR;
    }

    block = ngx_atoi(p, comma - p);
    place = ngx_atoi(comma + 1, end - comma - 1);

    if (block == NGX_ERROR || place == NGX_ERROR) {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_bind_bytes(sr, call,
                                    ((uint64_t) block << 16) | place,
                                    NGX_SVC_OAUTH_TID);
}


ngx_int_t
ngx_svc_oauth_bind_int8(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t  *value;

    value = ngx_svc_oauth_bind_value(sr, param);

    return ngx_svc_oauth_bind_bytes(sr, call,
                                    ngx_atotm(value->data, value->len),
                                    sizeof(uint64_t));
}


ngx_int_t
ngx_svc_oauth_bind_int4(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t  *value;

    value = ngx_svc_oauth_bind_value(sr, param);

    return ngx_svc_oauth_bind_bytes(sr, call,
                                    ngx_atoi(value->data, value->len),
                                    sizeof(uint32_t));
}


/* Binds the last len bytes of a number, in network order. */

static ngx_int_t
ngx_svc_oauth_bind_bytes(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    uint64_t n, size_t len)
{
    u_char  *p;
    size_t   i;

    p = ngx_pnalloc(sr->op->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    for (i = len; i > 0; i--) {
        p[i - 1] = (u_char) n;
        n >>= 8;
    }

    ngx_svc_pg_bind(call, p, len);

    return NGX_OK;
}
