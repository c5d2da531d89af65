/*
 * Clients that authenticate by an assertion: how its key is found.
 */

#ifndef _NGX_SVC_OAUTH_ASSERTED_H_INCLUDED_
#define _NGX_SVC_OAUTH_ASSERTED_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * For a prepare: takes the client of an assertion.  Returns NGX_OK also when
 * the assertion is not good, as ngx_svc_oauth_client_take() does; NGX_DECLINED
 * with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_asserted_take(ngx_svc_oauth_t *o,
    const ngx_str_t *text);

/*
 * For the end of a prepare, however the client has authenticated: calls adds
 * the op's statements, the client's login first.  If the worker does not know
 * the key of an assertion, or knows one that is the client's no more, a round
 * trip reads the client's keys, once in a request, and calls is called when
 * they are there.  Returns what calls does.
 */
ngx_int_t ngx_svc_oauth_asserted_calls(ngx_svc_oauth_t *o,
    ngx_int_t (*calls)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_OAUTH_ASSERTED_H_INCLUDED_ */
