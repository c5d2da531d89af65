/*
 * A token that is shown to a write, which must know beforehand whether it is
 * forged.
 */

#ifndef _NGX_SVC_OAUTH_SHOWN_H_INCLUDED_
#define _NGX_SVC_OAUTH_SHOWN_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


/*
 * For a prepare, of o->token: calls adds the op's statements, of which reply is
 * the reply, when the signature has been looked at; a token that is forged is
 * none then, _NONE without an id.  When the worker does not know the key of a
 * JWT a round trip gets it before, from the client's tenant.  Returns what
 * calls does.
 */
ngx_int_t ngx_svc_oauth_shown(ngx_svc_oauth_t *o,
    ngx_int_t (*calls)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));

extern ngx_svc_pg_statements_t  ngx_svc_oauth_shown_statements[];


#endif /* _NGX_SVC_OAUTH_SHOWN_H_INCLUDED_ */
