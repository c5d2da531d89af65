/*
 * Challenges of WebAuthn: 6 bytes of time, 10 random ones, and 16 of a MAC.
 */

#include "ngx_svc_webauthn_challenge.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>


#define NGX_SVC_WEBAUTHN_TIME_LEN  6
#define NGX_SVC_WEBAUTHN_HEAD_LEN  16       /* time and random bytes */
#define NGX_SVC_WEBAUTHN_MAC_LEN   16


static ngx_int_t ngx_svc_webauthn_mac(
    const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char key[NGX_SVC_KEY_LEN], const u_char *head,
    u_char mac[NGX_SVC_SHA256_LEN]);
static ngx_int_t ngx_svc_webauthn_authentic(
    const ngx_svc_webauthn_ceremony_t *ceremony, const u_char *challenge);


/* Indexed by ngx_svc_webauthn_purpose_e. */

static const ngx_str_t  ngx_svc_webauthn_purposes[] = {
    ngx_string("signin"),
    ngx_string("register"),
    ngx_string("stepup"),
};


ngx_int_t
ngx_svc_webauthn_challenge(const ngx_svc_webauthn_ceremony_t *ceremony,
    u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN])
{
    u_char      mac[NGX_SVC_SHA256_LEN];
    ngx_int_t   rc;
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_WEBAUTHN_TIME_LEN; i++) {
        challenge[i] = (u_char) (ceremony->now >> (40 - 8 * i));
    }

    if (ngx_svc_random(challenge + NGX_SVC_WEBAUTHN_TIME_LEN,
                       NGX_SVC_WEBAUTHN_HEAD_LEN - NGX_SVC_WEBAUTHN_TIME_LEN)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_webauthn_mac(ceremony, ceremony->keys[0], challenge, mac);

    if (rc == NGX_OK) {
        ngx_memcpy(challenge + NGX_SVC_WEBAUTHN_HEAD_LEN, mac,
                   NGX_SVC_WEBAUTHN_MAC_LEN);
    }

    return rc;
}


ngx_int_t
ngx_svc_webauthn_challenge_verify(const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN],
    ngx_svc_webauthn_used_t *used)
{
    uint64_t    made;
    ngx_int_t   rc;
    ngx_uint_t  i;

    rc = ngx_svc_webauthn_authentic(ceremony, challenge);
    if (rc != NGX_OK) {
        return rc;
    }

    made = 0;

    for (i = 0; i < NGX_SVC_WEBAUTHN_TIME_LEN; i++) {
        made = made << 8 | challenge[i];
    }

    used->expires = made + NGX_SVC_WEBAUTHN_TIMEOUT;

    /* a challenge of another node, whose clock is ahead, is valid, too */

    if (used->expires <= ceremony->now) {
        return NGX_DONE;
    }

    return ngx_svc_sha256(challenge, NGX_SVC_WEBAUTHN_CHALLENGE_LEN,
                          used->hash);
}


static ngx_int_t
ngx_svc_webauthn_authentic(const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char *challenge)
{
    u_char      mac[NGX_SVC_SHA256_LEN];
    ngx_int_t   rc;
    ngx_uint_t  i;

    for (i = 0; i < ceremony->nkeys; i++) {

        rc = ngx_svc_webauthn_mac(ceremony, ceremony->keys[i], challenge, mac);

        if (rc != NGX_OK) {
            return rc;
        }

        if (ngx_svc_equal(challenge + NGX_SVC_WEBAUTHN_HEAD_LEN, mac,
                          NGX_SVC_WEBAUTHN_MAC_LEN))
        {
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


/*
 * No two ceremonies have the same text: a NUL ends each part of variable
 * length.
 */

static ngx_int_t
ngx_svc_webauthn_mac(const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char key[NGX_SVC_KEY_LEN], const u_char *head,
    u_char mac[NGX_SVC_SHA256_LEN])
{
    u_char           *p;
    u_char            text[sizeof("register") + NGX_SVC_WEBAUTHN_RP_ID_MAX + 1
                           + NGX_SVC_UUID_LEN + NGX_SVC_WEBAUTHN_HEAD_LEN];
    unsigned int      len;
    const ngx_str_t  *purpose;

    if (ceremony->rp_id.len == 0
        || ceremony->rp_id.len > NGX_SVC_WEBAUTHN_RP_ID_MAX)
    {
        return NGX_DECLINED;
    }

    purpose = &ngx_svc_webauthn_purposes[ceremony->purpose];

    p = ngx_cpymem(text, purpose->data, purpose->len);
    *p++ = '\0';
    p = ngx_cpymem(p, ceremony->rp_id.data, ceremony->rp_id.len);
    *p++ = '\0';

    if (ceremony->session) {
        p = ngx_cpymem(p, ceremony->session, NGX_SVC_UUID_LEN);
    }

    p = ngx_cpymem(p, head, NGX_SVC_WEBAUTHN_HEAD_LEN);

    return HMAC(EVP_sha256(), key, NGX_SVC_KEY_LEN, text, p - text, mac, &len)
           ? NGX_OK : NGX_ERROR;
}
