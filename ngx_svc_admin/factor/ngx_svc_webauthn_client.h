/*
 * The client data of WebAuthn: what the browser says it was asked, and by which
 * site.
 */

#ifndef _NGX_SVC_WEBAUTHN_CLIENT_H_INCLUDED_
#define _NGX_SVC_WEBAUTHN_CLIENT_H_INCLUDED_


#include "ngx_svc_error.h"
#include "ngx_svc_webauthn_challenge.h"


#define NGX_SVC_WEBAUTHN_CLIENT_MAX  4096       /* bytes */


/*
 * Checks a clientDataJSON, whose type must be "webauthn.create" for
 * NGX_SVC_WEBAUTHN_REGISTER and "webauthn.get" otherwise: its origin byte by
 * byte, its challenge, and that it does not come from within another site's
 * page.  Temporary memory is allocated from the pool.
 *
 * Returns NGX_OK with *used set; NGX_DECLINED with err set; NGX_DONE when all
 * is right, but the challenge is too old; NGX_ERROR when there is no memory or
 * OpenSSL fails.
 */
ngx_int_t ngx_svc_webauthn_client(ngx_pool_t *pool, ngx_str_t *text,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    ngx_svc_webauthn_used_t *used, ngx_svc_error_t *err);


#endif /* _NGX_SVC_WEBAUTHN_CLIENT_H_INCLUDED_ */
