/*
 * In the helper: a mail, from Redis to the mail server.
 */

#include "ngx_svc_mail_lane.h"
#include "ngx_svc_mail_address.h"
#include "ngx_svc_mail_entry.h"
#include "ngx_svc_mail_letter.h"
#include "ngx_svc_mail_outcome.h"
#include "ngx_svc_mail_queue.h"
#include "ngx_svc_mail_send.h"


#define NGX_SVC_MAIL_JOBS     1024      /* mails in this process, at most */
#define NGX_SVC_MAIL_NO_MEMORY  1000    /* ms until the next try */


/* A mail, in one block of ngx_alloc() with its entry and its texts. */

typedef struct {
    ngx_str_node_t         node;        /* by id */
    ngx_queue_t            queue;       /* in jobs.ready, or empty */
    ngx_event_t            timer;       /* until the next attempt */
    ngx_svc_mail_t         mail;
    ngx_svc_mail_result_t  result;
    ngx_svc_mail_end_t     end;
    size_t                 size;        /* bytes of the block */
    ngx_msec_t             first;       /* when the first attempt began */
    u_char                 failed[NGX_SVC_MAIL_FAILED_KEY];
    unsigned               sending:1;   /* a thread sends it */
    unsigned               ended:1;
    unsigned               lost:1;      /* another helper may have it */
} ngx_svc_mail_job_t;

typedef struct {
    ngx_rbtree_t           tree;
    ngx_rbtree_node_t      sentinel;
    ngx_queue_t            ready;
    ngx_uint_t             n;           /* jobs */
    ngx_uint_t             nsending;
    ngx_uint_t             nending;     /* jobs whose end Redis has not
                                           confirmed */
    void                 (*drained)(void);
    unsigned               draining:1;
} ngx_svc_mail_jobs_t;


static ngx_int_t ngx_svc_mail_lane_init(const ngx_svc_lane_t *lane,
    ngx_cycle_t *cycle, const u_char *id, const ngx_str_t *before);
static ngx_uint_t ngx_svc_mail_lane_room(void);
static ngx_int_t ngx_svc_mail_lane_take(const ngx_str_t *entry);
static ngx_int_t ngx_svc_mail_lane_open(const ngx_str_t *entry,
    ngx_svc_mail_job_t **out);
static void ngx_svc_mail_lane_damaged(const ngx_str_t *entry, ngx_int_t rc);
static void ngx_svc_mail_lane_dropped(void *data, ngx_uint_t first);
static void ngx_svc_mail_lane_forget(void);
static void ngx_svc_mail_lane_pump(void);
static void ngx_svc_mail_lane_attempt(ngx_svc_mail_job_t *job);
static void ngx_svc_mail_lane_sent(ngx_svc_mail_letter_t *letter);
static void ngx_svc_mail_lane_retry(ngx_svc_mail_job_t *job);
static void ngx_svc_mail_lane_timer(ngx_event_t *ev);
static void ngx_svc_mail_lane_end(ngx_svc_mail_job_t *job,
    ngx_svc_mail_outcome_e outcome);
static void ngx_svc_mail_lane_ended(void *data, ngx_uint_t first);
static void ngx_svc_mail_lane_free(void *data);
static void ngx_svc_mail_lane_drain(const ngx_svc_lane_t *lane,
    void (*done)(void));
static void ngx_svc_mail_lane_idle(void);
static void ngx_svc_mail_lane_leave(const ngx_svc_lane_t *lane,
    void (*done)(void));


static const ngx_svc_mail_queue_handlers_t  ngx_svc_mail_lane_handlers = {
    .room = ngx_svc_mail_lane_room,
    .take = ngx_svc_mail_lane_take,
    .forget = ngx_svc_mail_lane_forget,
    .wake = ngx_svc_mail_lane_pump
};

static ngx_svc_mail_jobs_t  ngx_svc_mail_jobs;


const ngx_svc_lane_t  ngx_svc_mail_lane = {
    .init = ngx_svc_mail_lane_init,
    .drain = ngx_svc_mail_lane_drain,
    .leave = ngx_svc_mail_lane_leave
};


static ngx_int_t
ngx_svc_mail_lane_init(const ngx_svc_lane_t *lane, ngx_cycle_t *cycle,
    const u_char *id, const ngx_str_t *before)
{
    ngx_svc_mail_jobs_t  *jobs;

    if (ngx_svc_webhook_conf()->mail.url.len == 0) {
        return NGX_DECLINED;
    }

    jobs = &ngx_svc_mail_jobs;

    ngx_rbtree_init(&jobs->tree, &jobs->sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&jobs->ready);

    if (ngx_svc_mail_outcome_init() != NGX_OK
        || ngx_svc_mail_send_init(cycle, ngx_svc_mail_lane_sent) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_mail_queue_start(cycle, id, before,
                                    &ngx_svc_mail_lane_handlers);
}


static ngx_uint_t
ngx_svc_mail_lane_room(void)
{
    return NGX_SVC_MAIL_JOBS - ngx_min(ngx_svc_mail_jobs.n, NGX_SVC_MAIL_JOBS);
}


static ngx_int_t
ngx_svc_mail_lane_take(const ngx_str_t *entry)
{
    ngx_int_t             rc;
    ngx_str_t             id;
    ngx_svc_mail_job_t   *job;
    ngx_svc_mail_jobs_t  *jobs;

    jobs = &ngx_svc_mail_jobs;

    id.data = entry->data;
    id.len = ngx_min(entry->len, NGX_SVC_ENTRY_ID);

    job = (ngx_svc_mail_job_t *)
              ngx_str_rbtree_lookup(&jobs->tree, &id,
                                    ngx_crc32_short(id.data, id.len));
    if (job) {
        job->lost = 0;
        return NGX_OK;
    }

    rc = ngx_svc_mail_lane_open(entry, &job);

    if (rc == NGX_DECLINED || rc == NGX_ABORT) {
        ngx_svc_mail_lane_damaged(entry, rc);
        return NGX_OK;
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_rbtree_insert(&jobs->tree, &job->node.node);
    ngx_queue_insert_tail(&jobs->ready, &job->queue);
    jobs->n++;

    return NGX_OK;
}


/* Opens an entry; returns as ngx_svc_mail_entry_open(). */

static ngx_int_t
ngx_svc_mail_lane_open(const ngx_str_t *entry, ngx_svc_mail_job_t **out)
{
    size_t                size;
    ngx_int_t             rc;
    ngx_str_t             text;
    ngx_svc_main_conf_t  *smcf;
    ngx_svc_mail_job_t   *job;

    size = sizeof(ngx_svc_mail_job_t) + 2 * entry->len;

    job = ngx_alloc(size, ngx_cycle->log);
    if (job == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(job, sizeof(ngx_svc_mail_job_t));

    text.data = (u_char *) (job + 1);
    text.len = entry->len;
    ngx_memcpy(text.data, entry->data, text.len);

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    rc = ngx_svc_mail_entry_open(&smcf->keys, &text, text.data + text.len,
                                 &job->mail);
    if (rc != NGX_OK) {
        ngx_free(job);
        return rc;
    }

    job->size = size;
    job->node.str.data = text.data;
    job->node.str.len = NGX_SVC_ENTRY_ID;
    job->node.node.key = ngx_crc32_short(text.data, NGX_SVC_ENTRY_ID);
    job->result.id = job->node.str;
    job->result.mail = &job->mail;
    job->result.error = "none was made";

    job->timer.handler = ngx_svc_mail_lane_timer;
    job->timer.data = job;
    job->timer.log = ngx_cycle->log;

    *out = job;

    return NGX_OK;
}


static void
ngx_svc_mail_lane_damaged(const ngx_str_t *entry, ngx_int_t rc)
{
    u_char              *p;
    ngx_svc_mail_end_t  *end;

    ngx_svc_metric_add(NGX_SVC_M_MAIL_DAMAGED, 1);

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  rc == NGX_ABORT
                  ? "a mail in Redis is dropped: it is not authentic, or its "
                    "key is gone from \"svc_key_file\""
                  : "a mail in Redis is dropped: it is damaged");

    end = ngx_calloc(sizeof(ngx_svc_mail_end_t) + entry->len, ngx_cycle->log);
    if (end == NULL) {
        return;
    }

    p = (u_char *) (end + 1);
    ngx_memcpy(p, entry->data, entry->len);

    /* the id, as the script finds it in an entry */

    end->id.data = p;

    while (end->id.len < entry->len
           && ((p[end->id.len] >= '0' && p[end->id.len] <= '9')
               || ((p[end->id.len] | 0x20) >= 'a'
                   && (p[end->id.len] | 0x20) <= 'f')))
    {
        end->id.len++;
    }

    if (end->id.len == 0) {
        end->id.len = entry->len;
    }

    if (rc == NGX_ABORT) {
        end->tenant.data = p + NGX_SVC_ENTRY_ID + 1;
        end->tenant.len = NGX_SVC_UUID_TEXT_LEN;
    }

    end->handler = ngx_svc_mail_lane_dropped;
    end->data = end;

    ngx_svc_mail_queue_end(end);
}


static void
ngx_svc_mail_lane_dropped(void *data, ngx_uint_t first)
{
    ngx_free(data);
}


/* A mail that a thread is sending is looked at when that has ended. */

static void
ngx_svc_mail_lane_forget(void)
{
    ngx_rbtree_node_t    *node, *next;
    ngx_svc_mail_job_t   *job;
    ngx_svc_mail_jobs_t  *jobs;

    jobs = &ngx_svc_mail_jobs;

    if (jobs->tree.root == &jobs->sentinel) {
        return;
    }

    for (node = ngx_rbtree_min(jobs->tree.root, &jobs->sentinel);
         node;
         node = next)
    {
        next = ngx_rbtree_next(&jobs->tree, node);
        job = (ngx_svc_mail_job_t *) node;

        if (job->sending) {
            job->lost = 1;

        } else if (!job->ended) {
            ngx_svc_mail_lane_free(job);
        }
    }
}


/*
 * A mail is under way until Redis has confirmed its end: when the helper is
 * killed, no more than svc_mail_concurrency of them come twice.
 */

static void
ngx_svc_mail_lane_pump(void)
{
    ngx_queue_t          *q;
    ngx_svc_mail_jobs_t  *jobs;

    jobs = &ngx_svc_mail_jobs;

    while (!jobs->draining && !ngx_queue_empty(&jobs->ready)
           && jobs->nsending + jobs->nending
              < ngx_svc_webhook_conf()->mail.concurrency
           && ngx_svc_mail_queue_sure())
    {
        q = ngx_queue_head(&jobs->ready);
        ngx_queue_remove(q);
        ngx_queue_init(q);

        ngx_svc_mail_lane_attempt(ngx_queue_data(q, ngx_svc_mail_job_t,
                                                 queue));
    }
}


/*
 * The address was checked before the mail was queued, but someone with the key
 * could queue others.
 */

static void
ngx_svc_mail_lane_attempt(ngx_svc_mail_job_t *job)
{
    ngx_svc_mail_letter_t  *letter;

    if (job->mail.not_after <= ngx_time()) {
        ngx_svc_mail_lane_end(job, NGX_SVC_MAIL_EXPIRED);
        return;
    }

    if (ngx_svc_mail_address(&job->mail.to) != NGX_OK) {
        job->result.error = "it is to no address";
        ngx_svc_mail_lane_end(job, NGX_SVC_MAIL_REJECTED);
        return;
    }

    letter = ngx_svc_mail_letter(&ngx_svc_webhook_conf()->mail, &job->mail,
                                 &job->result.id);
    if (letter == NULL) {
        ngx_add_timer(&job->timer, NGX_SVC_MAIL_NO_MEMORY);
        return;
    }

    if (job->result.attempts == 0) {
        job->first = ngx_current_msec;
    }

    letter->data = job;
    job->result.attempts++;
    job->sending = 1;
    ngx_svc_mail_jobs.nsending++;

    ngx_svc_mail_send_letter(letter);
}


static void
ngx_svc_mail_lane_sent(ngx_svc_mail_letter_t *letter)
{
    ngx_uint_t           sent, refused;
    ngx_svc_mail_job_t  *job;

    job = letter->data;
    sent = letter->sent;
    refused = letter->refused;

    job->result.status = letter->status;
    job->result.error = letter->error;
    job->sending = 0;
    ngx_svc_mail_jobs.nsending--;

    ngx_destroy_pool(letter->pool);

    if (sent) {
        ngx_svc_mail_lane_end(job, NGX_SVC_MAIL_SENT);

    } else if (job->lost) {
        ngx_svc_mail_lane_free(job);

    } else if (refused) {
        ngx_svc_mail_lane_end(job, NGX_SVC_MAIL_REJECTED);

    } else {
        ngx_svc_mail_lane_retry(job);
    }

    ngx_svc_mail_lane_pump();
    ngx_svc_mail_lane_idle();
}


static void
ngx_svc_mail_lane_retry(ngx_svc_mail_job_t *job)
{
    ngx_msec_t                  elapsed, due;
    const ngx_svc_mail_conf_t  *conf;

    conf = &ngx_svc_webhook_conf()->mail;

    if (job->result.attempts > conf->nretries) {
        ngx_svc_mail_lane_end(job, NGX_SVC_MAIL_GIVEN_UP);
        return;
    }

    elapsed = ngx_current_msec - job->first;
    due = conf->retries[job->result.attempts - 1];
    due = (due > elapsed) ? due - elapsed : 1;

    if (ngx_time() + (time_t) (due / 1000) >= job->mail.not_after) {
        ngx_svc_mail_lane_end(job, NGX_SVC_MAIL_EXPIRED);
        return;
    }

    ngx_svc_metric_add(NGX_SVC_M_MAIL_RETRIED, 1);
    ngx_add_timer(&job->timer, due);
}


static void
ngx_svc_mail_lane_timer(ngx_event_t *ev)
{
    ngx_svc_mail_job_t  *job;

    job = ev->data;

    ngx_queue_insert_tail(&ngx_svc_mail_jobs.ready, &job->queue);
    ngx_svc_mail_lane_pump();
}


static void
ngx_svc_mail_lane_end(ngx_svc_mail_job_t *job, ngx_svc_mail_outcome_e outcome)
{
    job->ended = 1;
    job->result.outcome = outcome;

    ngx_svc_mail_outcome(&job->result);

    job->end.id = job->result.id;
    job->end.tenant = job->mail.tenant;
    job->end.handler = ngx_svc_mail_lane_ended;
    job->end.data = job;

    if (outcome != NGX_SVC_MAIL_SENT) {
        job->end.failed.data = job->failed;
        job->end.failed.len = ngx_svc_mail_outcome_key(job->failed, &job->mail)
                              - job->failed;
    }

    ngx_svc_mail_jobs.nending++;
    ngx_svc_mail_queue_end(&job->end);
}


static void
ngx_svc_mail_lane_ended(void *data, ngx_uint_t first)
{
    ngx_svc_mail_job_t *job = data;

    ngx_svc_mail_jobs.nending--;

    if (!first || ngx_svc_mail_outcome_audit(&job->result,
                                             ngx_svc_mail_lane_free, job)
                  != NGX_OK)
    {
        ngx_svc_mail_lane_free(job);
    }

    ngx_svc_mail_lane_pump();
    ngx_svc_mail_lane_idle();
}


static void
ngx_svc_mail_lane_free(void *data)
{
    ngx_svc_mail_job_t *job = data;

    ngx_svc_mail_jobs_t  *jobs;

    jobs = &ngx_svc_mail_jobs;

    ngx_queue_remove(&job->queue);
    ngx_rbtree_delete(&jobs->tree, &job->node.node);

    if (job->timer.timer_set) {
        ngx_del_timer(&job->timer);
    }

    ngx_explicit_memzero(job, job->size);
    ngx_free(job);

    if (jobs->n-- == NGX_SVC_MAIL_JOBS && !jobs->draining) {
        ngx_svc_mail_queue_take();
    }
}


static void
ngx_svc_mail_lane_drain(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_mail_jobs.draining = 1;
    ngx_svc_mail_jobs.drained = done;

    ngx_svc_mail_queue_stop();
    ngx_svc_mail_lane_idle();
}


static void
ngx_svc_mail_lane_idle(void)
{
    if (ngx_svc_mail_jobs.nsending == 0 && ngx_svc_mail_jobs.nending == 0) {
        ngx_svc_lane_done(&ngx_svc_mail_jobs.drained);
    }
}


static void
ngx_svc_mail_lane_leave(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_mail_jobs.draining = 1;
    ngx_svc_mail_jobs.drained = NULL;

    ngx_svc_mail_queue_leave(done);
}
