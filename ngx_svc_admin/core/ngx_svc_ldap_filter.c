/*
 * Search filters of LDAP.
 */

#include "ngx_svc_ldap_filter.h"


typedef struct {
    const u_char     *p;
    const u_char     *end;
    const ngx_str_t  *mark;
    ngx_uint_t        marks;
    ngx_uint_t        depth;
} ngx_svc_ldap_filter_t;


static ngx_int_t ngx_svc_ldap_filter(ngx_svc_ldap_filter_t *f);
static ngx_int_t ngx_svc_ldap_filter_list(ngx_svc_ldap_filter_t *f);
static ngx_int_t ngx_svc_ldap_filter_item(ngx_svc_ldap_filter_t *f);
static ngx_int_t ngx_svc_ldap_filter_rule(ngx_svc_ldap_filter_t *f,
    size_t attribute);
static ngx_int_t ngx_svc_ldap_filter_value(ngx_svc_ldap_filter_t *f,
    ngx_uint_t stars);
static size_t ngx_svc_ldap_filter_name(ngx_svc_ldap_filter_t *f);
static ngx_uint_t ngx_svc_ldap_filter_is(ngx_svc_ldap_filter_t *f, u_char c);
static ngx_int_t ngx_svc_ldap_filter_take(ngx_svc_ldap_filter_t *f, u_char c);


ngx_int_t
ngx_svc_ldap_filter_parse(const ngx_str_t *text, const ngx_str_t *mark,
    ngx_uint_t *marks, size_t *at)
{
    ngx_int_t              rc;
    ngx_svc_ldap_filter_t  f;

    f.p = text->data;
    f.end = text->data + text->len;
    f.mark = mark;
    f.marks = 0;
    f.depth = 0;

    rc = ngx_svc_ldap_filter(&f);

    *marks = f.marks;
    *at = f.p - text->data;

    return rc == NGX_OK && f.p == f.end ? NGX_OK : NGX_DECLINED;
}


/* filter = "(" ( and / or / not / item ) ")" */

static ngx_int_t
ngx_svc_ldap_filter(ngx_svc_ldap_filter_t *f)
{
    ngx_int_t  rc;

    if (f->depth == NGX_SVC_LDAP_FILTER_DEPTH
        || ngx_svc_ldap_filter_take(f, '(') != NGX_OK)
    {
        return NGX_DECLINED;
    }

    f->depth++;

    if (ngx_svc_ldap_filter_take(f, '&') == NGX_OK
        || ngx_svc_ldap_filter_take(f, '|') == NGX_OK)
    {
        rc = ngx_svc_ldap_filter_list(f);

    } else if (ngx_svc_ldap_filter_take(f, '!') == NGX_OK) {
        rc = ngx_svc_ldap_filter(f);

    } else {
        rc = ngx_svc_ldap_filter_item(f);
    }

    f->depth--;

    return rc == NGX_OK ? ngx_svc_ldap_filter_take(f, ')') : rc;
}


static ngx_int_t
ngx_svc_ldap_filter_list(ngx_svc_ldap_filter_t *f)
{
    do {
        if (ngx_svc_ldap_filter(f) != NGX_OK) {
            return NGX_DECLINED;
        }

    } while (ngx_svc_ldap_filter_is(f, '('));

    return NGX_OK;
}


/* item = simple / present / substring / extensible */

static ngx_int_t
ngx_svc_ldap_filter_item(ngx_svc_ldap_filter_t *f)
{
    size_t      attribute;
    ngx_uint_t  compares;

    attribute = ngx_svc_ldap_filter_name(f);

    if (ngx_svc_ldap_filter_is(f, ':')) {
        return ngx_svc_ldap_filter_rule(f, attribute);
    }

    if (attribute == 0) {
        return NGX_DECLINED;
    }

    compares = ngx_svc_ldap_filter_take(f, '~') == NGX_OK
               || ngx_svc_ldap_filter_take(f, '<') == NGX_OK
               || ngx_svc_ldap_filter_take(f, '>') == NGX_OK;

    if (ngx_svc_ldap_filter_take(f, '=') != NGX_OK) {
        return NGX_DECLINED;
    }

    return ngx_svc_ldap_filter_value(f, !compares);
}


/* [attr] [":dn"] [":" matchingrule] ":=" value, with an attribute or a rule */

static ngx_int_t
ngx_svc_ldap_filter_rule(ngx_svc_ldap_filter_t *f, size_t attribute)
{
    size_t         len;
    ngx_uint_t     dn, rule;
    const u_char  *name;

    dn = 0;
    rule = 0;

    while (ngx_svc_ldap_filter_take(f, ':') == NGX_OK) {

        if (ngx_svc_ldap_filter_take(f, '=') == NGX_OK) {
            return attribute || rule ? ngx_svc_ldap_filter_value(f, 0)
                                     : NGX_DECLINED;
        }

        name = f->p;
        len = ngx_svc_ldap_filter_name(f);

        if (len == 2 && !dn && !rule
            && ngx_strncasecmp((u_char *) name, (u_char *) "dn", 2) == 0)
        {
            dn = 1;

        } else if (len && !rule) {
            rule = 1;

        } else {
            return NGX_DECLINED;
        }
    }

    return NGX_DECLINED;
}


/* Reads a value up to its closing bracket; stars: 1: it may have "*". */

static ngx_int_t
ngx_svc_ldap_filter_value(ngx_svc_ldap_filter_t *f, ngx_uint_t stars)
{
    for ( /* void */ ; f->p < f->end && *f->p != ')'; f->p++) {

        switch (*f->p) {

        case '\0':
        case '(':
            return NGX_DECLINED;

        case '*':
            if (!stars) {
                return NGX_DECLINED;
            }

            break;

        case '\\':
            if (f->end - f->p < 3 || !isxdigit(f->p[1]) || !isxdigit(f->p[2])) {
                return NGX_DECLINED;
            }

            f->p += 2;
            break;

        default:
            if ((size_t) (f->end - f->p) >= f->mark->len
                && ngx_memcmp(f->p, f->mark->data, f->mark->len) == 0)
            {
                f->marks++;
            }
        }
    }

    return NGX_OK;
}


/*
 * Reads an attribute with its options, or a rule; returns the number of bytes.
 */

static size_t
ngx_svc_ldap_filter_name(ngx_svc_ldap_filter_t *f)
{
    const u_char  *start;

    start = f->p;

    while (f->p < f->end
           && (isalnum(*f->p) || (f->p > start && ngx_strchr("-.;", *f->p)
                                  && *f->p)))
    {
        f->p++;
    }

    return f->p - start;
}


static ngx_uint_t
ngx_svc_ldap_filter_is(ngx_svc_ldap_filter_t *f, u_char c)
{
    return f->p < f->end && *f->p == c;
}


static ngx_int_t
ngx_svc_ldap_filter_take(ngx_svc_ldap_filter_t *f, u_char c)
{
    if (!ngx_svc_ldap_filter_is(f, c)) {
        return NGX_DECLINED;
    }

    f->p++;

    return NGX_OK;
}
