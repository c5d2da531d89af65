/*
 * The answers to sign-ins that are refused, and when they are sent.
 */

#include "ngx_svc_login_refused.h"
#include "ngx_svc_admin_conf.h"


static void ngx_svc_login_refused_now(ngx_event_t *ev);
static void ngx_svc_login_refused_gone(void *data);


ngx_int_t
ngx_svc_login_wrong(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    return login->method
           ? ngx_svc_fail(&sr->error, login->method->error, "%s",
                          login->method->wrong)
           : ngx_svc_fail(&sr->error, NGX_SVC_E_CREDENTIALS,
                          "The password is wrong.");
}


ngx_int_t
ngx_svc_login_barred(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_ACCESS_DENIED,
                        "Signing in is not allowed from here and now.");
}


ngx_int_t
ngx_svc_login_forced(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_SSO_REQUIRED,
                        NGX_SVC_LOGIN_FORCED);
}


ngx_int_t
ngx_svc_login_locked(ngx_svc_request_t *sr, ngx_uint_t seconds)
{
    sr->retry_after = seconds;

    return ngx_svc_fail(&sr->error, NGX_SVC_E_LOCKED,
                        "Too many sign-ins have failed: try again in %ui "
                        "seconds.", seconds);
}


/* Something has changed between the read and the write. */

ngx_int_t
ngx_svc_login_lost(ngx_svc_request_t *sr, ngx_int_t seconds)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    if (seconds > 0) {
        (void) ngx_svc_login_locked(sr, seconds);

    } else if (login->method && login->method->lost) {
        (void) login->method->lost(sr);

    } else {
        (void) ngx_svc_login_wrong(sr);
    }

    return ngx_svc_login_refused(login);
}


ngx_int_t
ngx_svc_login_refused(ngx_svc_login_t *login)
{
    ngx_msec_t                  floor, left;
    ngx_http_request_t         *r;
    ngx_http_cleanup_t         *cln;
    ngx_svc_admin_main_conf_t  *amcf;

    r = login->sr->request;
    amcf = ngx_http_get_module_main_conf(r, ngx_http_svc_admin_module);

    floor = login->password.floor ? login->password.floor : amcf->hash.floor;

    if (login->password.began == 0 || floor == 0) {
        return ngx_svc_send_error(login->sr);
    }

    /* a multiple, as a request may have waited for the processor, too */

    left = floor - (ngx_current_msec - login->password.began) % floor;

    cln = ngx_http_cleanup_add(r, 0);
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_svc_login_refused_gone;
    cln->data = login;

    login->timer.handler = ngx_svc_login_refused_now;
    login->timer.data = login;
    login->timer.log = r->connection->log;

    ngx_add_timer(&login->timer, left);

    r->main->count++;

    return NGX_DONE;
}


static void
ngx_svc_login_refused_now(ngx_event_t *ev)
{
    ngx_svc_login_t     *login;
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    login = ev->data;
    r = login->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_send_error(login->sr));

    ngx_http_run_posted_requests(c);
}


static void
ngx_svc_login_refused_gone(void *data)
{
    ngx_svc_login_t *login = data;

    if (login->timer.timer_set) {
        ngx_del_timer(&login->timer);
    }
}
