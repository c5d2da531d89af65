/*
 * The work of a thread on one password.
 */

#include "ngx_svc_password_work.h"


static ngx_int_t ngx_svc_password_verify(ngx_svc_password_work_t *work,
    ngx_uint_t *outdated);
static ngx_int_t ngx_svc_password_verify_one(ngx_svc_password_work_t *work,
    ngx_uint_t i, ngx_uint_t *outdated);
static ngx_int_t ngx_svc_password_make(ngx_svc_password_work_t *work);


void
ngx_svc_password_work(ngx_svc_password_work_t *work)
{
    ngx_uint_t  outdated;

    work->matched = -1;
    work->refused = -1;
    work->made_len = 0;
    work->rc = NGX_OK;

    work->checked = work->check ? work->check(work->check_data) : NGX_OK;

    if (work->checked != NGX_OK) {
        return;
    }

    outdated = 0;

    work->rc = ngx_svc_password_verify(work, &outdated);

    if (work->rc != NGX_OK) {
        return;
    }

    if (work->make == NGX_SVC_PASSWORD_NEW && work->matched == -1) {
        work->rc = ngx_svc_password_make(work);

    } else if (work->make == NGX_SVC_PASSWORD_RENEW && work->matched == 0
               && outdated)
    {
        (void) ngx_svc_password_make(work);
    }
}


ngx_uint_t
ngx_svc_password_hashes(const ngx_svc_password_work_t *work)
{
    return work->nstrings + (work->dummy ? 1 : 0)
           + (work->make == NGX_SVC_PASSWORD_NEW ? 1 : 0);
}


/* *outdated: whether the string that matches is outdated. */

static ngx_int_t
ngx_svc_password_verify(ngx_svc_password_work_t *work, ngx_uint_t *outdated)
{
    ngx_int_t   rc;
    ngx_uint_t  i;

    if (work->dummy) {
        rc = ngx_svc_phc_dummy(&work->cost, work->password.data,
                               work->password.len);

        return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
    }

    for (i = 0; i < work->nstrings; i++) {
        rc = ngx_svc_password_verify_one(work, i, outdated);

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (rc == NGX_OK) {
            work->matched = (ngx_int_t) i;
            break;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_password_verify_one(ngx_svc_password_work_t *work, ngx_uint_t i,
    ngx_uint_t *outdated)
{
    ngx_int_t       rc;
    ngx_svc_phc_t   phc;

    if (ngx_svc_phc_parse(work->strings[i].data, work->strings[i].len,
                          &work->cost, &phc)
        != NGX_OK)
    {
        if (work->refused == -1) {
            work->refused = (ngx_int_t) i;
        }

        return ngx_svc_phc_dummy(&work->cost, work->password.data,
                                 work->password.len);
    }

    *outdated = ngx_svc_phc_outdated(&phc, &work->cost);

    rc = ngx_svc_phc_verify(&phc, work->password.data, work->password.len);

    ngx_explicit_memzero(&phc, sizeof(ngx_svc_phc_t));

    return rc;
}


static ngx_int_t
ngx_svc_password_make(ngx_svc_password_work_t *work)
{
    return ngx_svc_phc_make(&work->cost, work->password.data,
                            work->password.len, work->made, &work->made_len);
}
