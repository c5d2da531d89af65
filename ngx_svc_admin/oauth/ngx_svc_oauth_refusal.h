/*
 * What a client gets for a verdict, and what is kept of it.
 */

#ifndef _NGX_SVC_OAUTH_REFUSAL_H_INCLUDED_
#define _NGX_SVC_OAUTH_REFUSAL_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


/*
 * For a reply, which returns what these do: of the login's result, which is not
 * good; and of a verdict.  allowed: JSON, an array of what a ceiling allows; no
 * data: it has refused nothing.  What is unusual of an agent is on record before
 * it is answered.
 */
ngx_int_t ngx_svc_oauth_refuse_client(ngx_svc_oauth_t *o, PGresult *res);
ngx_int_t ngx_svc_oauth_refuse(ngx_svc_oauth_t *o, const ngx_str_t *verdict,
    const ngx_str_t *allowed);

/* Sets sr->error to what o->verdict says, of o->refused.  NGX_DECLINED. */
ngx_int_t ngx_svc_oauth_fail(ngx_svc_oauth_t *o);


#endif /* _NGX_SVC_OAUTH_REFUSAL_H_INCLUDED_ */
