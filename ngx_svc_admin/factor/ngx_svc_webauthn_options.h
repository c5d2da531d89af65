/*
 * What a browser is asked for: the options of WebAuthn's two ceremonies.
 */

#ifndef _NGX_SVC_WEBAUTHN_OPTIONS_H_INCLUDED_
#define _NGX_SVC_WEBAUTHN_OPTIONS_H_INCLUDED_


#include "ngx_svc_json_write.h"
#include "ngx_svc_passkey.h"
#include "ngx_svc_webauthn_challenge.h"


/* For whom a passkey is made. */

typedef struct {
    ngx_str_t      site;            /* what people call it: the tenant */
    ngx_str_t      handle;          /* 1 to 64 bytes, no personal data */
    ngx_str_t      name;            /* the e-mail address */
    ngx_str_t      display_name;    /* when empty, the name */
} ngx_svc_webauthn_user_t;


/*
 * Writes a member of that name (NULL in an array): a
 * PublicKeyCredentialCreationOptionsJSON with the challenge that
 * ngx_svc_webauthn_challenge() has made; passkeys: those that the user has for
 * this rp_id, of which id and transports are read.
 */
void ngx_svc_webauthn_creation_options(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN],
    const ngx_svc_webauthn_user_t *user, const ngx_svc_passkey_t *passkeys,
    ngx_uint_t n);

/*
 * The same of a PublicKeyCredentialRequestOptionsJSON; no passkeys: any that
 * the authenticator has for the site.
 */
void ngx_svc_webauthn_request_options(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN],
    const ngx_svc_passkey_t *passkeys, ngx_uint_t n);


#endif /* _NGX_SVC_WEBAUTHN_OPTIONS_H_INCLUDED_ */
