/*
 * What a thread does for one question: its steps.
 */

#include "ngx_svc_ldap_job.h"


static void ngx_svc_ldap_end(ngx_svc_ldap_job_t *job, ngx_uint_t ok,
    const char *fmt, va_list args);


ngx_str_t  ngx_svc_ldap_steps[NGX_SVC_LDAP_STEPS] = {
    ngx_string("resolve"),
    ngx_string("connect"),
    ngx_string("tls"),
    ngx_string("bind"),
    ngx_string("search"),
    ngx_string("user_bind"),
    ngx_string("groups")
};


void
ngx_svc_ldap_begin(ngx_svc_ldap_job_t *job, ngx_svc_ldap_step_e step)
{
    job->step = step;
    job->began = ngx_svc_ldap_clock();
}


void
ngx_svc_ldap_did(ngx_svc_ldap_job_t *job, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    ngx_svc_ldap_end(job, 1, fmt, args);
    va_end(args);
}


ngx_int_t
ngx_svc_ldap_fail(ngx_svc_ldap_job_t *job, ngx_svc_ldap_outcome_e outcome,
    const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    ngx_svc_ldap_end(job, 0, fmt, args);
    va_end(args);

    job->out.outcome = outcome;

    return NGX_ERROR;
}


static void
ngx_svc_ldap_end(ngx_svc_ldap_job_t *job, ngx_uint_t ok, const char *fmt,
    va_list args)
{
    u_char               *p;
    ngx_svc_ldap_step_t  *step;

    step = &job->out.steps[job->step];

    step->tried = 1;
    step->ok = ok;
    step->ms = ngx_svc_ldap_clock() - job->began;
    step->detail.len = 0;
    step->detail.data = ngx_pnalloc(job->work.pool, NGX_SVC_LDAP_DETAIL);

    if (step->detail.data) {
        p = ngx_vslprintf(step->detail.data,
                          step->detail.data + NGX_SVC_LDAP_DETAIL, fmt, args);
        step->detail.len = ngx_svc_ldap_show(step->detail.data, p)
                           - step->detail.data;
    }
}


/* libldap's message may be that of an earlier answer. */

ngx_int_t
ngx_svc_ldap_broken(ngx_svc_ldap_job_t *job, int rc, const char *what)
{
    char       *message;
    ngx_int_t   result;

    job->gone = 1;

    if (job->conn->wire.late || rc == LDAP_TIMEOUT) {
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_LATE,
                                 "%s: nothing came in time.", what);
    }

    if (job->conn->wire.much) {
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "%s: it sends too much.", what);
    }

    if (rc < 0) {
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "%s: it has closed the connection.", what);
    }

    message = NULL;
    ldap_get_option(job->conn->ld, LDAP_OPT_DIAGNOSTIC_MESSAGE, &message);

    result = ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                               "%s: it says \"%s\"%s%s (result code %d).", what,
                               ldap_err2string(rc),
                               message && *message ? ", " : "",
                               message ? message : "", rc);
    ldap_memfree(message);

    return result;
}


char *
ngx_svc_ldap_copy(ngx_pool_t *pool, const ngx_str_t *text)
{
    u_char  *p;

    p = ngx_pnalloc(pool, text->len + 1);
    if (p == NULL) {
        return NULL;
    }

    *ngx_cpymem(p, text->data, text->len) = '\0';

    return (char *) p;
}


void
ngx_svc_ldap_close(ngx_svc_ldap_conn_t *conn)
{
    if (conn->ld) {
        conn->wire.deadline = 0;
        (void) ldap_unbind_ext(conn->ld, NULL, NULL);
    }

    ngx_free(conn);
}
