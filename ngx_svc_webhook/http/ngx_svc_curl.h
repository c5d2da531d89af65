/*
 * In the helper: libcurl's multi interface on nginx's events.
 */

#ifndef _NGX_SVC_CURL_H_INCLUDED_
#define _NGX_SVC_CURL_H_INCLUDED_


#include "ngx_svc_curl_wire.h"


/* A reader's transfer has ended; the handle stays the caller's. */
typedef void (*ngx_svc_curl_pt)(ngx_svc_curl_reader_t *reader, CURLcode code);


/* Called at the start of each lane that makes requests. */
ngx_int_t ngx_svc_curl_init(ngx_cycle_t *cycle, ngx_svc_curl_pt done);

/*
 * Called as often, at their ends; before the last call all handles must have
 * been given back.
 */
void ngx_svc_curl_exit(void);

/*
 * Returns a handle with the options that all requests have.  NULL: no memory.
 */
CURL *ngx_svc_curl_get(void);

/*
 * Gives a handle back, and breaks off its transfer.  spoilt: the handle has
 * failed in a way that libcurl does not forget, so it is not used again.
 */
void ngx_svc_curl_put(CURL *curl, ngx_uint_t spoilt);

/*
 * Begins the transfer of a handle.  The done() of init is called once, never
 * from within this call.  NGX_ERROR: it has not begun.
 */
ngx_int_t ngx_svc_curl_start(CURL *curl);

/*
 * A step of a handshake takes a millisecond or two, which others have to wait
 * for, so each iteration of the event loop has only one such step; readers
 * that are direct do not wait, since they are likely to have a connection.
 * Posts an event whose handler makes such a step: it begins a transfer, or
 * breaks one off.  urgent: 1 if it comes before those that are not.
 */
void ngx_svc_curl_post(ngx_event_t *ev, ngx_uint_t urgent);

/*
 * Begins the same transfer again on a new connection.  NGX_DECLINED: its
 * connection was new already, as it is the second time.
 */
ngx_int_t ngx_svc_curl_again(CURL *curl);


#endif /* _NGX_SVC_CURL_H_INCLUDED_ */
