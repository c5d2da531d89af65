/*
 * How a user has signed in, as tokens tell it: "amr" (RFC 8176) and "acr"
 * (OpenID Connect Core 1.0, 2).
 */

#ifndef _NGX_SVC_OAUTH_AMR_H_INCLUDED_
#define _NGX_SVC_OAUTH_AMR_H_INCLUDED_


#include "ngx_svc_json_write.h"


/*
 * The classes of a sign-in: one factor; two factors; and a passkey, which is
 * two factors by itself and cannot be phished (OpenID Connect EAP ACR Values
 * 1.0).  A sign-in of one class has the classes before it, too.
 */

#define NGX_SVC_OAUTH_ACR_ONE      "urn:svc:1"
#define NGX_SVC_OAUTH_ACR_TWO      "urn:svc:2"
#define NGX_SVC_OAUTH_ACR_PASSKEY  "phr"


/*
 * Writes "amr".  methods: a session's, as PostgreSQL writes an array; a grant
 * whose client has asked for a class has that class among them.
 */

void ngx_svc_oauth_amr(ngx_svc_json_writer_t *w, const ngx_str_t *methods);

/*
 * Returns the class that was asked for, or the highest one.  The text is
 * static.
 */
ngx_str_t ngx_svc_oauth_acr(const ngx_str_t *methods);

/*
 * Writes the names of the methods that are a proof of that kind, an
 * ngx_svc_method_proof_e, as PostgreSQL writes an array, into the pool.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_amr_methods(ngx_pool_t *pool, ngx_uint_t proof,
    ngx_str_t *methods);


#endif /* _NGX_SVC_OAUTH_AMR_H_INCLUDED_ */
