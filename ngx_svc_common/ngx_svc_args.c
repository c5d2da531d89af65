/*
 * What comes with the URI.  The query, as application/x-www-form-urlencoded:
 * names and values are decoded, and a plus is a space.  Of a name that comes
 * twice the first counts.
 */

#include "ngx_svc_request.h"


static ngx_uint_t ngx_svc_arg_is(u_char *p, u_char *end, const char *name);
static u_char *ngx_svc_arg_char(u_char *p, u_char *end, u_char *c);


ngx_int_t
ngx_svc_argument(ngx_svc_request_t *sr, const char *name, ngx_str_t *value)
{
    u_char  *p, *end, *next, *equals, *dst;

    p = sr->request->args.data;
    end = p + sr->request->args.len;

    for ( /* void */ ; p < end; p = next + 1) {

        next = ngx_strlchr(p, end, '&');
        if (next == NULL) {
            next = end;
        }

        equals = ngx_strlchr(p, next, '=');
        if (equals == NULL) {
            equals = next;
        }

        if (!ngx_svc_arg_is(p, equals, name)) {
            continue;
        }

        p = ngx_min(equals + 1, next);

        dst = ngx_pnalloc(sr->request->pool, next - p + 1);
        if (dst == NULL) {
            return NGX_ERROR;
        }

        value->data = dst;

        while (p < next) {
            p = ngx_svc_arg_char(p, next, dst++);
        }

        value->len = dst - value->data;

        return NGX_OK;
    }

    return NGX_DECLINED;
}


static ngx_uint_t
ngx_svc_arg_is(u_char *p, u_char *end, const char *name)
{
    u_char  c;

    while (p < end && *name) {
        p = ngx_svc_arg_char(p, end, &c);

        if (c != (u_char) *name++) {
            return 0;
        }
    }

    return p == end && *name == '\0';
}


/* One character; a "%" without two digits behind it stands for itself. */

static u_char *
ngx_svc_arg_char(u_char *p, u_char *end, u_char *c)
{
    ngx_int_t  n;

    *c = (*p == '+') ? ' ' : *p;

    if (*p == '%' && end - p > 2) {
        n = ngx_hextoi(p + 1, 2);

        if (n != NGX_ERROR) {
            *c = (u_char) n;
            return p + 3;
        }
    }

    return p + 1;
}


ngx_int_t
ngx_svc_param_uuid(ngx_svc_request_t *sr, ngx_uint_t n,
    ngx_svc_pg_call_t *call, const char *detail)
{
    u_char     *id, text[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t  *param;

    param = &sr->params[n];

    id = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);
    if (id == NULL || call == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_uuid_parse(param->data, param->len, id) != NGX_OK
        || (ngx_svc_uuid_text(text, id),
            ngx_memcmp(text, param->data, sizeof(text)) != 0))
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s", detail);
    }

    ngx_svc_pg_bind(call, id, NGX_SVC_UUID_LEN);

    return NGX_OK;
}
