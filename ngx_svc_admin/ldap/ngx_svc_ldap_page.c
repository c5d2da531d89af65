/*
 * Pages of the people that a directory has.
 */

#include "ngx_svc_ldap_page.h"
#include "ngx_svc_ldap_connect.h"
#include "ngx_svc_ldap_entry.h"
#include "ngx_svc_ldap_user.h"


#define NGX_SVC_LDAP_PAGE_READ    (16 * 1024 * 1024)    /* bytes of a page */
#define NGX_SVC_LDAP_PAGE_COOKIE  65536                 /* bytes, at most */


static void ngx_svc_ldap_page_ask(ngx_svc_ldap_job_t *job);
static int ngx_svc_ldap_page_search(ngx_svc_ldap_job_t *job,
    LDAPMessage **result);
static ngx_int_t ngx_svc_ldap_page_failed(ngx_svc_ldap_job_t *job, int rc,
    LDAPMessage *result);
static ngx_int_t ngx_svc_ldap_page_take(ngx_svc_ldap_job_t *job,
    LDAPMessage *result);
static ngx_int_t ngx_svc_ldap_page_person(ngx_svc_ldap_job_t *job,
    LDAPMessage *entry, ngx_svc_ldap_person_t *person);
static ngx_int_t ngx_svc_ldap_page_cookie(ngx_svc_ldap_job_t *job,
    LDAPMessage *result);


void
ngx_svc_ldap_page(ngx_svc_ldap_job_t *job)
{
    ngx_svc_ldap_wire_t  *wire;

    wire = &job->conn->wire;

    wire->deadline = job->in.deadline;
    wire->left = NGX_SVC_LDAP_PAGE_READ;
    wire->late = 0;

    if (job->conn->ld || ngx_svc_ldap_connect(job) == NGX_OK) {
        ngx_svc_ldap_page_ask(job);
    }
}


static void
ngx_svc_ldap_page_ask(ngx_svc_ldap_job_t *job)
{
    int           rc;
    ngx_int_t     taken;
    LDAPMessage  *result;

    ngx_svc_ldap_begin(job, NGX_SVC_LDAP_SEARCH);

    result = NULL;
    rc = ngx_svc_ldap_page_search(job, &result);

    if (rc != LDAP_SUCCESS) {
        (void) ngx_svc_ldap_page_failed(job, rc, result);
        return;
    }

    taken = ngx_svc_ldap_page_take(job, result);

    if (taken == NGX_OK) {
        taken = ngx_svc_ldap_page_cookie(job, result);
    }

    ldap_msgfree(result);

    switch (taken) {

    case NGX_OK:
        ngx_svc_ldap_did(job, "%ui entries.", job->out.npeople);
        job->out.outcome = NGX_SVC_LDAP_FOUND;
        return;

    case NGX_DECLINED:
        job->gone = 1;
        (void) ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "The directory answers with what is no page "
                                 "of %d entries.", NGX_SVC_LDAP_PAGE);
        return;

    default:
        job->gone = 1;
        (void) ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "There is no memory for the entries.");
    }
}


/* The limits of entries and of time are those of a page, not of a sign-in. */

static int
ngx_svc_ldap_page_search(ngx_svc_ldap_job_t *job, LDAPMessage **result)
{
    int              rc;
    char            *names[NGX_SVC_LDAP_WANTED];
    LDAPControl     *controls[2];
    struct timeval   timeout;

    timeout.tv_sec = NGX_SVC_LDAP_PAGE_DEADLINE / 1000;
    timeout.tv_usec = 0;

    controls[0] = NULL;
    controls[1] = NULL;

    rc = ldap_create_page_control(job->conn->ld, NGX_SVC_LDAP_PAGE,
                                  job->in.cookie.bv_val ? &job->in.cookie
                                                        : NULL,
                                  1, &controls[0]);
    if (rc != LDAP_SUCCESS) {
        return rc;
    }

    ngx_svc_ldap_wanted(&job->in, names);

    rc = ldap_search_ext_s(job->conn->ld, job->in.base_dn, LDAP_SCOPE_SUBTREE,
                           job->in.filter, names, 0, controls, NULL, &timeout,
                           LDAP_NO_LIMIT, result);

    ldap_control_free(controls[0]);

    return rc;
}


static ngx_int_t
ngx_svc_ldap_page_failed(ngx_svc_ldap_job_t *job, int rc, LDAPMessage *result)
{
    job->gone = 1;

    switch (rc) {

    case LDAP_SIZELIMIT_EXCEEDED:
    case LDAP_ADMINLIMIT_EXCEEDED:
        ldap_msgfree(result);
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "The directory shows \"bindDn\" no more "
                                 "entries (result code %d): its limit there is "
                                 "to be raised.", rc);

    case LDAP_UNAVAILABLE_CRITICAL_EXTENSION:
        ldap_msgfree(result);
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "The directory has no paged results (RFC "
                                 "2696).");

    default:
        return ngx_svc_ldap_searched(job, rc, result);
    }
}


static ngx_int_t
ngx_svc_ldap_page_take(ngx_svc_ldap_job_t *job, LDAPMessage *result)
{
    int           n;
    LDAPMessage  *entry;

    n = ldap_count_entries(job->conn->ld, result);

    if (n < 0 || n > NGX_SVC_LDAP_PAGE) {
        return NGX_DECLINED;
    }

    job->out.people = ngx_pcalloc(job->work.pool,
                                  ngx_max(n, 1)
                                  * sizeof(ngx_svc_ldap_person_t));
    if (job->out.people == NULL) {
        return NGX_ERROR;
    }

    for (entry = ldap_first_entry(job->conn->ld, result);
         entry;
         entry = ldap_next_entry(job->conn->ld, entry))
    {
        if (ngx_svc_ldap_page_person(job, entry,
                                     &job->out.people[job->out.npeople++])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* Each entry is taken as the one of a sign-in is. */

static ngx_int_t
ngx_svc_ldap_page_person(ngx_svc_ldap_job_t *job, LDAPMessage *entry,
    ngx_svc_ldap_person_t *person)
{
    ngx_int_t            rc;
    ngx_svc_ldap_out_t  *out;

    out = &job->out;

    out->disabled = 0;
    ngx_str_null(&out->subject);
    ngx_memzero(out->values, sizeof(out->values));

    rc = ngx_svc_ldap_entry(job, entry);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    person->disabled = out->disabled;
    ngx_memcpy(person->values, out->values, sizeof(out->values));

    if (rc == NGX_OK) {
        person->subject = out->subject;
    }

    return NGX_OK;
}


/* A directory that says nothing of further pages has none. */

static ngx_int_t
ngx_svc_ldap_page_cookie(ngx_svc_ldap_job_t *job, LDAPMessage *result)
{
    int             rc;
    ngx_int_t       taken;
    ngx_str_t       text;
    ber_int_t       estimate;
    LDAPControl   **controls, *control;
    struct berval   cookie;

    controls = NULL;

    if (ldap_parse_result(job->conn->ld, result, &rc, NULL, NULL, NULL,
                          &controls, 0)
        != LDAP_SUCCESS)
    {
        return NGX_DECLINED;
    }

    taken = NGX_OK;
    cookie.bv_val = NULL;
    control = ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, NULL);

    if (control) {
        rc = ldap_parse_pageresponse_control(job->conn->ld, control, &estimate,
                                             &cookie);

        if (rc != LDAP_SUCCESS || cookie.bv_len > NGX_SVC_LDAP_PAGE_COOKIE) {
            taken = NGX_DECLINED;

        } else if (cookie.bv_len) {
            text.data = (u_char *) cookie.bv_val;
            text.len = cookie.bv_len;

            job->out.cookie.len = text.len;
            job->out.cookie.data =
                           (u_char *) ngx_svc_ldap_copy(job->work.pool, &text);
            taken = job->out.cookie.data ? NGX_OK : NGX_ERROR;
        }
    }

    ber_memfree(cookie.bv_val);
    ldap_controls_free(controls);

    return taken;
}


void
ngx_svc_ldap_page_close(ngx_svc_ldap_page_t *page)
{
    if (page->conn) {
        ngx_svc_ldap_close(page->conn);
        page->conn = NULL;
    }
}
