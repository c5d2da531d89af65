/*
 * WebAuthn challenges.
 */

#include "ngx_unit.h"
#include "ngx_unit_webauthn.h"
#include "ngx_svc_webauthn_challenge.h"


static ngx_svc_webauthn_used_t      used;
static ngx_svc_webauthn_ceremony_t  ceremony;


/* A challenge depends on each part of its ceremony. */

static void
test_challenge(void **state)
{
    u_char       other[NGX_SVC_UUID_LEN], key[1][NGX_SVC_KEY_LEN];
    u_char       challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN];
    u_char       hash[NGX_SVC_SHA256_LEN], first[sizeof(challenge)];
    ngx_uint_t   i;

    ngx_svc_webauthn_ceremony_t  *c = &ceremony;

    memset(other, 'o', sizeof(other));
    memset(key, 'K', sizeof(key));

    ngx_unit_webauthn_ceremony(c, NGX_SVC_WEBAUTHN_STEP_UP);
    assert_int_equal(ngx_svc_webauthn_challenge(c, first), NGX_OK);
    assert_int_equal(ngx_svc_webauthn_challenge(c, challenge), NGX_OK);
    assert_memory_equal(first, "\x01\x9b\x76\xda\xa8\x00", 6);
    assert_memory_equal(challenge, first, 6);
    assert_memory_not_equal(challenge + 6, first + 6, 10);

    assert_int_equal(ngx_svc_webauthn_challenge_verify(c, challenge, &used),
                     NGX_OK);
    assert_int_equal(ngx_svc_sha256(challenge, sizeof(challenge), hash),
                     NGX_OK);
    assert_memory_equal(used.hash, hash, sizeof(hash));

    for (i = 0; i < 8 * sizeof(challenge); i++) {
        challenge[i / 8] ^= 1 << i % 8;
        assert_int_equal(ngx_svc_webauthn_challenge_verify(c, challenge,
                                                           &used),
                         NGX_DECLINED);
        challenge[i / 8] ^= 1 << i % 8;
    }

#define refused(change)                                                       \
    change;                                                                   \
    assert_int_equal(ngx_svc_webauthn_challenge_verify(c, challenge, &used),  \
                     NGX_DECLINED);                                           \
    ngx_unit_webauthn_ceremony(c, NGX_SVC_WEBAUTHN_STEP_UP)

    refused(c->purpose = NGX_SVC_WEBAUTHN_REGISTER);
    refused(c->purpose = NGX_SVC_WEBAUTHN_SIGN_IN);
    refused(c->session = NULL);
    refused(c->session = other);
    refused(ngx_str_set(&c->rp_id, "acme.tes"));
    refused(ngx_str_set(&c->rp_id, "acme.test."));
    refused(c->rp_id.len = 0);
    refused(c->nkeys = 0);
    refused(c->keys++; c->nkeys = 1);

    /* the first key makes challenges, all keys verify */

    c->keys = (const u_char (*)[NGX_SVC_KEY_LEN]) key;
    c->nkeys = 1;
    assert_int_equal(ngx_svc_webauthn_challenge_verify(c, challenge, &used),
                     NGX_OK);

    c->now += 299999;
    assert_int_equal(ngx_svc_webauthn_challenge_verify(c, challenge, &used),
                     NGX_OK);
    c->now++;
    assert_int_equal(ngx_svc_webauthn_challenge_verify(c, challenge, &used),
                     NGX_DONE);

    /* a challenge that is not ours is invalid, and never just old */

    challenge[31] ^= 1;
    assert_int_equal(ngx_svc_webauthn_challenge_verify(c, challenge, &used),
                     NGX_DECLINED);
}


/* A name of 253 bytes is the longest one. */

static void
test_rp_id(void **state)
{
    u_char  name[NGX_SVC_WEBAUTHN_RP_ID_MAX + 1];
    u_char  challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN];

    memset(name, 'n', sizeof(name));

    ngx_unit_webauthn_ceremony(&ceremony, NGX_SVC_WEBAUTHN_REGISTER);
    ceremony.rp_id.data = name;
    ceremony.rp_id.len = NGX_SVC_WEBAUTHN_RP_ID_MAX;

    assert_int_equal(ngx_svc_webauthn_challenge(&ceremony, challenge), NGX_OK);
    assert_int_equal(ngx_svc_webauthn_challenge_verify(&ceremony, challenge,
                                                       &used),
                     NGX_OK);

    ceremony.rp_id.len++;

    assert_int_equal(ngx_svc_webauthn_challenge(&ceremony, challenge),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_webauthn_challenge_verify(&ceremony, challenge,
                                                       &used),
                     NGX_DECLINED);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_challenge),
        ngx_unit_test(test_rp_id),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("webauthn_challenge", tests, NULL, NULL);
}
