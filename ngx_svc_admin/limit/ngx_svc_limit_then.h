/*
 * Answers that wait until all workers know that an account is locked, or that
 * the hits of an e-mail address are gone: whoever reads the answer may sign in
 * at once.
 */

#ifndef _NGX_SVC_LIMIT_THEN_H_INCLUDED_
#define _NGX_SVC_LIMIT_THEN_H_INCLUDED_


#include "ngx_svc_limit.h"
#include "ngx_svc_request.h"


/*
 * Ends a reply hook: clears the limits of an address, which need not live
 * longer than the call, with the number of failures (a text), and then calls
 * next().  Returns what next() returns, or what ngx_http_finalize_request()
 * takes.  An address too long to have limits is passed over.
 */
ngx_int_t ngx_svc_limit_clear_then(ngx_svc_request_t *sr,
    const ngx_str_t *email, const ngx_str_t *failures,
    ngx_int_t (*next)(ngx_svc_request_t *sr));


/* Does the same with a lock, for ms. */
ngx_int_t ngx_svc_limit_lock_then(ngx_svc_request_t *sr,
    const u_char mac[NGX_SVC_LIMIT_MAC_LEN], ngx_msec_t ms,
    ngx_int_t (*next)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_LIMIT_THEN_H_INCLUDED_ */
