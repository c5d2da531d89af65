/*
 * The client of a request, as the audit log has it.
 */

#ifndef _NGX_SVC_BIND_CLIENT_H_INCLUDED_
#define _NGX_SVC_BIND_CLIENT_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Binds three parameters of a statement of sr->op: the client's address, the
 * User-Agent and the id of the request; each is empty when there is none.
 * Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_bind_client(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);


#endif /* _NGX_SVC_BIND_CLIENT_H_INCLUDED_ */
