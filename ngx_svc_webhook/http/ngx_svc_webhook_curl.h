/*
 * libcurl's multi interface on nginx's events, in the helper.
 */

#ifndef _NGX_SVC_WEBHOOK_CURL_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_CURL_H_INCLUDED_


#include "ngx_svc_webhook_wire.h"


/* The transfer of a reader has ended.  The handle is the caller's. */
typedef void (*ngx_svc_webhook_curl_pt)(ngx_svc_webhook_reader_t *reader,
    CURLcode code);


/*
 * At the helper's start and end, as often as each other; by the last end all
 * handles have been given back.
 */
ngx_int_t ngx_svc_webhook_curl_init(ngx_cycle_t *cycle,
    ngx_svc_webhook_curl_pt done);
void ngx_svc_webhook_curl_exit(void);

/*
 * A handle with the options that all requests have, and its return, which is
 * also the way to break off its transfer; spoilt: it has failed in a way that
 * libcurl keeps with it.  NULL when memory runs out.
 */
CURL *ngx_svc_webhook_curl_get(void);
void ngx_svc_webhook_curl_put(CURL *curl, ngx_uint_t spoilt);

/*
 * Begins the transfer of a handle; done is called once, never from within this
 * call.  NGX_ERROR: it has not begun.
 */
ngx_int_t ngx_svc_webhook_curl_start(CURL *curl);

/*
 * Before that: what the transfer may read is counted for the reader, which must
 * outlive it.
 */
ngx_int_t ngx_svc_webhook_curl_reader(CURL *curl,
    ngx_svc_webhook_reader_t *reader);

/*
 * A step of a handshake takes a millisecond or two, which others wait for.  So
 * there is one in a turn of the event loop, but for readers that are direct:
 * whose connection is likely to be there already.  Posts an event whose handler
 * makes such a step: begins a transfer, or breaks one off.
 */
void ngx_svc_webhook_curl_post(ngx_event_t *ev);

/*
 * The same transfer once more on a connection of its own, when the one that it
 * had was not new; NGX_DECLINED when it was, of itself after the first time.
 */
ngx_int_t ngx_svc_webhook_curl_again(CURL *curl);


#endif /* _NGX_SVC_WEBHOOK_CURL_H_INCLUDED_ */
