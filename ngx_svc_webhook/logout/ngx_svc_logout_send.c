/*
 * One logout token on its way to an application.
 *
 * The application is somebody's server: of its answer nothing but the status is
 * looked at.
 */

#include "ngx_svc_logout_send.h"
#include "ngx_svc_logout_token.h"

#include "ngx_svc_log_limit.h"


#define NGX_SVC_LOGOUT_ANSWER  16384    /* bytes that are read of one */
#define NGX_SVC_LOGOUT_LINGER  500      /* ms, for a body */
#define NGX_SVC_LOGOUT_DETAIL  60000    /* ms between lines of it */


static void ngx_svc_logout_send_done(ngx_svc_webhook_request_t *r);
static void ngx_svc_logout_send_failed(ngx_svc_logout_send_t *send);


ngx_int_t
ngx_svc_logout_send(ngx_svc_logout_send_t *send, const ngx_str_t *base)
{
    ngx_svc_webhook_request_t  *r;

    static const u_char  type[] = "application/x-www-form-urlencoded";

    if (send->row.uri.data == NULL || send->row.kid.data == NULL) {
        return NGX_DECLINED;
    }

    if (ngx_svc_logout_token(&send->row, base, &send->body) != NGX_OK) {
        return NGX_ERROR;
    }

    r = &send->request;

    r->method = "POST";
    r->url = send->row.uri.data;
    r->agent = "Svc-Logout/1";
    r->body = send->body;
    r->limit = NGX_SVC_LOGOUT_ANSWER;
    r->linger = NGX_SVC_LOGOUT_LINGER;
    r->handler = ngx_svc_logout_send_done;
    r->data = send;

    return ngx_svc_webhook_request_header(r, "Content-Type: ", type,
                                          sizeof(type) - 1)
           == NGX_OK ? ngx_svc_webhook_request(r) : NGX_ERROR;
}


void
ngx_svc_logout_send_close(ngx_svc_logout_send_t *send)
{
    ngx_svc_webhook_request_close(&send->request);
}


/* Any 2xx is a yes (2.8): some applications answer 204. */

static void
ngx_svc_logout_send_done(ngx_svc_webhook_request_t *r)
{
    ngx_svc_logout_send_t     *send;
    ngx_svc_logout_outcome_e   outcome;

    send = r->data;

    if (r->result.status >= 200 && r->result.status < 300) {
        send->handler(send, NGX_SVC_LOGOUT_DELIVERED);
        return;
    }

    if (r->result.outcome == NGX_SVC_WEBHOOK_POSTPONED) {
        send->handler(send, NGX_SVC_LOGOUT_POSTPONED);
        return;
    }

    outcome = r->nowhere ? NGX_SVC_LOGOUT_REFUSED
              : send->row.attempts < NGX_SVC_LOGOUT_ATTEMPTS
                ? NGX_SVC_LOGOUT_RETRIED : NGX_SVC_LOGOUT_ABANDONED;

    if (outcome != NGX_SVC_LOGOUT_RETRIED) {
        ngx_svc_logout_send_failed(send);
    }

    send->handler(send, outcome);
}


static void
ngx_svc_logout_send_failed(ngx_svc_logout_send_t *send)
{
    ngx_str_t  *why;

    static ngx_svc_log_limit_t  limit;

    if (!ngx_svc_log_limit(&limit, 1, NGX_SVC_LOGOUT_DETAIL)) {
        return;
    }

    why = send->request.result.detail.len ? &send->request.result.detail
                                          : &send->request.result.error;

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "the application %V of tenant %V was not told of a logout: "
                  "%V", &send->row.client, &send->row.tenant, why);
}
