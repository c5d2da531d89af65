/*
 * A passkey: the stored parts of a WebAuthn credential.
 */

#ifndef _NGX_SVC_PASSKEY_H_INCLUDED_
#define _NGX_SVC_PASSKEY_H_INCLUDED_


#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"


#define NGX_SVC_PASSKEY_ID_MAX      1023    /* bytes: WebAuthn 3, 4 */
#define NGX_SVC_PASSKEY_KEY_MAX     259     /* bytes */
#define NGX_SVC_PASSKEY_AAGUID_LEN  16

/* COSE's numbers of the algorithms that are allowed. */
#define NGX_SVC_PASSKEY_ES256       (-7)
#define NGX_SVC_PASSKEY_EDDSA       (-8)
#define NGX_SVC_PASSKEY_ES384       (-35)
#define NGX_SVC_PASSKEY_RS256       (-257)

/* How the browser may reach the authenticator: one bit each, stored. */
#define NGX_SVC_PASSKEY_USB         0x01
#define NGX_SVC_PASSKEY_NFC         0x02
#define NGX_SVC_PASSKEY_BLE         0x04
#define NGX_SVC_PASSKEY_SMART_CARD  0x08
#define NGX_SVC_PASSKEY_HYBRID      0x10
#define NGX_SVC_PASSKEY_INTERNAL    0x20


/*
 * public_key: x and y of a point of P-256 or P-384, the 32 bytes of Ed25519, or
 * modulus and exponent (256 and 3 bytes) of RSA.
 */

typedef struct {
    ngx_str_t   id;                 /* 1 to NGX_SVC_PASSKEY_ID_MAX bytes */
    ngx_int_t   alg;
    ngx_str_t   public_key;
    uint32_t    sign_count;
    ngx_uint_t  transports;         /* NGX_SVC_PASSKEY_USB ... */
    u_char      aaguid[NGX_SVC_PASSKEY_AAGUID_LEN];
    unsigned    be:1;               /* may be backed up; never changes */
    unsigned    bs:1;               /* is backed up */
} ngx_svc_passkey_t;


/*
 * Returns the bits of an array of words; words that are unknown do not count.
 */
ngx_uint_t ngx_svc_passkey_transports(const cJSON *words);

/*
 * Writes a PublicKeyCredentialDescriptorJSON with the passkey's id and
 * transports.
 */
void ngx_svc_passkey_descriptor(ngx_svc_json_writer_t *w,
    const ngx_svc_passkey_t *passkey);


#endif /* _NGX_SVC_PASSKEY_H_INCLUDED_ */
