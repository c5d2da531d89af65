/*
 * application/x-www-form-urlencoded.
 */

#include "ngx_svc_form.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_utf8.h"


#define NGX_SVC_FORM_NAME  64       /* bytes of a name in a detail, at most */


static ngx_uint_t ngx_svc_form_count(const ngx_str_t *text);
static ngx_int_t ngx_svc_form_pair(u_char *p, u_char *last, u_char **dst,
    ngx_svc_form_pair_t *pair, ngx_svc_error_t *err);
static const char *ngx_svc_form_decode(u_char *p, u_char *last, u_char **dst,
    ngx_str_t *out);
static ngx_int_t ngx_svc_form_refuse(const ngx_str_t *name, const char *what,
    ngx_svc_error_t *err);
static int ngx_libc_cdecl ngx_svc_form_cmp(const void *one, const void *two);
static ngx_int_t ngx_svc_form_cmp_names(const ngx_str_t *one,
    const ngx_str_t *two);
static ngx_uint_t ngx_svc_form_find(const ngx_svc_form_t *form,
    const ngx_str_t *name);


ngx_int_t
ngx_svc_form_parse(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_svc_form_t *form, ngx_svc_error_t *err)
{
    u_char               *p, *last, *next, *dst;
    ngx_svc_form_pair_t   pair;

    form->n = 0;

    form->pairs = ngx_palloc(pool, ngx_svc_form_count(text)
                                   * sizeof(ngx_svc_form_pair_t));
    dst = ngx_pnalloc(pool, text->len + 1);

    if (form->pairs == NULL || dst == NULL) {
        return NGX_ERROR;
    }

    last = text->data + text->len;

    for (p = text->data; p < last; p = next + 1) {

        next = ngx_strlchr(p, last, '&');
        if (next == NULL) {
            next = last;
        }

        if (ngx_svc_form_pair(p, next, &dst, &pair, err) != NGX_OK) {
            return NGX_DECLINED;
        }

        if (pair.value.len == 0) {
            continue;
        }

        if (form->n == NGX_SVC_FORM_MAX) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                                "There are more than %d parameters.",
                                NGX_SVC_FORM_MAX);
        }

        form->pairs[form->n++] = pair;
    }

    ngx_qsort(form->pairs, form->n, sizeof(ngx_svc_form_pair_t),
              ngx_svc_form_cmp);

    return NGX_OK;
}


/*
 * Returns an upper bound of the pairs that have a value, which needs a "=".  It
 * may be one too many.
 */

static ngx_uint_t
ngx_svc_form_count(const ngx_str_t *text)
{
    size_t      i;
    ngx_uint_t  pairs, values;

    pairs = 1;
    values = 1;

    for (i = 0; i < text->len; i++) {
        pairs += (text->data[i] == '&');
        values += (text->data[i] == '=');
    }

    return ngx_min(ngx_min(pairs, values), NGX_SVC_FORM_MAX);
}


/*
 * Decodes a pair.  What is written for all pairs, with the NULs, is at most one
 * byte longer than the text.
 */

static ngx_int_t
ngx_svc_form_pair(u_char *p, u_char *last, u_char **dst,
    ngx_svc_form_pair_t *pair, ngx_svc_error_t *err)
{
    u_char      *equals;
    const char  *what;

    ngx_str_null(&pair->value);

    equals = ngx_strlchr(p, last, '=');
    if (equals == NULL) {
        equals = last;
    }

    what = ngx_svc_form_decode(p, equals, dst, &pair->name);

    if (what) {
        return ngx_svc_form_refuse(NULL, what, err);
    }

    if (equals == last) {
        return NGX_OK;
    }

    what = ngx_svc_form_decode(equals + 1, last, dst, &pair->value);

    if (what) {
        return ngx_svc_form_refuse(&pair->name, what, err);
    }

    return NGX_OK;
}


/* Returns NULL, or what is wrong. */

static const char *
ngx_svc_form_decode(u_char *p, u_char *last, u_char **dst, ngx_str_t *out)
{
    u_char  c;

    out->data = *dst;

    for ( /* void */ ; p < last; p++) {

        c = *p;

        if (c == '+') {
            c = ' ';

        } else if (c == '%') {

            if (last - p < 3 || ngx_svc_hex(p + 1, 1, &c) != NGX_OK) {
                return "has a percent sign without two hexadecimal digits";
            }

            p += 2;
        }

        if (c == '\0') {
            return "has a NUL";
        }

        *(*dst)++ = c;
    }

    out->len = *dst - out->data;
    *(*dst)++ = '\0';

    return ngx_svc_utf8(out->data, out->len) == NGX_OK ? NULL
                                                       : "is not valid UTF-8";
}


static ngx_int_t
ngx_svc_form_refuse(const ngx_str_t *name, const char *what,
    ngx_svc_error_t *err)
{
    size_t  i;

    if (name == NULL || name->len == 0 || name->len > NGX_SVC_FORM_NAME) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "A parameter %s.", what);
    }

    for (i = 0; i < name->len; i++) {
        if (name->data[i] < ' ' || name->data[i] >= 0x7f
            || ngx_strchr("\"'\\", name->data[i]))
        {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                                "A parameter %s.", what);
        }
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                        "The parameter '%V' %s.", name, what);
}


ngx_int_t
ngx_svc_form_value(const ngx_svc_form_t *form, const char *name,
    ngx_str_t *value, ngx_svc_error_t *err)
{
    ngx_str_t  str, second;

    str.data = (u_char *) name;
    str.len = ngx_strlen(name);

    if (ngx_svc_form_nth(form, name, 1, &second) == NGX_OK) {
        ngx_str_null(value);
        return ngx_svc_form_refuse(&str, "comes twice", err);
    }

    if (ngx_svc_form_nth(form, name, 0, value) != NGX_OK) {
        ngx_str_null(value);
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_form_nth(const ngx_svc_form_t *form, const char *name, ngx_uint_t i,
    ngx_str_t *value)
{
    ngx_str_t   str;
    ngx_uint_t  first;

    str.data = (u_char *) name;
    str.len = ngx_strlen(name);

    first = ngx_svc_form_find(form, &str);

    if (i >= form->n - first
        || ngx_svc_form_cmp_names(&form->pairs[first + i].name, &str) != 0)
    {
        return NGX_DECLINED;
    }

    *value = form->pairs[first + i].value;

    return NGX_OK;
}


ngx_int_t
ngx_svc_form_unique(const ngx_svc_form_t *form, const char *const *repeatable,
    ngx_svc_error_t *err)
{
    ngx_str_t          *name;
    ngx_uint_t          i;
    const char *const  *r;

    for (i = 1; i < form->n; i++) {

        name = &form->pairs[i].name;

        if (ngx_svc_form_cmp_names(name, &form->pairs[i - 1].name) != 0) {
            continue;
        }

        for (r = repeatable; *r; r++) {
            if (ngx_strcmp(name->data, *r) == 0) {
                break;
            }
        }

        if (*r == NULL) {
            return ngx_svc_form_refuse(name, "comes twice", err);
        }
    }

    return NGX_OK;
}


/*
 * Compares by name, then by the order of the text, in which the values lie in
 * memory.
 */

static int ngx_libc_cdecl
ngx_svc_form_cmp(const void *one, const void *two)
{
    ngx_int_t                   rc;
    const ngx_svc_form_pair_t  *first, *second;

    first = one;
    second = two;

    rc = ngx_svc_form_cmp_names(&first->name, &second->name);

    if (rc == 0) {
        rc = first->value.data < second->value.data ? -1 : 1;
    }

    return (int) rc;
}


static ngx_int_t
ngx_svc_form_cmp_names(const ngx_str_t *one, const ngx_str_t *two)
{
    if (one->len != two->len) {
        return one->len < two->len ? -1 : 1;
    }

    return ngx_memcmp(one->data, two->data, one->len);
}


/*
 * Returns the index of the first pair with that name; if there is none, that of
 * the pair that would follow it.
 */

static ngx_uint_t
ngx_svc_form_find(const ngx_svc_form_t *form, const ngx_str_t *name)
{
    ngx_uint_t  low, high, middle;

    low = 0;
    high = form->n;

    while (low < high) {
        middle = low + (high - low) / 2;

        if (ngx_svc_form_cmp_names(&form->pairs[middle].name, name) < 0) {
            low = middle + 1;

        } else {
            high = middle;
        }
    }

    return low;
}
