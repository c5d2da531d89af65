/*
 * How a client authenticates (RFC 6749, 2.3).
 */

#ifndef _NGX_SVC_OAUTH_CLIENT_TAKE_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLIENT_TAKE_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * For a prepare, after ngx_svc_oauth_begin(): takes the client from one of an
 * Authorization header, "client_id" with "client_secret", "client_assertion",
 * and "client_id" alone.  Returns NGX_OK also when the client cannot be one of
 * ours: nothing is looked up then, see ngx_svc_oauth_client_call();
 * NGX_DECLINED with sr->error set: there is no client, or more than one;
 * NGX_ERROR.
 *
 * A prepare that calls this must add its statements by
 * ngx_svc_oauth_asserted_calls().
 */
ngx_int_t ngx_svc_oauth_client_take(ngx_svc_oauth_t *o);


#endif /* _NGX_SVC_OAUTH_CLIENT_TAKE_H_INCLUDED_ */
