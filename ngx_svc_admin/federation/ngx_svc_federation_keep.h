/*
 * A proof that has come without the browser's cookie, or whose address a code
 * by mail may prove: the flow keeps it, sealed, under another token, with which
 * the browser comes again.
 */

#ifndef _NGX_SVC_FEDERATION_KEEP_H_INCLUDED_
#define _NGX_SVC_FEDERATION_KEEP_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * From an event: reads whom flow->proof is of, keeps both, and leads the
 * browser to where its cookie and the flow meet.  Returns what goes to
 * ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_keep(ngx_svc_federation_flow_t *flow);

/*
 * For a reply that has found a user, before ngx_svc_federation_stop(): has the
 * flow keep its proof for a code by mail, unless that is too long.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_keep_mailable(ngx_svc_federation_flow_t *flow);

/*
 * Reads flow->kept: flow->proof, and what it was decided to be.  Returns
 * NGX_OK; NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_kept(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_KEEP_H_INCLUDED_ */
