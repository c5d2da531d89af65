/*
 * CBOR.
 */

#include "ngx_svc_cbor.h"


#define NGX_SVC_CBOR_TAG     6
#define NGX_SVC_CBOR_SIMPLE  7


static ngx_int_t ngx_svc_cbor_value(const u_char **p, const u_char *end,
    ngx_svc_cbor_t *item);


ngx_int_t
ngx_svc_cbor_head(const u_char **p, const u_char *end, ngx_svc_cbor_t *item)
{
    uint64_t  rest;

    item->data = NULL;

    if (ngx_svc_cbor_value(p, end, item) != NGX_OK) {
        return NGX_DECLINED;
    }

    rest = end - *p;

    switch (item->type) {

    case NGX_SVC_CBOR_BYTES:
    case NGX_SVC_CBOR_TEXT:

        if (item->value > rest) {
            return NGX_DECLINED;
        }

        item->data = *p;
        *p += item->value;

        return NGX_OK;

    case NGX_SVC_CBOR_ARRAY:
        return item->value <= rest ? NGX_OK : NGX_DECLINED;

    case NGX_SVC_CBOR_MAP:
        return item->value <= rest / 2 ? NGX_OK : NGX_DECLINED;

    case NGX_SVC_CBOR_TAG:
        return NGX_DECLINED;

    default: /* numbers, and NGX_SVC_CBOR_SIMPLE */
        return NGX_OK;
    }
}


/*
 * Reads the first byte, and the argument in it or in the 1, 2, 4 or 8 bytes
 * behind it.
 */

static ngx_int_t
ngx_svc_cbor_value(const u_char **p, const u_char *end, ngx_svc_cbor_t *item)
{
    size_t      n;
    ngx_uint_t  info;

    if (*p == end) {
        return NGX_DECLINED;
    }

    item->type = **p >> 5;
    info = **p & 0x1f;

    (*p)++;

    if (info < 24) {
        item->value = info;
        return NGX_OK;
    }

    /* 28 to 30 are reserved, 31 is an indefinite length */

    if (info > 27 || (size_t) (end - *p) < (size_t) 1 << (info - 24)) {
        return NGX_DECLINED;
    }

    item->value = 0;

    for (n = (size_t) 1 << (info - 24); n; n--) {
        item->value = item->value << 8 | *(*p)++;
    }

    return NGX_OK;
}


/* Counts down the items that are left on each level. */

ngx_int_t
ngx_svc_cbor_skip(const u_char **p, const u_char *end)
{
    uint64_t        left[NGX_SVC_CBOR_DEPTH + 1];
    ngx_uint_t      depth;
    ngx_svc_cbor_t  item;

    depth = 0;
    left[0] = 1;

    for ( ;; ) {

        while (left[depth] == 0) {
            if (depth == 0) {
                return NGX_OK;
            }

            depth--;
        }

        left[depth]--;

        if (ngx_svc_cbor_head(p, end, &item) != NGX_OK) {
            return NGX_DECLINED;
        }

        if (item.type != NGX_SVC_CBOR_ARRAY && item.type != NGX_SVC_CBOR_MAP) {
            continue;
        }

        if (depth == NGX_SVC_CBOR_DEPTH) {
            return NGX_DECLINED;
        }

        left[++depth] = item.type == NGX_SVC_CBOR_MAP ? 2 * item.value
                                                      : item.value;
    }
}
