/*
 * The import of tenants' directories.
 */

#include "ngx_svc_directory_import.h"
#include "ngx_svc_directory_leave.h"
#include "ngx_svc_directory_person.h"
#include "ngx_svc_directory_run.h"
#include "ngx_svc_account.h"
#include "ngx_svc_ldap_directory.h"
#include "ngx_svc_ldap_page.h"
#include "ngx_svc_pg_task.h"


#define NGX_SVC_DIRECTORY_PAGES  4000   /* of a directory, at most */
#define NGX_SVC_DIRECTORY_REST   1000   /* ms between two pages, at most */


static ngx_int_t ngx_svc_directory_import_bind(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call);
static void ngx_svc_directory_import_due(ngx_svc_pg_op_t *op);
static ngx_svc_directory_run_t *ngx_svc_directory_import_create(
    ngx_str_t *tenant, ngx_str_t *number);
static void ngx_svc_directory_import_over(ngx_svc_directory_run_t *run);
static void ngx_svc_directory_import_begin(ngx_svc_directory_run_t *run);
static void ngx_svc_directory_import_read(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op);
static void ngx_svc_directory_import_ask(ngx_svc_directory_run_t *run);
static void ngx_svc_directory_import_asked(ngx_svc_ldap_t *ldap);
static ngx_int_t ngx_svc_directory_import_entries(
    ngx_svc_directory_run_t *run, ngx_str_t *entries);
static ngx_int_t ngx_svc_directory_import_goes_on(
    ngx_svc_directory_run_t *run);
static ngx_int_t ngx_svc_directory_import_digest(
    const ngx_svc_ldap_page_t *page, u_char digest[NGX_SVC_SHA256_LEN]);
static void ngx_svc_directory_import_write(ngx_svc_directory_run_t *run,
    const ngx_str_t *entries);
static void ngx_svc_directory_import_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_directory_import_written(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op);
static void ngx_svc_directory_import_rested(ngx_event_t *ev);


#include "ngx_svc_directory_import.sql.h"
#include "ngx_svc_directory_page.sql.h"


static ngx_svc_pg_task_t  ngx_svc_directory_import_task = {
    .statement = &ngx_svc_sql_directory_import_due,
    .bind = ngx_svc_directory_import_bind,
    .done = ngx_svc_directory_import_due,
    .pool = NGX_SVC_PG_SLOW,
    .period = 5000,
    .pause = 5000,
    .full = 1,
    .failed = "directories to be imported cannot be looked for"
};

static struct {
    ngx_svc_directory_run_t  *run;      /* the one under way, or NULL */
    ngx_uint_t                here;     /* 1: this worker imports */
    ngx_uint_t                woken;    /* 1: since it was looked */
} ngx_svc_directory_importer;


void
ngx_svc_directory_import_init_worker(ngx_cycle_t *cycle)
{
    ngx_svc_directory_importer.here = 1;

    ngx_svc_pg_task_init(&ngx_svc_directory_import_task, cycle);
}


void
ngx_svc_directory_import_exit_worker(void)
{
    ngx_svc_directory_importer.here = 0;

    if (ngx_svc_directory_importer.run) {
        ngx_svc_directory_run_drop(ngx_svc_directory_importer.run);
    }

    ngx_svc_pg_task_exit(&ngx_svc_directory_import_task);
}


void
ngx_svc_directory_import_wake(void)
{
    if (ngx_svc_directory_importer.here) {
        ngx_svc_directory_importer.woken = 1;
        ngx_add_timer(&ngx_svc_directory_import_task.timer, 1);
    }
}


/* A worker that imports leaves others to other nodes. */

static ngx_int_t
ngx_svc_directory_import_bind(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call)
{
    ngx_svc_directory_importer.woken = 0;

    return ngx_svc_directory_importer.run ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_directory_import_due(ngx_svc_pg_op_t *op)
{
    ngx_svc_directory_run_t             *run;
    ngx_svc_row_directory_import_due_t   row;

    ngx_svc_row_directory_import_due(&row,
                   ngx_svc_pg_op_result(op, &ngx_svc_sql_directory_import_due),
                   0);

    if (row.tenant.len == 0 || ngx_exiting) {

        if (ngx_svc_directory_importer.woken) {
            ngx_svc_directory_import_wake();
        }

        return;
    }

    run = ngx_svc_directory_import_create(&row.tenant, &row.run);

    if (run) {
        ngx_svc_directory_importer.run = run;
        ngx_svc_directory_import_begin(run);
    }
}


static ngx_svc_directory_run_t *
ngx_svc_directory_import_create(ngx_str_t *tenant, ngx_str_t *number)
{
    ngx_pool_t               *pool;
    ngx_svc_directory_run_t  *run;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    run = ngx_pcalloc(pool, sizeof(ngx_svc_directory_run_t));

    if (run == NULL
        || ngx_svc_uuid_parse(tenant->data, tenant->len, run->tenant)
           != NGX_OK)
    {
        goto failed;
    }

    run->pool = pool;
    run->over = ngx_svc_directory_import_over;
    run->tenant_id.data = run->tenant;
    run->tenant_id.len = NGX_SVC_UUID_LEN;
    run->number.len = number->len;
    run->number.data = ngx_pstrdup(pool, number);

    run->timer.handler = ngx_svc_directory_import_rested;
    run->timer.data = run;
    run->timer.log = ngx_cycle->log;
    run->timer.cancelable = 1;

    if (run->number.data) {
        return run;
    }

failed:

    ngx_destroy_pool(pool);

    return NULL;
}


/* Others may be due. */

static void
ngx_svc_directory_import_over(ngx_svc_directory_run_t *run)
{
    ngx_svc_directory_importer.run = NULL;

    ngx_svc_directory_import_wake();
}


static void
ngx_svc_directory_import_begin(ngx_svc_directory_run_t *run)
{
    ngx_int_t         rc;
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_directory_run_step(run) ? ngx_svc_directory_run_op(run) : NULL;
    rc = op && ngx_svc_pg_call(op, &ngx_svc_sql_ldap_directory)
         ? NGX_OK : NGX_ERROR;

    ngx_svc_directory_run_submit(run, op, rc, ngx_svc_directory_import_read);
}


static void
ngx_svc_directory_import_read(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op)
{
    PGresult  *res;

    static const ngx_str_t  sealed =
        ngx_string("The stored \"bindPassword\" cannot be read: set it again, "
                   "or tell the operator.");
    static const ngx_str_t  unmapped =
        ngx_string("\"attributeMapping\" does not say which attribute is the "
                   "\"email\".");

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_ldap_directory);

    switch (ngx_svc_ldap_directory(NULL, run->pool, res, &run->directory)) {

    case NGX_OK:
        break;

    case NGX_DECLINED:
        ngx_svc_directory_run_end(run, NGX_SVC_DIRECTORY_FAILED, &sealed);
        return;

    default:
        ngx_svc_directory_run_drop(run);
        return;
    }

    if (run->directory.attributes[0].data == NULL) {
        ngx_svc_directory_run_end(run, NGX_SVC_DIRECTORY_FAILED, &unmapped);
        return;
    }

    ngx_svc_directory_import_ask(run);
}


/* What the step before has left, as the cookie, is copied by the question. */

static void
ngx_svc_directory_import_ask(ngx_svc_directory_run_t *run)
{
    ngx_int_t        rc;
    ngx_pool_t      *before;
    ngx_svc_ldap_t  *ldap;

    ldap = &run->ldap;
    before = run->step;
    run->step = NULL;

    rc = NGX_ERROR;
    ngx_memzero(ldap, sizeof(ngx_svc_ldap_t));

    if (!ngx_exiting && ngx_svc_directory_run_step(run)) {
        ldap->pool = run->step;
        ldap->directory = &run->directory;
        ldap->page = &run->page;
        ldap->handler = ngx_svc_directory_import_asked;
        ldap->data = run;

        rc = ngx_svc_ldap(ldap);
    }

    if (before) {
        ngx_destroy_pool(before);
    }

    switch (rc) {

    case NGX_OK:
        return;

    case NGX_DECLINED:
        ngx_svc_directory_import_asked(ldap);
        return;

    default:
        ngx_svc_directory_run_drop(run);
    }
}


static void
ngx_svc_directory_import_asked(ngx_svc_ldap_t *ldap)
{
    ngx_str_t                 entries;
    ngx_svc_directory_run_t  *run;

    static const ngx_str_t  endless =
        ngx_string("The directory goes on with the same entries, or with too "
                   "many.");

    run = ldap->data;

    if (ldap->outcome != NGX_SVC_LDAP_FOUND) {
        ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                      "svc: a tenant's directory is not imported: %V",
                      &ldap->why);
        ngx_svc_directory_run_end(run, NGX_SVC_DIRECTORY_FAILED, &ldap->why);
        return;
    }

    switch (ngx_svc_directory_import_goes_on(run)) {

    case NGX_OK:
        break;

    case NGX_DECLINED:
        ngx_svc_directory_run_end(run, NGX_SVC_DIRECTORY_FAILED, &endless);
        return;

    default:
        ngx_svc_directory_run_drop(run);
        return;
    }

    if (ngx_svc_directory_import_entries(run, &entries) == NGX_OK) {
        ngx_svc_directory_import_write(run, &entries);

    } else {
        ngx_svc_directory_run_drop(run);
    }
}


/* Returns NGX_DECLINED if a page is the one before, or there are too many. */

static ngx_int_t
ngx_svc_directory_import_goes_on(ngx_svc_directory_run_t *run)
{
    u_char     digest[NGX_SVC_SHA256_LEN];
    ngx_int_t  rc;

    if (++run->pages > NGX_SVC_DIRECTORY_PAGES) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_directory_import_digest(&run->page, digest);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc == NGX_OK
        && ngx_memcmp(digest, run->digest, sizeof(digest)) == 0)
    {
        return NGX_DECLINED;
    }

    ngx_memcpy(run->digest, digest, sizeof(digest));

    return NGX_OK;
}


/*
 * The digest of all subjects.  Returns NGX_DECLINED, and zeros, if none of the
 * entries has one.
 */

static ngx_int_t
ngx_svc_directory_import_digest(const ngx_svc_ldap_page_t *page,
    u_char digest[NGX_SVC_SHA256_LEN])
{
    u_char            text[2 * NGX_SVC_SHA256_LEN];
    ngx_int_t         rc;
    ngx_uint_t        i;
    const ngx_str_t  *subject;

    rc = NGX_DECLINED;
    ngx_memzero(digest, NGX_SVC_SHA256_LEN);

    for (i = 0; i < page->npeople; i++) {
        subject = &page->people[i].subject;

        if (subject->data == NULL) {
            continue;
        }

        rc = NGX_OK;
        ngx_memcpy(text, digest, NGX_SVC_SHA256_LEN);

        if (ngx_svc_sha256(subject->data, subject->len,
                           text + NGX_SVC_SHA256_LEN)
            != NGX_OK
            || ngx_svc_sha256(text, sizeof(text), digest) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return rc;
}


static ngx_int_t
ngx_svc_directory_import_entries(ngx_svc_directory_run_t *run,
    ngx_str_t *entries)
{
    ngx_uint_t              i;
    ngx_svc_json_writer_t   w;

    if (ngx_svc_json_writer_init(&w, run->step, 1024 + 512 * run->page.npeople)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '[');

    for (i = 0; i < run->page.npeople; i++) {
        ngx_svc_json_open(&w, NULL, '{');
        ngx_svc_json_integer(&w, "place", i);

        if (ngx_svc_directory_person_write(&w, run->step, run->directory.id,
                                           &run->page.people[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        ngx_svc_json_close(&w, '}');
    }

    ngx_svc_json_close(&w, ']');

    entries->data = w.start;
    entries->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_directory_import_write(ngx_svc_directory_run_t *run,
    const ngx_str_t *entries)
{
    ngx_int_t           rc;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    rc = NGX_ERROR;
    run->began = ngx_current_msec;
    op = ngx_svc_directory_run_op(run);
    call = op ? ngx_svc_pg_call(op, &ngx_svc_sql_directory_page_lock) : NULL;

    if (call) {
        op->committed = ngx_svc_directory_import_committed;

        ngx_svc_pg_bind(call, run->directory.id, NGX_SVC_UUID_LEN);
        ngx_svc_pg_bind_str(call, entries);

        call = ngx_svc_pg_call(op, &ngx_svc_sql_directory_page_new);
    }

    if (call) {
        ngx_svc_directory_run_bind(run, call);
        ngx_svc_pg_bind_str(call, entries);

        call = ngx_svc_pg_call(op, &ngx_svc_sql_directory_page_known);
    }

    if (call) {
        ngx_svc_directory_run_bind(run, call);
        ngx_svc_pg_bind_str(call, entries);
        rc = NGX_OK;
    }

    ngx_svc_directory_run_submit(run, op, rc, ngx_svc_directory_import_written);
}


static void
ngx_svc_directory_import_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_committed(results, &ngx_svc_sql_directory_page_new);
}


/* Others have PostgreSQL for as long as a page has had it. */

static void
ngx_svc_directory_import_written(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op)
{
    ngx_msec_t  rest;

    if (run->page.cookie.len) {
        rest = ngx_current_msec - run->began;
        ngx_add_timer(&run->timer, ngx_min(rest, NGX_SVC_DIRECTORY_REST));
        return;
    }

    ngx_svc_ldap_page_close(&run->page);

    if (run->deactivates) {
        ngx_svc_directory_leave(run);

    } else {
        ngx_svc_directory_run_end(run, NGX_SVC_DIRECTORY_OK, NULL);
    }
}


static void
ngx_svc_directory_import_rested(ngx_event_t *ev)
{
    ngx_svc_directory_import_ask(ev->data);
}
