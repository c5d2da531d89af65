/*
 * Filters as SQL conditions.
 */

#include "ngx_fuzz_scim.h"
#include "ngx_svc_scim_filter_sql.h"


#define FUZZ_MARK  "never in a statement"


static ngx_int_t fuzz_where(ngx_pool_t *pool, u_char *text, size_t len,
    ngx_svc_scim_where_t *where);
static void fuzz_sql(ngx_svc_scim_where_t *where, ngx_str_t *sql);
static void fuzz_same(ngx_pool_t *pool, const uint8_t *data, size_t size,
    const char *before, const char *after, ngx_svc_scim_where_t *where);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                *text;
    ngx_int_t              rc;
    ngx_pool_t            *pool;
    ngx_svc_scim_where_t   where;

    pool = fuzz_pool(4096);

    /* of exactly its size, so that the next byte is not ours */

    text = malloc(size);
    fuzz_assert(text != NULL || size == 0);

    if (size) {
        memcpy(text, data, size);
    }

    rc = fuzz_where(pool, text, size, &where);

    if (rc == NGX_OK) {
        fuzz_same(pool, data, size, "  ", " ", &where);

        if (size < 1000) {
            fuzz_same(pool, data, size, "not (not (", "))", NULL);
            fuzz_same(pool, data, size, "x pr or ", "", NULL);
        }
    }

    free(text);
    ngx_destroy_pool(pool);

    return 0;
}


static ngx_int_t
fuzz_where(ngx_pool_t *pool, u_char *text, size_t len,
    ngx_svc_scim_where_t *where)
{
    ngx_int_t        rc;
    ngx_str_t        filter;
    ngx_svc_error_t  err;
    static ngx_str_t users = ngx_string(FUZZ_MARK);

    filter.data = text;
    filter.len = len;
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    rc = ngx_svc_scim_where(pool, &filter, &users, where, &err);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED);
        fuzz_assert(err.kind == NGX_SVC_E_INVALID_FILTER);
        fuzz_assert(err.len > 0 && err.len < NGX_SVC_ERROR_DETAIL);
        return rc;
    }

    fuzz_assert(err.kind == NGX_SVC_E_NONE);
    fuzz_assert(where->nparams <= NGX_SVC_SCIM_WHERE_PARAMS);
    fuzz_assert((where->kind != NGX_SVC_SCIM_WHERE_OTHER) || where->sql.len);
    fuzz_assert(!where->sql.len == !where->first.len);

    fuzz_sql(where, &where->sql);
    fuzz_sql(where, &where->first);

    return NGX_OK;
}


/*
 * The SQL has only our own text: balanced, within its size, with existing
 * parameters.
 */

static void
fuzz_sql(ngx_svc_scim_where_t *where, ngx_str_t *sql)
{
    size_t      i;
    ngx_int_t   depth, n;

    fuzz_assert(sql->len <= 512 * NGX_SVC_SCIM_FILTER_NODES);

    depth = 0;

    for (i = 0; i < sql->len; i++) {

        fuzz_assert(sql->data[i] >= 0x20 && sql->data[i] < 0x7f
                    && sql->data[i] != ';' && sql->data[i] != '\\');

        depth += (sql->data[i] == '(') - (sql->data[i] == ')');
        fuzz_assert(depth >= 0);

        if (sql->data[i] != '$') {
            continue;
        }

        for (n = 0, i++; i < sql->len && sql->data[i] >= '0'
                         && sql->data[i] <= '9'; i++)
        {
            n = n * 10 + sql->data[i] - '0';
        }

        i--;

        fuzz_assert(n > NGX_SVC_SCIM_WHERE_BEFORE);
        fuzz_assert((ngx_uint_t) n <= where->nparams
                                      + NGX_SVC_SCIM_WHERE_BEFORE);
    }

    fuzz_assert(depth == 0);
}


/* Parses the filter inside more text; with where it must give the same SQL. */

static void
fuzz_same(ngx_pool_t *pool, const uint8_t *data, size_t size,
    const char *before, const char *after, ngx_svc_scim_where_t *where)
{
    u_char                *text, *p;
    ngx_int_t              rc;
    ngx_svc_scim_where_t   other;

    text = malloc(strlen(before) + size + strlen(after));
    fuzz_assert(text != NULL);

    p = ngx_cpymem(text, before, strlen(before));
    p = ngx_cpymem(p, data, size);
    p = ngx_cpymem(p, after, strlen(after));

    rc = fuzz_where(pool, text, p - text, &other);

    if (where && p - text <= NGX_SVC_SCIM_FILTER_MAX) {
        fuzz_assert(rc == NGX_OK);
        fuzz_assert(other.kind == where->kind);
        fuzz_assert(other.sql.len == where->sql.len);
        fuzz_assert(other.sql.len == 0
                    || memcmp(other.sql.data, where->sql.data, other.sql.len)
                       == 0);
    }

    free(text);
}
