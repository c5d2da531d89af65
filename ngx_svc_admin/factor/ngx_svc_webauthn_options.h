/*
 * The options of WebAuthn's two ceremonies, which a browser is given.
 */

#ifndef _NGX_SVC_WEBAUTHN_OPTIONS_H_INCLUDED_
#define _NGX_SVC_WEBAUTHN_OPTIONS_H_INCLUDED_


#include "ngx_svc_json_write.h"
#include "ngx_svc_passkey.h"
#include "ngx_svc_webauthn_challenge.h"


/* The user for whom a passkey is made. */

typedef struct {
    ngx_str_t      site;            /* the tenant's name, for people */
    ngx_str_t      handle;          /* 1 to 64 bytes, no personal data */
    ngx_str_t      name;            /* the e-mail address */
    ngx_str_t      display_name;    /* if empty: name */
} ngx_svc_webauthn_user_t;


/*
 * Writes a PublicKeyCredentialCreationOptionsJSON as a member named key (NULL
 * in an array), with a challenge of ngx_svc_webauthn_challenge(); passkeys:
 * those that the user has for this rp_id, of which id and transports are read.
 */
void ngx_svc_webauthn_creation_options(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN],
    const ngx_svc_webauthn_user_t *user, const ngx_svc_passkey_t *passkeys,
    ngx_uint_t n);

/*
 * Writes a PublicKeyCredentialRequestOptionsJSON in the same way; without
 * passkeys the user may choose any that the authenticator has for the site.
 */
void ngx_svc_webauthn_request_options(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN],
    const ngx_svc_passkey_t *passkeys, ngx_uint_t n);


#endif /* _NGX_SVC_WEBAUTHN_OPTIONS_H_INCLUDED_ */
