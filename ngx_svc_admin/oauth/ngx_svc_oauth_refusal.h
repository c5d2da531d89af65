/*
 * The error that a client gets for a verdict, and what is recorded of it.
 */

#ifndef _NGX_SVC_OAUTH_REFUSAL_H_INCLUDED_
#define _NGX_SVC_OAUTH_REFUSAL_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


/*
 * _client() refuses a client by its login's result, which is not good.
 * _refuse() refuses a request by a verdict.  allowed: a JSON array of what a
 * ceiling allows; NULL or no data: no ceiling is the reason.  An agent's
 * anomaly, and a refused delegation, are recorded before the answer.  A reply
 * returns what these return.
 */
ngx_int_t ngx_svc_oauth_refuse_client(ngx_svc_oauth_t *o, PGresult *res);
ngx_int_t ngx_svc_oauth_refuse(ngx_svc_oauth_t *o, const ngx_str_t *verdict,
    const ngx_str_t *allowed);

/*
 * Sets sr->error from o->verdict, with the value in o->refused.  Returns
 * NGX_DECLINED.
 */
ngx_int_t ngx_svc_oauth_fail(ngx_svc_oauth_t *o);


#endif /* _NGX_SVC_OAUTH_REFUSAL_H_INCLUDED_ */
