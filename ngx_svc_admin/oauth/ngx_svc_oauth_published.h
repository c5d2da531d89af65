/*
 * Requests that wait for the keys that their client publishes.
 */

#ifndef _NGX_SVC_OAUTH_PUBLISHED_H_INCLUDED_
#define _NGX_SVC_OAUTH_PUBLISHED_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * For a reply, behind the client's login and oauth_client_keys: has the keys
 * fetched, if that may be, and waits for them.  When it is over, whatever came
 * of it, a round trip with calls and reply follows, as
 * ngx_svc_request_again() makes it.  Returns NGX_DONE: the request waits;
 * NGX_DECLINED: there is nothing to wait for; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_published(ngx_svc_oauth_t *o,
    ngx_int_t (*calls)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_OAUTH_PUBLISHED_H_INCLUDED_ */
