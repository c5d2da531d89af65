/*
 * Parameters of the path and of the query.  The query is read as
 * application/x-www-form-urlencoded: names and values are decoded, and a plus
 * is a space.  A name that is there twice is an error, since parsers differ on
 * which one counts.
 */

#include "ngx_svc_args.h"
#include "ngx_svc_time.h"
#include "ngx_svc_utf8.h"


static u_char *ngx_svc_arg_find(u_char *p, u_char *end, const char *name,
    ngx_str_t *raw);
static ngx_uint_t ngx_svc_arg_is(u_char *p, u_char *end, const char *name);
static u_char *ngx_svc_arg_char(u_char *p, u_char *end, u_char *c);


ngx_int_t
ngx_svc_argument(ngx_svc_request_t *sr, const char *name, ngx_str_t *value)
{
    u_char     *p, *end, *dst;
    ngx_str_t   raw;

    ngx_str_null(value);

    p = sr->request->args.data;
    end = p + sr->request->args.len;

    p = ngx_svc_arg_find(p, end, name, &raw);
    if (p == NULL) {
        return NGX_OK;
    }

    dst = ngx_pnalloc(sr->request->pool, raw.len + 1);
    if (dst == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_arg_find(p, end, name, value) != NULL) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be given once in the query, not "
                            "several times.", name);
    }

    value->data = dst;

    for (p = raw.data; p < raw.data + raw.len; /* void */ ) {
        p = ngx_svc_arg_char(p, raw.data + raw.len, dst++);
    }

    value->len = dst - value->data;

    return NGX_OK;
}


/*
 * Finds the first parameter of that name from p on; raw is its value as it was
 * sent.  Returns where the next parameter begins, or NULL when there is none of
 * that name.
 */

static u_char *
ngx_svc_arg_find(u_char *p, u_char *end, const char *name, ngx_str_t *raw)
{
    u_char  *next, *equals;

    for ( /* void */ ; p < end; p = next + 1) {

        next = ngx_strlchr(p, end, '&');
        if (next == NULL) {
            next = end;
        }

        equals = ngx_strlchr(p, next, '=');
        if (equals == NULL) {
            equals = next;
        }

        if (ngx_svc_arg_is(p, equals, name)) {
            raw->data = ngx_min(equals + 1, next);
            raw->len = next - raw->data;

            return next + 1;
        }
    }

    return NULL;
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


/* Decodes one character; a "%" without two digits after it means itself. */

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
ngx_svc_text_argument(ngx_svc_request_t *sr, const char *name, ngx_uint_t max,
    ngx_str_t *value)
{
    ngx_int_t  rc, n;

    rc = ngx_svc_argument(sr, name, value);
    if (rc != NGX_OK || value->data == NULL) {
        return rc;
    }

    n = ngx_svc_text_length(value);

    if (n == NGX_ERROR || (ngx_uint_t) n > max) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "\"%s\" must be UTF-8 text of at most %ui "
                            "characters.", name, max);
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_text_length(const ngx_str_t *text)
{
    ngx_int_t      n;
    const u_char  *p, *end;

    p = text->data;
    end = p + text->len;

    for (n = 0; p < end; n++) {

        if (*p < 0x80) {
            if (*p++ == '\0') {
                return NGX_ERROR;
            }

            continue;
        }

        if (ngx_svc_utf8_char(&p, end) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return n;
}


ngx_int_t
ngx_svc_word_argument(ngx_svc_request_t *sr, const char *name,
    const char *const *words, ngx_int_t *n)
{
    u_char     *p, *last, text[128];
    ngx_int_t   rc, i;
    ngx_str_t   value;

    *n = -1;

    rc = ngx_svc_argument(sr, name, &value);
    if (rc != NGX_OK || value.data == NULL) {
        return rc;
    }

    p = text;
    last = text + sizeof(text);

    for (i = 0; words[i]; i++) {

        if (ngx_strlen(words[i]) == value.len
            && ngx_memcmp(words[i], value.data, value.len) == 0)
        {
            *n = i;
            return NGX_OK;
        }

        p = ngx_slprintf(p, last, "%s\"%s\"", i ? ", " : "", words[i]);
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "\"%s\" must be one of %*s.", name,
                        (size_t) (p - text), text);
}


ngx_int_t
ngx_svc_time_argument(ngx_svc_request_t *sr, const char *name,
    ngx_str_t *msec)
{
    int64_t    at;
    ngx_int_t  rc;
    ngx_str_t  text;

    rc = ngx_svc_argument(sr, name, &text);
    if (rc != NGX_OK || text.data == NULL) {
        return rc;
    }

    if (ngx_svc_time_parse(&text, &at) != NGX_OK) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "\"%s\" must be a time such as "
                            "\"2026-11-21T09:15:30Z\", in UTC of the years 1 "
                            "to 9999.", name);
    }

    msec->data = ngx_pnalloc(sr->request->pool, NGX_INT64_LEN);
    if (msec->data == NULL) {
        return NGX_ERROR;
    }

    msec->len = ngx_sprintf(msec->data, "%L", at) - msec->data;

    return NGX_OK;
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
