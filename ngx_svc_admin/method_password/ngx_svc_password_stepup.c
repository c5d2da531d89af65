/*
 * Step-ups by the password, for users who have no second factor.
 */

#include "ngx_svc_password_method.h"
#include "ngx_svc_new_password.h"
#include "ngx_svc_stepup_write.h"


static ngx_int_t ngx_svc_password_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_uint_t ngx_svc_password_stepup_offered(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_password_stepup_verify(ngx_svc_stepup_t *step);
static void ngx_svc_password_stepup_hashed(ngx_svc_password_job_t *job);


const ngx_svc_stepup_method_t  ngx_svc_password_stepup = {
    .guessed = 1,
    .first = 1,
    .use = &ngx_svc_sql_stepup_first,
    .take = ngx_svc_password_stepup_take,
    .offered = ngx_svc_password_stepup_offered,
    .verify = ngx_svc_password_stepup_verify
};


static ngx_int_t
ngx_svc_password_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body)
{
    if (!body->password.set) {
        return NGX_DONE;
    }

    return ngx_svc_new_password_text(step->factor.login.sr, "password",
                                     &body->password.str,
                                     &step->factor.login.password.text);
}


static ngx_uint_t
ngx_svc_password_stepup_offered(ngx_svc_stepup_t *step)
{
    return !step->factor.login.read.enrolled && step->factor.hash.data;
}


static ngx_int_t
ngx_svc_password_stepup_verify(ngx_svc_stepup_t *step)
{
    ngx_int_t                rc;
    ngx_str_t                stored;
    ngx_svc_login_t         *login;
    ngx_svc_password_job_t  *job;

    if (!ngx_svc_password_stepup_offered(step)) {
        return NGX_DECLINED;
    }

    login = &step->factor.login;

    rc = ngx_svc_stored_open(login->sr, &login->row, &step->factor.hash,
                             &stored);
    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    job = ngx_svc_password_create(login->sr->request->pool,
                                  &login->password.text);
    if (job == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_password_add(job, &stored) != NGX_OK) {
        ngx_svc_password_cancel(job);
        return NGX_ERROR;
    }

    job->handler = ngx_svc_password_stepup_hashed;
    job->data = step;

    rc = ngx_svc_password_post(job);

    if (rc == NGX_OK) {
        login->sr->request->main->count++;
        return NGX_DONE;
    }

    return rc;
}


static void
ngx_svc_password_stepup_hashed(ngx_svc_password_job_t *job)
{
    ngx_int_t  rc;

    rc = job->rc;

    if (rc == NGX_OK && job->work.matched == -1) {
        rc = NGX_DECLINED;
    }

    ngx_svc_stepup_verified(job->data, rc);
}
