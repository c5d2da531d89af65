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

/*
 * Set the subject, with its hash for the connection, and the address, with the
 * domain of its key, if it has data.  They return NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_proof_subject(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *subject);
ngx_int_t ngx_svc_federation_proof_email(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *email, ngx_uint_t verified);

/*
 * Hashes a subject for a connection, by whose id it is found.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_proof_hash(const u_char id[NGX_SVC_UUID_LEN],
    const ngx_str_t *subject, u_char hash[NGX_SVC_SHA256_LEN]);

/*
 * Makes a link's id, and seals the subject for it, in memory of the pool.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_proof_link(ngx_pool_t *pool,
    const ngx_str_t *subject, ngx_str_t *link, ngx_str_t *sealed);

/* Sets when the person has presented the proof, in s.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_federation_proof_time(ngx_svc_federation_flow_t *flow,
    time_t at);

/* Takes a member that is a text; see ngx_svc_federation_proof_value(). */
void ngx_svc_federation_proof_text(const cJSON *claims, const char *name,
    size_t max, ngx_str_t *text);

/* A text of a profile, or none if it is none that we would store. */
ngx_str_t ngx_svc_federation_proof_value(const ngx_str_t *value, size_t max);

/*
 * Digests a "sid" or a "jti", into memory of the request's pool; one without
 * data has none.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_proof_digest(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *text, ngx_str_t *digest);

/* Makes the link of the proof's subject.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_federation_proof_seal(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_PROOF_H_INCLUDED_ */
