/*
 * In the helper: one fetch, from its entry to its answer.
 */

#include "ngx_svc_fetch_job.h"
#include "ngx_svc_webhook.h"

#include "ngx_svc_federation.h"
#include "ngx_svc_log_limit.h"
#include "ngx_svc_outbound_target.h"


#define NGX_SVC_FETCH_POOL      4096
#define NGX_SVC_FETCH_HEADS     16384   /* bytes of an answer's heads */


static ngx_int_t ngx_svc_fetch_job_open(ngx_svc_fetch_job_t *job,
    const ngx_str_t *entry);
static ngx_int_t ngx_svc_fetch_job_request(ngx_svc_fetch_job_t *job);
static void ngx_svc_fetch_job_head(ngx_svc_outbound_t *r);
static void ngx_svc_fetch_job_value(ngx_svc_outbound_t *r, const char *name,
    ngx_pool_t *pool, ngx_str_t *value);
static time_t ngx_svc_fetch_job_max_age(ngx_svc_outbound_t *r);
static ngx_int_t ngx_svc_fetch_job_body(ngx_svc_outbound_t *r, u_char *text,
    size_t len);
static void ngx_svc_fetch_job_fail(ngx_svc_fetch_job_t *job,
    ngx_svc_fetch_outcome_e outcome, const u_char *why, size_t len);
static void ngx_svc_fetch_job_log(ngx_svc_fetch_job_t *job,
    const ngx_str_t *why);


ngx_svc_fetch_job_t *
ngx_svc_fetch_job(const ngx_str_t *entry, ngx_msec_t ms)
{
    ngx_int_t             rc;
    ngx_pool_t           *pool;
    ngx_svc_fetch_job_t  *job;

    pool = ngx_create_pool(NGX_SVC_FETCH_POOL, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    job = ngx_pcalloc(pool, sizeof(ngx_svc_fetch_job_t));
    rc = NGX_ERROR;

    if (job) {
        job->pool = pool;
        job->due = ngx_current_msec + ms;
        job->fetch.pool = pool;
        job->fetch.max_age = -1;
        job->request.data = job;

        rc = ngx_svc_fetch_job_open(job, entry);
    }

    if (rc == NGX_OK) {
        return job;
    }

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  rc == NGX_ABORT
                  ? "a fetch in Redis is dropped: it is not authentic, its key "
                    "is gone from \"svc_key_file\", or the clocks of nodes "
                    "differ by a minute"
                  : "a fetch in Redis is dropped: it is damaged, or there is "
                    "no memory");

    ngx_destroy_pool(pool);

    return NULL;
}


static ngx_int_t
ngx_svc_fetch_job_open(ngx_svc_fetch_job_t *job, const ngx_str_t *entry)
{
    ngx_str_t             text;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    text.len = entry->len;
    text.data = ngx_pnalloc(job->pool, ngx_max(text.len, 1));
    if (text.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(text.data, entry->data, text.len);

    return ngx_svc_fetch_open(&smcf->keys, &text, &job->fetch);
}


ngx_int_t
ngx_svc_fetch_job_begin(ngx_svc_fetch_job_t *job)
{
    ngx_msec_int_t   left;
    ngx_svc_error_t  err;

    static const u_char  late[] = "it has waited for others for too long";
    static const u_char  memory[] = "no memory";

    left = (ngx_msec_int_t) (job->due - ngx_current_msec);

    if (left <= 0) {
        ngx_svc_fetch_job_fail(job, NGX_SVC_FETCH_LATE, late,
                               sizeof(late) - 1);
        return NGX_DECLINED;
    }

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    if (ngx_svc_federation_url(&job->fetch.url, "url", &err) != NGX_OK) {
        ngx_svc_fetch_job_fail(job, NGX_SVC_FETCH_FAILED, err.detail, err.len);
        return NGX_DECLINED;
    }

    job->request.timeout = (ngx_msec_t) left;

    if (ngx_svc_fetch_job_request(job) != NGX_OK
        || ngx_svc_outbound_request(&job->request) != NGX_OK)
    {
        ngx_svc_fetch_job_fail(job, NGX_SVC_FETCH_UNAVAILABLE, memory,
                               sizeof(memory) - 1);
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_fetch_job_request(ngx_svc_fetch_job_t *job)
{
    u_char               *url;
    ngx_uint_t            i;
    ngx_svc_fetch_t      *fetch;
    ngx_svc_outbound_t   *r;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);
    fetch = &job->fetch;
    r = &job->request;

    url = ngx_pnalloc(job->pool, fetch->url.len + 1);
    fetch->answer.data = ngx_pnalloc(job->pool, fetch->limit + 1);

    if (url == NULL || fetch->answer.data == NULL) {
        return NGX_ERROR;
    }

    *ngx_cpymem(url, fetch->url.data, fetch->url.len) = '\0';

    r->method = fetch->post ? "POST" : "GET";
    r->url = url;
    r->agent = "Svc-Fetch/1";
    r->limit = fetch->limit + NGX_SVC_FETCH_HEADS;
    r->allow = &smcf->allow;
    r->head = ngx_svc_fetch_job_head;
    r->sink = ngx_svc_fetch_job_body;
    r->urgent = 1;
    r->plain = ngx_strncasecmp(url, (u_char *) NGX_SVC_OUTBOUND_PLAIN,
                               sizeof(NGX_SVC_OUTBOUND_PLAIN) - 1)
               == 0;

    if (fetch->post) {
        r->body = fetch->body;
        r->once = 1;
    }

    for (i = 0; i < fetch->nheaders; i++) {
        if (ngx_svc_outbound_header(r, "", fetch->headers[i].data,
                                    fetch->headers[i].len)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static void
ngx_svc_fetch_job_head(ngx_svc_outbound_t *r)
{
    ngx_svc_fetch_job_t  *job;

    job = r->data;

    ngx_svc_fetch_job_value(r, "Content-Type", job->pool, &job->fetch.type);
    ngx_svc_fetch_job_value(r, "ETag", job->pool, &job->fetch.etag);

    job->fetch.max_age = ngx_svc_fetch_job_max_age(r);
}


static void
ngx_svc_fetch_job_value(ngx_svc_outbound_t *r, const char *name,
    ngx_pool_t *pool, ngx_str_t *value)
{
    ngx_str_t  found;

    if (ngx_svc_outbound_answered(r, name, &found) != NGX_OK
        || found.len > NGX_SVC_FETCH_VALUE)
    {
        return;
    }

    value->data = ngx_pstrdup(pool, &found);
    value->len = value->data ? found.len : 0;
}


/* Reads "max-age" of Cache-Control, which may be in quotes (RFC 9111, 5.2). */

static time_t
ngx_svc_fetch_job_max_age(ngx_svc_outbound_t *r)
{
    u_char     *p, *end;
    time_t      age;
    ngx_str_t   value;

    static const u_char  name[] = "max-age=";

    if (ngx_svc_outbound_answered(r, "Cache-Control", &value) != NGX_OK) {
        return -1;
    }

    end = value.data + value.len;

    p = ngx_strlcasestrn(value.data, end, (u_char *) name, sizeof(name) - 2);

    if (p == NULL || (p > value.data && p[-1] != ' ' && p[-1] != ',')) {
        return -1;
    }

    p += sizeof(name) - 1;

    if (p < end && *p == '"') {
        p++;
    }

    for (value.data = p; p < end && *p >= '0' && *p <= '9'; p++) {
        /* void */
    }

    age = ngx_atotm(value.data, p - value.data);

    return age == (time_t) NGX_ERROR ? -1 : age;
}


static ngx_int_t
ngx_svc_fetch_job_body(ngx_svc_outbound_t *r, u_char *text, size_t len)
{
    ngx_svc_fetch_t      *fetch;
    ngx_svc_fetch_job_t  *job;

    job = r->data;
    fetch = &job->fetch;

    if (len > fetch->limit - fetch->answer.len) {
        job->overlong = 1;
        return NGX_ERROR;
    }

    ngx_memcpy(fetch->answer.data + fetch->answer.len, text, len);
    fetch->answer.len += len;

    return NGX_OK;
}


void
ngx_svc_fetch_job_result(ngx_svc_fetch_job_t *job)
{
    u_char                      text[NGX_SVC_OUTBOUND_REASON], *p;
    ngx_svc_outbound_t         *r;
    ngx_svc_fetch_outcome_e     outcome;
    ngx_svc_outbound_result_t  *result;

    r = &job->request;
    result = &r->result;

    job->fetch.status = result->status;

    if (r->complete
        && (result->status / 100 != 3
            || result->status == NGX_HTTP_NOT_MODIFIED))
    {
        job->fetch.outcome = NGX_SVC_FETCH_ANSWERED;
        return;
    }

    outcome = r->late ? NGX_SVC_FETCH_LATE : NGX_SVC_FETCH_FAILED;
    p = text;

    if (result->outcome == NGX_SVC_OUTBOUND_POSTPONED) {
        outcome = NGX_SVC_FETCH_UNAVAILABLE;
        p = ngx_sprintf(p, "the helper process has no connection left");

    } else if (job->overlong || (r->answered && (r->flood || r->reader.excess)))
    {
        p = ngx_sprintf(p, "the answer is longer than %uz KiB",
                        job->fetch.limit / 1024);

    } else if (r->answered && !r->complete) {
        p = ngx_sprintf(p, r->late ? "the answer did not end in time"
                                   : "the answer broke off");

    } else {
        p = ngx_cpymem(p, result->error.data, result->error.len);
    }

    ngx_svc_fetch_job_fail(job, outcome, text, p - text);
}


static void
ngx_svc_fetch_job_fail(ngx_svc_fetch_job_t *job,
    ngx_svc_fetch_outcome_e outcome, const u_char *why, size_t len)
{
    ngx_str_t         text;
    ngx_svc_fetch_t  *fetch;

    fetch = &job->fetch;

    text.data = (u_char *) why;
    text.len = ngx_min(len, NGX_SVC_FETCH_VALUE);

    fetch->outcome = outcome;
    fetch->max_age = -1;
    ngx_str_null(&fetch->type);
    ngx_str_null(&fetch->etag);

    if (fetch->answer.len) {
        ngx_explicit_memzero(fetch->answer.data, fetch->answer.len);
        fetch->answer.len = 0;
    }

    fetch->why.data = ngx_pstrdup(job->pool, &text);
    fetch->why.len = fetch->why.data ? text.len : 0;

    ngx_svc_fetch_job_log(job, job->request.result.detail.len
                               ? &job->request.result.detail : &text);
}


/* Writes the URL without its query, which may have a secret. */

static void
ngx_svc_fetch_job_log(ngx_svc_fetch_job_t *job, const ngx_str_t *why)
{
    u_char      *p;
    ngx_str_t    url;
    ngx_uint_t   level;

    static ngx_svc_log_limit_t  limit;

    url = job->fetch.url;
    p = ngx_strlchr(url.data, url.data + url.len, '?');

    if (p) {
        url.len = p - url.data;
    }

    level = ngx_svc_log_limit_level(&limit, 1, NGX_SVC_FETCH_INTERVAL,
                                    NGX_LOG_WARN);

    ngx_log_error(level, ngx_cycle->log, 0,
                  "a fetch of tenant %V has failed, of %V: %V",
                  &job->fetch.tenant, &url, why);
}


ngx_int_t
ngx_svc_fetch_job_answer(ngx_svc_fetch_job_t *job)
{
    ngx_svc_main_conf_t  *smcf;

    if (job->answer.data) {
        return NGX_OK;
    }

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    if (ngx_svc_fetch_answer(&smcf->keys, &job->fetch, &job->answer)
        != NGX_OK)
    {
        job->answer.data = NULL;
        return NGX_ERROR;
    }

    return NGX_OK;
}


void
ngx_svc_fetch_job_free(ngx_svc_fetch_job_t *job)
{
    ngx_svc_outbound_close(&job->request);

    if (job->timer.timer_set) {
        ngx_del_timer(&job->timer);
    }

    if (job->fetch.answer.len) {
        ngx_explicit_memzero(job->fetch.answer.data, job->fetch.answer.len);
    }

    if (job->answer.data) {
        ngx_free(job->answer.data);
    }

    ngx_destroy_pool(job->pool);
}
