/*
 * An answer that waits until all workers know of it: that an account is locked,
 * or that what was counted of an e-mail address is gone, so that who reads it
 * may sign in at once.
 */

#ifndef _NGX_SVC_LIMIT_THEN_H_INCLUDED_
#define _NGX_SVC_LIMIT_THEN_H_INCLUDED_


#include "ngx_svc_limit.h"
#include "ngx_svc_request.h"


/*
 * For a reply: clears the limits of an address, which need not live longer than
 * the call, as of so many failures (text), and then calls next(), and returns
 * what that returns, or what goes to ngx_http_finalize_request().  An address
 * that can have none is passed by.
 */
ngx_int_t ngx_svc_limit_clear_then(ngx_svc_request_t *sr,
    const ngx_str_t *email, const ngx_str_t *failures,
    ngx_int_t (*next)(ngx_svc_request_t *sr));


/* The same of a lock, for so many ms. */
ngx_int_t ngx_svc_limit_lock_then(ngx_svc_request_t *sr,
    const u_char mac[NGX_SVC_LIMIT_MAC_LEN], ngx_msec_t ms,
    ngx_int_t (*next)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_LIMIT_THEN_H_INCLUDED_ */
