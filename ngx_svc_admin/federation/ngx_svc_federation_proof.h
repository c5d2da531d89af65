/*
 * What an ID token says of a person.
 */

#ifndef _NGX_SVC_FEDERATION_PROOF_H_INCLUDED_
#define _NGX_SVC_FEDERATION_PROOF_H_INCLUDED_


#include "ngx_svc_federation_flow.h"
#include "ngx_svc_id_token.h"


/*
 * Makes flow->proof of a token that has been checked.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set, and flow->why; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_proof(ngx_svc_federation_flow_t *flow,
    const ngx_svc_id_token_t *token);

/* Makes a link's id, and seals the subject for it.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_federation_proof_seal(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_PROOF_H_INCLUDED_ */
