/*
 * A thread's question and answer are copies.
 */

#include "ngx_svc_ldap_make.h"

#include <openssl/crypto.h>


static ngx_int_t ngx_svc_ldap_make_server(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_make_filter(ngx_svc_ldap_job_t *job,
    ngx_svc_ldap_t *ldap);
static ngx_int_t ngx_svc_ldap_make_page(ngx_svc_ldap_job_t *job,
    ngx_svc_ldap_t *ldap);
static ngx_int_t ngx_svc_ldap_make_texts(ngx_svc_ldap_job_t *job,
    const ngx_svc_ldap_directory_t *directory);
static ngx_int_t ngx_svc_ldap_make_text(ngx_svc_ldap_job_t *job, char **text,
    const ngx_str_t *from);
static ngx_int_t ngx_svc_ldap_make_value(ngx_svc_ldap_job_t *job,
    struct berval *value, const ngx_str_t *from);
static void ngx_svc_ldap_wipe(ngx_svc_work_t *work);
static ngx_int_t ngx_svc_ldap_give_person(ngx_pool_t *pool,
    ngx_svc_ldap_person_t *to, const ngx_svc_ldap_person_t *from);
static ngx_int_t ngx_svc_ldap_give_page(ngx_svc_ldap_job_t *job,
    ngx_svc_ldap_t *ldap);
static ngx_int_t ngx_svc_ldap_give_groups(ngx_svc_ldap_job_t *job,
    ngx_svc_ldap_t *ldap);
static ngx_int_t ngx_svc_ldap_give_text(ngx_pool_t *pool, ngx_str_t *to,
    const ngx_str_t *from);


ngx_svc_ldap_job_t *
ngx_svc_ldap_make(ngx_svc_work_queue_t *queue, ngx_svc_ldap_t *ldap,
    const ngx_str_t *ca_file)
{
    ngx_svc_ldap_in_t               *in;
    ngx_svc_ldap_job_t              *job;
    const ngx_svc_ldap_directory_t  *directory;

    job = ngx_svc_work_create(queue, NULL, sizeof(ngx_svc_ldap_job_t));
    if (job == NULL) {
        return NULL;
    }

    in = &job->in;
    directory = ldap->directory;

    job->ldap = ldap;
    job->work.wipe = ngx_svc_ldap_wipe;
    ngx_memcpy(job->work.tenant, directory->tenant, NGX_SVC_UUID_LEN);

    in->page = ldap->page != NULL;
    in->deadline = ngx_svc_ldap_clock() + (in->page
                                           ? NGX_SVC_LDAP_PAGE_DEADLINE
                                           : NGX_SVC_LDAP_DEADLINE);
    in->start_tls = directory->start_tls;
    in->groups = ldap->groups;
    in->explain = ldap->apart;

    if (ngx_svc_ldap_make_texts(job, directory) != NGX_OK
        || ngx_svc_ldap_make_text(job, &in->ca_file, ca_file) != NGX_OK
        || ngx_svc_ldap_make_value(job, &in->password, &ldap->password)
           != NGX_OK
        || ngx_svc_ldap_make_server(job) != NGX_OK
        || ngx_svc_ldap_make_filter(job, ldap) != NGX_OK)
    {
        goto failed;
    }

    return job;

failed:

    ngx_svc_work_cancel(&job->work);

    return NULL;
}


static ngx_int_t
ngx_svc_ldap_make_texts(ngx_svc_ldap_job_t *job,
    const ngx_svc_ldap_directory_t *directory)
{
    ngx_uint_t          i;
    ngx_svc_ldap_in_t  *in;

    in = &job->in;

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {
        if (ngx_svc_ldap_make_text(job, &in->attributes[i],
                                   &directory->attributes[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (ngx_svc_ldap_make_text(job, &in->url, &directory->url) != NGX_OK
        || ngx_svc_ldap_make_text(job, &in->bind_dn, &directory->bind_dn)
           != NGX_OK
        || ngx_svc_ldap_make_text(job, &in->base_dn, &directory->base_dn)
           != NGX_OK
        || ngx_svc_ldap_make_text(job, &in->unique_id, &directory->unique_id)
           != NGX_OK
        || ngx_svc_ldap_make_value(job, &in->bind_password,
                                   &directory->bind_password)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_ldap_give_text(job->work.pool, &in->ca_certificates,
                                  &directory->ca_certificates);
}


static ngx_int_t
ngx_svc_ldap_make_text(ngx_svc_ldap_job_t *job, char **text,
    const ngx_str_t *from)
{
    if (from->data == NULL) {
        return NGX_OK;
    }

    *text = ngx_svc_ldap_copy(job->work.pool, from);

    return *text ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_ldap_make_value(ngx_svc_ldap_job_t *job, struct berval *value,
    const ngx_str_t *from)
{
    value->bv_len = from->len;

    return ngx_svc_ldap_make_text(job, &value->bv_val, from);
}


static ngx_int_t
ngx_svc_ldap_make_filter(ngx_svc_ldap_job_t *job, ngx_svc_ldap_t *ldap)
{
    if (ldap->page) {
        return ngx_svc_ldap_make_page(job, ldap);
    }

    if (ldap->email.data == NULL) {
        return NGX_OK;
    }

    job->in.filter = ngx_svc_ldap_filter_fill(job->work.pool,
                                              &ldap->directory->user_filter,
                                              &ldap->email);

    return job->in.filter ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_ldap_make_page(ngx_svc_ldap_job_t *job, ngx_svc_ldap_t *ldap)
{
    const ngx_str_t  *filter;

    filter = &ldap->directory->sync_filter;

    job->in.filter = filter->data
                     ? ngx_svc_ldap_copy(job->work.pool, filter)
                     : ngx_svc_ldap_filter_fill(job->work.pool,
                                                &ldap->directory->user_filter,
                                                NULL);

    return job->in.filter ? ngx_svc_ldap_make_value(job, &job->in.cookie,
                                                    &ldap->page->cookie)
                          : NGX_ERROR;
}


/* A URL that libldap does not take leaves the host out. */

static ngx_int_t
ngx_svc_ldap_make_server(ngx_svc_ldap_job_t *job)
{
    ngx_str_t     host;
    LDAPURLDesc  *url;

    if (ldap_url_parse(job->in.url, &url) != LDAP_URL_SUCCESS) {
        return NGX_OK;
    }

    job->in.port = (in_port_t) url->lud_port;

    if (url->lud_host) {
        host.data = (u_char *) url->lud_host;
        host.len = ngx_strlen(url->lud_host);
        job->in.host = ngx_svc_ldap_copy(job->work.pool, &host);
    }

    ldap_free_urldesc(url);

    return NGX_OK;
}


ngx_int_t
ngx_svc_ldap_make_conn(ngx_svc_ldap_job_t *job)
{
    job->conn = ngx_calloc(sizeof(ngx_svc_ldap_conn_t), ngx_cycle->log);
    if (job->conn == NULL) {
        return NGX_ERROR;
    }

    job->conn->made = ngx_current_msec;

    return NGX_OK;
}


static void
ngx_svc_ldap_wipe(ngx_svc_work_t *work)
{
    ngx_svc_ldap_in_t   *in;
    ngx_svc_ldap_job_t  *job;

    job = (ngx_svc_ldap_job_t *) work;
    in = &job->in;

    if (in->password.bv_val) {
        OPENSSL_cleanse(in->password.bv_val, in->password.bv_len);
    }

    if (in->bind_password.bv_val) {
        OPENSSL_cleanse(in->bind_password.bv_val, in->bind_password.bv_len);
    }

    if (job->conn) {
        ngx_svc_ldap_close(job->conn);
    }
}


ngx_int_t
ngx_svc_ldap_give(ngx_svc_ldap_job_t *job, ngx_svc_ldap_t *ldap)
{
    ngx_uint_t           i;
    ngx_svc_ldap_out_t  *out;

    out = &job->out;

    ldap->outcome = out->outcome;
    ldap->code = out->code;

    for (i = 0; i < NGX_SVC_LDAP_STEPS; i++) {
        ldap->steps[i] = out->steps[i];

        if (ngx_svc_ldap_give_text(ldap->pool, &ldap->steps[i].detail,
                                   &out->steps[i].detail)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (out->steps[i].tried && !out->steps[i].ok) {
            ldap->why = ldap->steps[i].detail;
        }
    }

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {
        if (ngx_svc_ldap_give_text(ldap->pool, &ldap->values[i],
                                   &out->values[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (ngx_svc_ldap_give_text(ldap->pool, &ldap->dn, &out->dn) != NGX_OK
        || ngx_svc_ldap_give_text(ldap->pool, &ldap->subject, &out->subject)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (out->outcome == NGX_SVC_LDAP_DISABLED) {
        ngx_str_set(&ldap->why, "The entry is disabled.");
    }

    return ldap->page ? ngx_svc_ldap_give_page(job, ldap)
                      : ngx_svc_ldap_give_groups(job, ldap);
}


static ngx_int_t
ngx_svc_ldap_give_page(ngx_svc_ldap_job_t *job, ngx_svc_ldap_t *ldap)
{
    ngx_uint_t            i;
    ngx_svc_ldap_out_t   *out;
    ngx_svc_ldap_page_t  *page;

    out = &job->out;
    page = ldap->page;

    page->people = ngx_pcalloc(ldap->pool, ngx_max(out->npeople, 1)
                                           * sizeof(ngx_svc_ldap_person_t));
    page->npeople = out->npeople;

    if (page->people == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < out->npeople; i++) {
        if (ngx_svc_ldap_give_person(ldap->pool, &page->people[i],
                                     &out->people[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_svc_ldap_give_text(ldap->pool, &page->cookie, &out->cookie);
}


static ngx_int_t
ngx_svc_ldap_give_person(ngx_pool_t *pool, ngx_svc_ldap_person_t *to,
    const ngx_svc_ldap_person_t *from)
{
    ngx_uint_t  i;

    to->disabled = from->disabled;

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {
        if (ngx_svc_ldap_give_text(pool, &to->values[i], &from->values[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_svc_ldap_give_text(pool, &to->subject, &from->subject);
}


static ngx_int_t
ngx_svc_ldap_give_groups(ngx_svc_ldap_job_t *job, ngx_svc_ldap_t *ldap)
{
    ngx_str_t   *groups;
    ngx_uint_t   i, n;

    n = job->out.groups.nelts;
    groups = job->out.groups.elts;

    ldap->member_of = ngx_palloc(ldap->pool, ngx_max(n, 1)
                                             * sizeof(ngx_str_t));
    if (ldap->member_of == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        if (ngx_svc_ldap_give_text(ldap->pool, &ldap->member_of[i], &groups[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    ldap->nmember_of = n;
    ldap->cut = job->out.cut;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_ldap_give_text(ngx_pool_t *pool, ngx_str_t *to, const ngx_str_t *from)
{
    to->len = from->len;
    to->data = NULL;

    if (from->data == NULL) {
        return NGX_OK;
    }

    to->data = (u_char *) ngx_svc_ldap_copy(pool, from);

    return to->data ? NGX_OK : NGX_ERROR;
}
