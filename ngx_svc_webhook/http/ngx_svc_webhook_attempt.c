/*
 * An attempt to deliver to a webhook.
 */

#include "ngx_svc_webhook_attempt.h"
#include "ngx_svc_outbound.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>


#define NGX_SVC_WEBHOOK_ANSWER  65536       /* bytes of an answer that are
                                               read */
#define NGX_SVC_WEBHOOK_LINGER  500         /* ms for a body; then its
                                               connection is closed */


struct ngx_svc_webhook_attempt_s {
    ngx_svc_outbound_t           request;
    ngx_svc_webhook_delivery_t  *delivery;      /* owned by the scheduler */
    ngx_svc_webhook_attempt_pt   handler;
    void                        *data;
};


static ngx_int_t ngx_svc_webhook_attempt_headers(
    ngx_svc_webhook_attempt_t *attempt, ngx_svc_webhook_endpoint_t *endpoint);
static ngx_int_t ngx_svc_webhook_attempt_sign(
    ngx_svc_webhook_attempt_t *attempt, ngx_svc_webhook_endpoint_t *endpoint);
static void ngx_svc_webhook_attempt_done(ngx_svc_outbound_t *r);


/* HMAC-SHA256, fetched once: that costs as much as a signature. */
static EVP_MAC_CTX  *ngx_svc_webhook_attempt_hmac;


ngx_int_t
ngx_svc_webhook_attempt_init(ngx_cycle_t *cycle)
{
    EVP_MAC     *hmac;
    OSSL_PARAM   params[2];

    params[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
                                                 "SHA256", 0);
    params[1] = OSSL_PARAM_construct_end();

    hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    ngx_svc_webhook_attempt_hmac = hmac ? EVP_MAC_CTX_new(hmac) : NULL;
    EVP_MAC_free(hmac);

    if (ngx_svc_webhook_attempt_hmac == NULL
        || !EVP_MAC_CTX_set_params(ngx_svc_webhook_attempt_hmac, params))
    {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "HMAC-SHA256 is not to be had");
        return NGX_ERROR;
    }

    return ngx_svc_outbound_init(cycle);
}


void
ngx_svc_webhook_attempt_exit(void)
{
    ngx_svc_outbound_exit();

    EVP_MAC_CTX_free(ngx_svc_webhook_attempt_hmac);
    ngx_svc_webhook_attempt_hmac = NULL;
}


ngx_svc_webhook_attempt_t *
ngx_svc_webhook_attempt(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_endpoint_t *endpoint, ngx_uint_t connected,
    ngx_svc_webhook_attempt_pt handler, void *data)
{
    ngx_svc_webhook_attempt_t  *attempt;
    ngx_svc_outbound_t         *r;

    attempt = ngx_calloc(sizeof(ngx_svc_webhook_attempt_t), ngx_cycle->log);
    if (attempt == NULL) {
        return NULL;
    }

    attempt->delivery = d;
    attempt->handler = handler;
    attempt->data = data;

    r = &attempt->request;

    r->method = "POST";
    r->url = endpoint->url.data;
    r->agent = "Svc-Webhooks/1";
    r->body = d->body;
    r->limit = NGX_SVC_WEBHOOK_ANSWER;
    r->linger = NGX_SVC_WEBHOOK_LINGER;
    r->connected = connected ? 1 : 0;
    r->handler = ngx_svc_webhook_attempt_done;
    r->data = attempt;

    if (ngx_svc_webhook_attempt_headers(attempt, endpoint) != NGX_OK
        || ngx_svc_outbound_request(r) != NGX_OK)
    {
        ngx_svc_webhook_attempt_cancel(attempt);
        return NULL;
    }

    return attempt;
}


void
ngx_svc_webhook_attempt_cancel(ngx_svc_webhook_attempt_t *attempt)
{
    ngx_svc_outbound_close(&attempt->request);
    ngx_free(attempt);
}


static ngx_int_t
ngx_svc_webhook_attempt_headers(ngx_svc_webhook_attempt_t *attempt,
    ngx_svc_webhook_endpoint_t *endpoint)
{
    ngx_svc_outbound_t          *r;
    ngx_svc_webhook_delivery_t  *d;

    d = attempt->delivery;
    r = &attempt->request;

    /* Accept has no value, so libcurl leaves it out */

    if (ngx_svc_outbound_header(r, "Content-Type: ",
                                (u_char *) "application/json", 16)
           != NGX_OK
        || ngx_svc_outbound_header(r, "X-Svc-Event: ", d->event.data,
                                   d->event.len)
           != NGX_OK
        || ngx_svc_outbound_header(r, "X-Svc-Delivery: ", d->id.data,
                                   d->id.len)
           != NGX_OK
        || ngx_svc_webhook_attempt_sign(attempt, endpoint) != NGX_OK
        || ngx_svc_outbound_header(r, "Accept:", NULL, 0) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* Signs the body.  The key is the secret as it was shown: its digits. */

static ngx_int_t
ngx_svc_webhook_attempt_sign(ngx_svc_webhook_attempt_t *attempt,
    ngx_svc_webhook_endpoint_t *endpoint)
{
    size_t                       len;
    u_char                       mac[EVP_MAX_MD_SIZE];
    u_char                       text[7 + 2 * EVP_MAX_MD_SIZE], *p;
    EVP_MAC_CTX                 *hmac;
    ngx_svc_webhook_delivery_t  *d;

    d = attempt->delivery;
    hmac = ngx_svc_webhook_attempt_hmac;

    if (!EVP_MAC_init(hmac, endpoint->secret, NGX_SVC_WEBHOOK_SECRET, NULL)
        || !EVP_MAC_update(hmac, d->body.data, d->body.len)
        || !EVP_MAC_final(hmac, mac, &len, sizeof(mac)))
    {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0, "EVP_MAC failed");
        return NGX_ERROR;
    }

    p = ngx_cpymem(text, "sha256=", 7);
    p = ngx_hex_dump(p, mac, len);

    return ngx_svc_outbound_header(&attempt->request, "X-Svc-Signature: ",
                                   text, p - text);
}


static void
ngx_svc_webhook_attempt_done(ngx_svc_outbound_t *r)
{
    ngx_svc_webhook_attempt_t *attempt = r->data;

    void                        *owner;
    ngx_svc_outbound_result_t    result;
    ngx_svc_webhook_attempt_pt   handler;

    handler = attempt->handler;
    owner = attempt->data;
    result = r->result;

    if (result.error.len) {
        result.error.data = result.text;
    }

    if (result.detail.len) {
        result.detail.data = result.detail_text;
    }

    ngx_free(attempt);

    handler(owner, &result);
}
