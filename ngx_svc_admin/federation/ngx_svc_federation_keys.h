/*
 * Keys of a flow's provider that are newer than what is stored.
 */

#ifndef _NGX_SVC_FEDERATION_KEYS_H_INCLUDED_
#define _NGX_SVC_FEDERATION_KEYS_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * For a reply, when a token has a key that is not known: looks for newer keys,
 * if that was not just now and flow->until leaves time for it, and then has
 * check() look at the token once more.  what is "ID token", or what it is.
 * Returns NGX_DONE: the request waits, and its reply is what over() returns,
 * which is given what check() returns, but never NGX_AGAIN; or NGX_DECLINED
 * with sr->error set, and flow->why; or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_keys(ngx_svc_federation_flow_t *flow,
    const char *what, ngx_int_t (*check)(ngx_svc_federation_flow_t *flow),
    ngx_int_t (*over)(ngx_svc_federation_flow_t *flow, ngx_int_t rc));


#endif /* _NGX_SVC_FEDERATION_KEYS_H_INCLUDED_ */
