/*
 * How somebody has signed in, as tokens tell it: "amr" (RFC 8176) and "acr"
 * (OpenID Connect Core 1.0, 2).
 */

#ifndef _NGX_SVC_OAUTH_AMR_H_INCLUDED_
#define _NGX_SVC_OAUTH_AMR_H_INCLUDED_


#include "ngx_svc_json_write.h"


/*
 * The classes: a factor of one kind, of two, and a passkey, which is two itself
 * and cannot be phished (OpenID Connect EAP ACR Values 1.0).  Each has those in
 * front of it, too.
 */

#define NGX_SVC_OAUTH_ACR_ONE      "urn:svc:1"
#define NGX_SVC_OAUTH_ACR_TWO      "urn:svc:2"
#define NGX_SVC_OAUTH_ACR_PASSKEY  "phr"


/*
 * methods: those of a session, as PostgreSQL writes an array; and of a grant,
 * whose client has asked for a class, that one.
 */

void ngx_svc_oauth_amr(ngx_svc_json_writer_t *w, const ngx_str_t *methods);

/* Which class it is: the one that was asked for, or the highest.  Static. */
ngx_str_t ngx_svc_oauth_acr(const ngx_str_t *methods);


#endif /* _NGX_SVC_OAUTH_AMR_H_INCLUDED_ */
