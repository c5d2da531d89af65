/*
 * Fetches, and their answers, as sealed entries in Redis.
 */

#include "ngx_svc_fetch_entry.h"
#include "ngx_svc_outbound_target.h"


#define NGX_SVC_FETCH_LABEL   "svc.fetch:"
#define NGX_SVC_FETCHED_LABEL "svc.fetched:"

#define NGX_SVC_FETCH_OLD     60        /* s; clocks of nodes may differ by as
                                           much */
#define NGX_SVC_FETCH_WHY     255       /* bytes, at most */
#define NGX_SVC_FETCH_RESULT  (3 * NGX_SVC_ENTRY_NUMBER                       \
                               + 3 * NGX_SVC_ENTRY_LEN                        \
                               + 2 * NGX_SVC_FETCH_VALUE + NGX_SVC_FETCH_WHY)


static ngx_int_t ngx_svc_fetch_check(const ngx_svc_fetch_t *fetch);
static ngx_int_t ngx_svc_fetch_seal(const ngx_svc_keys_t *keys,
    const char *label, const ngx_svc_fetch_t *fetch, u_char *plain,
    size_t len, ngx_str_t *entry);
static ngx_int_t ngx_svc_fetch_unseal(const ngx_svc_keys_t *keys,
    const char *label, const ngx_str_t *entry, ngx_pool_t *pool,
    ngx_str_t *plain, ngx_str_t *tenant);


ngx_int_t
ngx_svc_fetch_entry(const ngx_svc_keys_t *keys, const ngx_svc_fetch_t *fetch,
    ngx_str_t *entry)
{
    u_char      *plain, *p, *end;
    size_t       size;
    ngx_int_t    rc;
    ngx_uint_t   i;

    if (ngx_svc_fetch_check(fetch) != NGX_OK) {
        return NGX_DECLINED;
    }

    size = NGX_SVC_FETCH_ENTRY - NGX_SVC_ENTRY_OVERHEAD;

    plain = ngx_calloc(size, ngx_cycle->log);
    if (plain == NULL) {
        return NGX_ERROR;
    }

    end = plain + size;

    p = ngx_svc_entry_number(plain, end, ngx_time());
    p = ngx_svc_entry_number(p, end, fetch->post);
    p = ngx_svc_entry_number(p, end, fetch->limit);
    p = ngx_svc_entry_number(p, end, fetch->nheaders);
    p = ngx_svc_entry_write(p, end, &fetch->url);
    p = ngx_svc_entry_write(p, end, &fetch->body);

    for (i = 0; i < fetch->nheaders; i++) {
        p = ngx_svc_entry_write(p, end, &fetch->headers[i]);
    }

    rc = p ? ngx_svc_fetch_seal(keys, NGX_SVC_FETCH_LABEL, fetch, plain,
                                p - plain, entry)
           : NGX_DECLINED;

    ngx_explicit_memzero(plain, size);
    ngx_free(plain);

    return rc;
}


static ngx_int_t
ngx_svc_fetch_check(const ngx_svc_fetch_t *fetch)
{
    size_t      k;
    ngx_uint_t  i;

    if (fetch->url.len > NGX_SVC_OUTBOUND_URL
        || fetch->body.len > NGX_SVC_FETCH_BODY
        || fetch->limit > NGX_SVC_FETCH_ANSWER
        || fetch->timeout > NGX_SVC_FETCH_TIMEOUT
        || fetch->nheaders > NGX_SVC_FETCH_HEADERS)
    {
        return NGX_DECLINED;
    }

    for (i = 0; i < fetch->nheaders; i++) {
        for (k = 0; k < fetch->headers[i].len; k++) {
            if (fetch->headers[i].data[k] < 0x20
                || fetch->headers[i].data[k] == 0x7f)
            {
                return NGX_DECLINED;
            }
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_fetch_seal(const ngx_svc_keys_t *keys, const char *label,
    const ngx_svc_fetch_t *fetch, u_char *plain, size_t len, ngx_str_t *entry)
{
    ngx_int_t  rc;

    entry->data = ngx_alloc(len + NGX_SVC_ENTRY_OVERHEAD, ngx_cycle->log);
    if (entry->data == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_entry_seal(keys, label, fetch->id, &fetch->tenant, plain, len,
                            entry->data, &entry->len);

    if (rc != NGX_OK) {
        ngx_free(entry->data);
    }

    return rc;
}


ngx_int_t
ngx_svc_fetch_answer(const ngx_svc_keys_t *keys, const ngx_svc_fetch_t *fetch,
    ngx_str_t *entry)
{
    u_char     *plain, *p, *end;
    size_t      size;
    ngx_int_t   rc;

    size = NGX_SVC_FETCH_RESULT + fetch->answer.len;

    plain = ngx_calloc(size, ngx_cycle->log);
    if (plain == NULL) {
        return NGX_ERROR;
    }

    end = plain + size;

    p = ngx_svc_entry_number(plain, end, fetch->outcome);
    p = ngx_svc_entry_number(p, end, fetch->status);
    p = ngx_svc_entry_number(p, end, fetch->max_age);
    p = ngx_svc_entry_write(p, end, &fetch->type);
    p = ngx_svc_entry_write(p, end, &fetch->etag);
    p = ngx_svc_entry_write(p, end, &fetch->why);

    rc = NGX_DECLINED;

    if (p && (size_t) (end - p) >= fetch->answer.len) {

        if (fetch->answer.len) {
            p = ngx_cpymem(p, fetch->answer.data, fetch->answer.len);
        }

        rc = ngx_svc_fetch_seal(keys, NGX_SVC_FETCHED_LABEL, fetch, plain,
                                p - plain, entry);
    }

    ngx_explicit_memzero(plain, size);
    ngx_free(plain);

    return rc;
}


ngx_int_t
ngx_svc_fetch_open(const ngx_svc_keys_t *keys, const ngx_str_t *entry,
    ngx_svc_fetch_t *fetch)
{
    u_char      *p, *end;
    int64_t      made, post, limit, n;
    ngx_int_t    rc;
    ngx_str_t    plain;
    ngx_uint_t   i;

    if (entry->len > NGX_SVC_FETCH_ENTRY) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_fetch_unseal(keys, NGX_SVC_FETCH_LABEL, entry, fetch->pool,
                              &plain, &fetch->tenant);
    if (rc != NGX_OK) {
        return rc;
    }

    end = plain.data + plain.len;

    p = ngx_svc_entry_read_number(plain.data, end, &made);
    p = ngx_svc_entry_read_number(p, end, &post);
    p = ngx_svc_entry_read_number(p, end, &limit);
    p = ngx_svc_entry_read_number(p, end, &n);
    p = ngx_svc_entry_read(p, end, &fetch->url);
    p = ngx_svc_entry_read(p, end, &fetch->body);

    if (p == NULL || n < 0 || n > NGX_SVC_FETCH_HEADERS || limit < 0
        || limit > NGX_SVC_FETCH_ANSWER)
    {
        return NGX_DECLINED;
    }

    for (i = 0; i < (ngx_uint_t) n; i++) {
        p = ngx_svc_entry_read(p, end, &fetch->headers[i]);
    }

    fetch->post = post != 0;
    fetch->limit = (size_t) limit;
    fetch->nheaders = (ngx_uint_t) n;
    ngx_memcpy(fetch->id, entry->data, NGX_SVC_ENTRY_ID);

    if (p != end) {
        return NGX_DECLINED;
    }

    return made >= ngx_time() - NGX_SVC_FETCH_OLD ? NGX_OK : NGX_ABORT;
}


static ngx_int_t
ngx_svc_fetch_unseal(const ngx_svc_keys_t *keys, const char *label,
    const ngx_str_t *entry, ngx_pool_t *pool, ngx_str_t *plain,
    ngx_str_t *tenant)
{
    plain->data = ngx_pcalloc(pool, entry->len);

    if (plain->data == NULL
        || ngx_svc_wipe_later(pool, plain->data, entry->len) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_entry_open(keys, label, entry, plain->data, &plain->len,
                              tenant);
}


ngx_int_t
ngx_svc_fetch_open_answer(const ngx_svc_keys_t *keys, const ngx_str_t *entry,
    ngx_svc_fetch_t *fetch)
{
    u_char     *p, *end;
    int64_t     outcome, status, max_age;
    ngx_int_t   rc;
    ngx_str_t   plain, tenant;

    rc = ngx_svc_fetch_unseal(keys, NGX_SVC_FETCHED_LABEL, entry, fetch->pool,
                              &plain, &tenant);
    if (rc != NGX_OK) {
        return rc;
    }

    end = plain.data + plain.len;

    p = ngx_svc_entry_read_number(plain.data, end, &outcome);
    p = ngx_svc_entry_read_number(p, end, &status);
    p = ngx_svc_entry_read_number(p, end, &max_age);
    p = ngx_svc_entry_read(p, end, &fetch->type);
    p = ngx_svc_entry_read(p, end, &fetch->etag);
    p = ngx_svc_entry_read(p, end, &fetch->why);

    if (p == NULL || outcome < 0 || outcome >= NGX_SVC_FETCH_OUTCOMES
        || ngx_memcmp(entry->data, fetch->id, NGX_SVC_ENTRY_ID) != 0
        || !ngx_svc_same(&tenant, &fetch->tenant))
    {
        return NGX_DECLINED;
    }

    fetch->outcome = (ngx_svc_fetch_outcome_e) outcome;
    fetch->status = (ngx_uint_t) status;
    fetch->max_age = (time_t) max_age;
    fetch->answer.data = p;
    fetch->answer.len = end - p;

    return NGX_OK;
}
