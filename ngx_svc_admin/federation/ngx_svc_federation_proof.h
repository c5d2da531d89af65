/*
 * What an ID token says of a person.
 */

#ifndef _NGX_SVC_FEDERATION_PROOF_H_INCLUDED_
#define _NGX_SVC_FEDERATION_PROOF_H_INCLUDED_


#include "ngx_svc_federation_flow.h"
#include "ngx_svc_id_token.h"
#include "ngx_svc_provider_person.h"


/*
 * Makes flow->proof of a token that has been checked.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set, and flow->why; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_proof(ngx_svc_federation_flow_t *flow,
    const ngx_svc_id_token_t *token);

/*
 * Takes who the person is, of claims or of what else a provider says of him.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_proof_person(ngx_svc_federation_flow_t *flow,
    const ngx_svc_provider_person_t *person, const cJSON *claims);

/* Takes the subject, and digests it.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_federation_proof_subject(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *sub);

/*
 * Takes a member that is a text of at most max bytes; one that is no good text
 * is as one that is not there.
 */
void ngx_svc_federation_proof_text(const cJSON *claims, const char *name,
    size_t max, ngx_str_t *text);

/* Makes a link's id, and seals the subject for it.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_federation_proof_seal(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_PROOF_H_INCLUDED_ */
