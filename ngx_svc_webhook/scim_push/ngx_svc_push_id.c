/*
 * Outbound SCIM: ids that are numbers.
 */

#include "ngx_svc_push_id.h"


/* A place in the text, with what was passed before it. */

typedef struct {
    u_char      *p;
    u_char      *end;
    ngx_uint_t   depth;         /* number of open objects and arrays */
    ngx_str_t    name;          /* name of the member whose value is next */
    ngx_uint_t   listed;        /* within the top level's "Resources" */
} ngx_svc_push_id_scan_t;


static u_char *ngx_svc_push_id_next(ngx_svc_push_id_scan_t *scan);
static ngx_uint_t ngx_svc_push_id_is(const ngx_svc_push_id_scan_t *scan);
static void ngx_svc_push_id_string(ngx_svc_push_id_scan_t *scan);
static void ngx_svc_push_id_open(ngx_svc_push_id_scan_t *scan);
static ngx_uint_t ngx_svc_push_id_named(const ngx_str_t *name,
    const char *which, size_t len);
static size_t ngx_svc_push_id_number(const u_char *p, const u_char *end);


ngx_int_t
ngx_svc_push_id_quote(ngx_pool_t *pool, ngx_str_t *text)
{
    size_t                   len;
    u_char                  *p, *number, *from;
    ngx_uint_t               n;
    ngx_svc_push_id_scan_t   scan;

    n = 0;
    ngx_memzero(&scan, sizeof(ngx_svc_push_id_scan_t));
    scan.p = text->data;
    scan.end = text->data + text->len;

    while (ngx_svc_push_id_next(&scan)) {
        n++;
    }

    if (n == 0) {
        return NGX_OK;
    }

    p = ngx_pnalloc(pool, text->len + 2 * n);
    if (p == NULL) {
        return NGX_ERROR;
    }

    from = text->data;
    ngx_memzero(&scan, sizeof(ngx_svc_push_id_scan_t));
    scan.p = from;
    scan.end = from + text->len;
    text->data = p;
    text->len += 2 * n;

    while ((number = ngx_svc_push_id_next(&scan)) != NULL) {
        len = scan.p - number;

        p = ngx_cpymem(p, from, number - from);
        *p++ = '"';
        p = ngx_cpymem(p, number, len);
        *p++ = '"';

        from = scan.p;
    }

    ngx_memcpy(p, from, scan.end - from);

    return NGX_OK;
}


/* Returns the next such id, and moves the scan past it; NULL: there is none. */

static u_char *
ngx_svc_push_id_next(ngx_svc_push_id_scan_t *scan)
{
    size_t   len;
    u_char  *p;

    while (scan->p < scan->end) {
        p = scan->p;

        switch (*p) {

        case '"':
            ngx_svc_push_id_string(scan);
            continue;

        case '{':
        case '[':
            ngx_svc_push_id_open(scan);
            break;

        case '}':
        case ']':
            scan->depth -= (scan->depth > 0);
            scan->listed &= (scan->depth > 1);

            /* fall through */

        case ',':
            ngx_str_null(&scan->name);
            break;

        default:
            len = ngx_svc_push_id_number(p, scan->end);

            if (len) {
                scan->p = p + len;

                if (ngx_svc_push_id_is(scan)) {
                    return p;
                }

                continue;
            }
        }

        scan->p++;
    }

    return NULL;
}


static ngx_uint_t
ngx_svc_push_id_is(const ngx_svc_push_id_scan_t *scan)
{
    return (scan->depth == 1 || (scan->depth == 3 && scan->listed))
           && ngx_svc_push_id_named(&scan->name, "id", 2);
}


/*
 * Passes over a string.  In an object it is a member's name, unless one has
 * been read already.
 */

static void
ngx_svc_push_id_string(ngx_svc_push_id_scan_t *scan)
{
    u_char  *p;

    for (p = scan->p + 1; p < scan->end && *p != '"'; p++) {
        if (*p == '\\') {
            p++;
        }
    }

    p = ngx_min(p, scan->end);

    if (scan->name.data == NULL) {
        scan->name.data = scan->p + 1;
        scan->name.len = p - scan->name.data;
    }

    scan->p = ngx_min(p + 1, scan->end);
}


static void
ngx_svc_push_id_open(ngx_svc_push_id_scan_t *scan)
{
    if (++scan->depth == 2) {
        scan->listed = *scan->p == '['
                       && ngx_svc_push_id_named(&scan->name, "Resources", 9);
    }

    ngx_str_null(&scan->name);
}


static ngx_uint_t
ngx_svc_push_id_named(const ngx_str_t *name, const char *which, size_t len)
{
    return name->len == len
           && ngx_strncasecmp(name->data, (u_char *) which, len) == 0;
}


/* Returns the length of a number, or 0.  JSON's parser checks it later. */

static size_t
ngx_svc_push_id_number(const u_char *p, const u_char *end)
{
    const u_char  *start;

    start = p;

    if (*p != '-' && (*p < '0' || *p > '9')) {
        return 0;
    }

    for (p++; p < end; p++) {
        if ((*p < '0' || *p > '9') && *p != '.' && *p != '+' && *p != '-'
            && *p != 'e' && *p != 'E')
        {
            break;
        }
    }

    return p - start;
}
