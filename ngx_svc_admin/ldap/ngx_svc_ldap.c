/*
 * Asks a tenant's directory: what is done in the event loop.
 */

#include "ngx_svc_ldap.h"
#include "ngx_svc_ldap_kept.h"
#include "ngx_svc_ldap_make.h"
#include "ngx_svc_ldap_page.h"
#include "ngx_svc_ldap_user.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_dns.h"
#include "ngx_svc_outbound_target.h"


/* Allocated from the pool. */

struct ngx_svc_ldap_asked_s {
    ngx_svc_ldap_t            *ldap;
    ngx_svc_ldap_known_t      *known;
    ngx_svc_ldap_job_t        *job;
    ngx_svc_dns_t             *dns;     /* NULL: it is not asked */
    const ngx_array_t         *allow;
    ngx_event_t                timer;
};


static ngx_uint_t ngx_svc_ldap_no_password(const ngx_str_t *password);
static ngx_svc_ldap_asked_t *ngx_svc_ldap_asked(ngx_svc_ldap_t *ldap);
static ngx_int_t ngx_svc_ldap_start(ngx_svc_ldap_asked_t *asked);
static ngx_int_t ngx_svc_ldap_resolve(ngx_svc_ldap_asked_t *asked);
static ngx_int_t ngx_svc_ldap_look(ngx_svc_ldap_asked_t *asked);
static void ngx_svc_ldap_looked(ngx_svc_dns_t *dns);
static ngx_int_t ngx_svc_ldap_known_name(ngx_svc_ldap_asked_t *asked,
    ngx_svc_dns_t *dns);
static ngx_int_t ngx_svc_ldap_addresses(ngx_svc_ldap_asked_t *asked,
    const ngx_svc_addr_t *addrs, ngx_uint_t naddrs);
static ngx_int_t ngx_svc_ldap_post(ngx_svc_ldap_asked_t *asked);
static void ngx_svc_ldap_starts(ngx_svc_work_t *work);
static void ngx_svc_ldap_run(ngx_svc_work_t *work);
static void ngx_svc_ldap_ran(ngx_svc_work_t *work);
static void ngx_svc_ldap_late(ngx_event_t *ev);
static ngx_int_t ngx_svc_ldap_busy(ngx_svc_ldap_asked_t *asked,
    const char *why);
static void ngx_svc_ldap_answer(ngx_svc_ldap_asked_t *asked);
static void ngx_svc_ldap_end(ngx_svc_ldap_asked_t *asked);
static void ngx_svc_ldap_gone(void *data);
static ngx_svc_admin_main_conf_t *ngx_svc_ldap_amcf(void);


static ngx_svc_work_queue_t  ngx_svc_ldap_queue =
    ngx_svc_work_queue(ngx_svc_ldap_queue, 0, 0, 2 * NGX_SVC_LDAP_TIMEOUT);

static ngx_svc_work_queue_t  ngx_svc_ldap_page_queue =
    ngx_svc_work_queue(ngx_svc_ldap_page_queue, 1, 1,
                       2 * NGX_SVC_LDAP_PAGE_TIMEOUT);


ngx_int_t
ngx_svc_ldap(ngx_svc_ldap_t *ldap)
{
    ngx_svc_ldap_asked_t  *asked;

    if (ldap->password.data && ngx_svc_ldap_no_password(&ldap->password)) {
        ldap->outcome = NGX_SVC_LDAP_WRONG;
        ngx_str_set(&ldap->why, "The password is empty, too long, or has a "
                                "zero byte.");
        return NGX_DECLINED;
    }

    asked = ngx_svc_ldap_asked(ldap);
    if (asked == NULL) {
        return NGX_ERROR;
    }

    return ngx_svc_ldap_start(asked);
}


static ngx_uint_t
ngx_svc_ldap_no_password(const ngx_str_t *password)
{
    return password->len == 0 || password->len > NGX_SVC_LDAP_PASSWORD
           || memchr(password->data, '\0', password->len) != NULL;
}


static ngx_svc_ldap_asked_t *
ngx_svc_ldap_asked(ngx_svc_ldap_t *ldap)
{
    ngx_pool_cleanup_t    *cln;
    ngx_svc_ldap_asked_t  *asked;

    cln = ngx_pool_cleanup_add(ldap->pool, sizeof(ngx_svc_ldap_asked_t));
    if (cln == NULL) {
        return NULL;
    }

    asked = cln->data;
    ngx_memzero(asked, sizeof(ngx_svc_ldap_asked_t));

    asked->known = ngx_svc_ldap_hold(ldap->directory);
    if (asked->known == NULL) {
        return NULL;
    }

    asked->job = ngx_svc_ldap_make(ldap->page ? &ngx_svc_ldap_page_queue
                                              : &ngx_svc_ldap_queue,
                                   ldap, &ngx_svc_ldap_amcf()->ldap_ca_file);
    if (asked->job == NULL) {
        ngx_svc_ldap_let(asked->known);
        return NULL;
    }

    asked->ldap = ldap;
    asked->allow = ldap->directory->allow;
    asked->timer.handler = ngx_svc_ldap_late;
    asked->timer.data = asked;
    asked->timer.log = ngx_cycle->log;

    cln->handler = ngx_svc_ldap_gone;

    ldap->asked = asked;
    ldap->usual = ngx_svc_ldap_usual(asked->known);

    ngx_add_timer(&asked->timer, ldap->page ? NGX_SVC_LDAP_PAGE_TIMEOUT
                                            : NGX_SVC_LDAP_TIMEOUT);

    return asked;
}


/* Returns what ngx_svc_ldap() does. */

static ngx_int_t
ngx_svc_ldap_start(ngx_svc_ldap_asked_t *asked)
{
    ngx_svc_ldap_job_t   *job;
    ngx_svc_ldap_page_t  *page;

    job = asked->job;
    page = asked->ldap->page;

    if (page && page->conn) {
        job->conn = page->conn;
        page->conn = NULL;
        return ngx_svc_ldap_post(asked);
    }

    if (!asked->ldap->apart) {

        if (ngx_svc_ldap_resting(asked->known)) {
            return ngx_svc_ldap_busy(asked, "The directory has not answered "
                                     "three times in a row.");
        }

        job->conn = page ? NULL : ngx_svc_ldap_take_kept(asked->known);

        if (job->conn) {
            job->kept = 1;
            return ngx_svc_ldap_post(asked);
        }
    }

    if (ngx_svc_ldap_make_conn(job) != NGX_OK) {
        ngx_svc_ldap_cancel(asked->ldap);
        return NGX_ERROR;
    }

    return ngx_svc_ldap_resolve(asked);
}


static ngx_int_t
ngx_svc_ldap_resolve(ngx_svc_ldap_asked_t *asked)
{
    ngx_svc_addr_t       addr;
    ngx_svc_ldap_job_t  *job;

    job = asked->job;

    ngx_svc_ldap_begin(job, NGX_SVC_LDAP_RESOLVE);

    if (job->in.host == NULL) {
        (void) ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "\"url\" names no server.");
        ngx_svc_ldap_end(asked);
        return NGX_DECLINED;
    }

    if (ngx_svc_addr_parse((u_char *) job->in.host, ngx_strlen(job->in.host),
                           &addr)
        == NGX_OK)
    {
        return ngx_svc_ldap_addresses(asked, &addr, 1);
    }

    return ngx_svc_ldap_look(asked);
}


static ngx_int_t
ngx_svc_ldap_look(ngx_svc_ldap_asked_t *asked)
{
    asked->dns = ngx_pcalloc(asked->ldap->pool, sizeof(ngx_svc_dns_t));

    if (asked->dns == NULL) {
        goto failed;
    }

    asked->dns->handler = ngx_svc_ldap_looked;
    asked->dns->data = asked;

    switch (ngx_svc_dns_addresses(asked->dns, asked->job->in.host,
                                  asked->ldap->pool))
    {
    case NGX_AGAIN:
        return NGX_OK;

    case NGX_BUSY:
        return ngx_svc_ldap_busy(asked, "Too many names are being looked up.");
    }

failed:

    ngx_svc_ldap_cancel(asked->ldap);

    return NGX_ERROR;
}


/* The question may have been cancelled, or its time be over. */

static void
ngx_svc_ldap_looked(ngx_svc_dns_t *dns)
{
    ngx_int_t              rc;
    ngx_svc_ldap_t        *ldap;
    ngx_svc_ldap_asked_t  *asked;

    asked = dns->data;

    if (asked->job == NULL) {
        return;
    }

    asked->dns = NULL;
    ldap = asked->ldap;

    rc = ngx_svc_ldap_known_name(asked, dns);

    if (rc != NGX_OK) {
        ldap->handler(ldap);
    }
}


static ngx_int_t
ngx_svc_ldap_known_name(ngx_svc_ldap_asked_t *asked, ngx_svc_dns_t *dns)
{
    ngx_svc_ldap_job_t  *job;

    job = asked->job;

    switch (dns->status) {

    case NGX_SVC_DNS_FOUND:
        return ngx_svc_ldap_addresses(asked, dns->addrs, dns->naddrs);

    case NGX_SVC_DNS_NONE:
    case NGX_SVC_DNS_NAME:
        (void) ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "DNS has no address of \"%s\": is the name in "
                                 "\"url\" right?", job->in.host);
        break;

    default:
        (void) ngx_svc_ldap_fail(job, NGX_SVC_LDAP_LATE,
                                 "DNS does not tell the addresses of \"%s\": "
                                 "%s.", job->in.host, dns->why);
    }

    ngx_svc_ldap_end(asked);

    return NGX_DECLINED;
}


/* Takes the addresses that may be connected to. */

static ngx_int_t
ngx_svc_ldap_addresses(ngx_svc_ldap_asked_t *asked,
    const ngx_svc_addr_t *addrs, ngx_uint_t naddrs)
{
    u_char               text[NGX_SVC_ADDR_TEXT_LEN], *p;
    ngx_uint_t           i;
    const char          *kind, *bad;
    ngx_svc_ldap_job_t  *job;

    p = text;
    bad = NULL;
    job = asked->job;

    for (i = 0; i < naddrs && job->in.naddrs < NGX_SVC_LDAP_ADDRESSES; i++) {
        kind = ngx_svc_outbound_address(&addrs[i], asked->allow);

        if (kind) {
            bad = kind;
            p = ngx_svc_addr_text(text, &addrs[i]);

        } else {
            job->in.addrs[job->in.naddrs++] = addrs[i];
        }
    }

    if (job->in.naddrs == 0) {
        (void) ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "\"%s\" is %*s, which is %s: \"url\" must "
                                 "name a server with a public address, or the "
                                 "operator allow its network in "
                                 "\"svc_federation_allow\".", job->in.host,
                                 (size_t) (p - text), text, bad);
        ngx_svc_ldap_end(asked);
        return NGX_DECLINED;
    }

    p = ngx_svc_addr_text(text, &job->in.addrs[0]);
    ngx_svc_ldap_did(job, "\"%s\" is %*s%s.", job->in.host,
                     (size_t) (p - text), text,
                     job->in.naddrs > 1 ? " and others" : "");

    return ngx_svc_ldap_post(asked);
}


static ngx_int_t
ngx_svc_ldap_post(ngx_svc_ldap_asked_t *asked)
{
    ngx_int_t                   rc;
    ngx_svc_ldap_job_t         *job;
    ngx_svc_work_queue_t       *queue;
    ngx_svc_admin_main_conf_t  *amcf;

    job = asked->job;

    if (asked->ldap->page == NULL) {
        amcf = ngx_svc_ldap_amcf();
        queue = &ngx_svc_ldap_queue;

        queue->concurrency = amcf->jobs.ldap;
        queue->share = (amcf->jobs.ldap + 1) / 2;
        queue->most = amcf->jobs.queue;
    }

    job->work.start = ngx_svc_ldap_starts;
    job->work.run = ngx_svc_ldap_run;
    job->work.handler = ngx_svc_ldap_ran;

    rc = ngx_svc_work_post(&job->work);

    if (rc == NGX_OK) {
        return NGX_OK;
    }

    asked->job = NULL;

    return ngx_svc_ldap_busy(asked, "Too many questions wait for "
                             "directories.");
}


/* While the job has waited another one may have left its connection. */

static void
ngx_svc_ldap_starts(ngx_svc_work_t *work)
{
    ngx_svc_ldap_job_t   *job;
    ngx_svc_ldap_conn_t  *conn;

    job = (ngx_svc_ldap_job_t *) work;

    if (job->kept || job->ldap->apart || job->ldap->page) {
        return;
    }

    conn = ngx_svc_ldap_take_kept(job->ldap->asked->known);

    if (conn) {
        ngx_svc_ldap_close(job->conn);
        job->conn = conn;
        job->kept = 1;
    }
}


static void
ngx_svc_ldap_run(ngx_svc_work_t *work)
{
    ngx_svc_ldap_job_t  *job;

    job = (ngx_svc_ldap_job_t *) work;

    if (job->in.page) {
        ngx_svc_ldap_page(job);

    } else {
        ngx_svc_ldap_user(job);
    }
}


static void
ngx_svc_ldap_ran(ngx_svc_work_t *work)
{
    ngx_svc_ldap_t        *ldap;
    ngx_svc_ldap_job_t    *job;
    ngx_svc_ldap_asked_t  *asked;

    job = (ngx_svc_ldap_job_t *) work;
    ldap = job->ldap;
    asked = ldap->asked;

    if (work->rc != NGX_OK) {
        asked->job = NULL;
        (void) ngx_svc_ldap_busy(asked, "No thread takes the question.");
        ldap->handler(ldap);
        return;
    }

    if (!job->gone && job->conn->ld && !ldap->apart) {

        if (ldap->page) {
            ldap->page->conn = job->conn;

        } else {
            ngx_svc_ldap_keep(asked->known, job->conn);
        }

        job->conn = NULL;
    }

    ngx_svc_ldap_answer(asked);

    /* the queue frees the job when this returns */

    asked->job = NULL;
    ngx_svc_ldap_end(asked);

    ldap->handler(ldap);
}


/* A job that a thread has is freed, with its connection, when it ends. */

static void
ngx_svc_ldap_late(ngx_event_t *ev)
{
    ngx_svc_ldap_t        *ldap;
    ngx_svc_ldap_asked_t  *asked;

    asked = ev->data;
    ldap = asked->ldap;

    if (asked->job->work.waiting) {
        (void) ngx_svc_ldap_busy(asked, "Too many questions wait for "
                                 "directories.");
        ldap->handler(ldap);
        return;
    }

    if (ldap->page == NULL) {
        ngx_svc_ldap_note(asked->known, 1);
    }

    ldap->outcome = NGX_SVC_LDAP_LATE;
    ngx_str_set(&ldap->why, "The directory does not answer in time.");

    ngx_svc_work_cancel(&asked->job->work);
    asked->job = NULL;
    ngx_svc_ldap_end(asked);

    ldap->handler(ldap);
}


static ngx_int_t
ngx_svc_ldap_busy(ngx_svc_ldap_asked_t *asked, const char *why)
{
    ngx_svc_ldap_t  *ldap;

    ldap = asked->ldap;

    ldap->outcome = NGX_SVC_LDAP_BUSY;
    ldap->why.data = (u_char *) why;
    ldap->why.len = ngx_strlen(why);

    if (asked->job) {
        ngx_svc_work_cancel(&asked->job->work);
        asked->job = NULL;
    }

    ngx_svc_ldap_end(asked);

    return NGX_DECLINED;
}


static void
ngx_svc_ldap_answer(ngx_svc_ldap_asked_t *asked)
{
    ngx_svc_ldap_t      *ldap;
    ngx_svc_ldap_job_t  *job;

    job = asked->job;
    ldap = asked->ldap;

    /* what becomes of pages says nothing of sign-ins, which are short */

    if (ldap->page == NULL) {
        ngx_svc_ldap_note(asked->known,
                          job->out.outcome == NGX_SVC_LDAP_LATE);
    }

    if (ngx_svc_ldap_give(job, ldap) != NGX_OK) {
        ldap->outcome = NGX_SVC_LDAP_BUSY;
        ngx_str_set(&ldap->why, "There is no memory for the answer.");
    }
}


/* Ends the question; a job that is still its own has the answer. */

static void
ngx_svc_ldap_end(ngx_svc_ldap_asked_t *asked)
{
    if (asked->job) {
        ngx_svc_ldap_answer(asked);
        ngx_svc_work_cancel(&asked->job->work);
        asked->job = NULL;
    }

    if (asked->timer.timer_set) {
        ngx_del_timer(&asked->timer);
    }

    ngx_svc_ldap_let(asked->known);

    asked->ldap->asked = NULL;
    asked->ldap = NULL;
}


void
ngx_svc_ldap_cancel(ngx_svc_ldap_t *ldap)
{
    if (ldap->asked) {
        ngx_svc_ldap_gone(ldap->asked);
    }
}


static void
ngx_svc_ldap_gone(void *data)
{
    ngx_svc_ldap_asked_t *asked = data;

    if (asked->ldap == NULL) {
        return;
    }

    if (asked->job) {
        ngx_svc_work_cancel(&asked->job->work);
        asked->job = NULL;
    }

    ngx_svc_ldap_end(asked);
}


void
ngx_svc_ldap_exit_worker(void)
{
    ngx_svc_ldap_drop_all();
}


static ngx_svc_admin_main_conf_t *
ngx_svc_ldap_amcf(void)
{
    return ngx_http_cycle_get_module_main_conf((ngx_cycle_t *) ngx_cycle,
                                               ngx_http_svc_admin_module);
}
