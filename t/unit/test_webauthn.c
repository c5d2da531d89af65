/*
 * WebAuthn: fixed answers of an authenticator, and errors in others.
 */

#include "ngx_unit_webauthn_call.h"
#include "ngx_svc_hex.h"


static void
test_vectors(void **state)
{
    u_char                      key[NGX_SVC_PASSKEY_KEY_MAX], bytes[BYTES_MAX];
    const ngx_unit_webauthn_t  *v;

    for (v = ngx_unit_webauthn; v->name; v++) {

        assert_int_equal(create(*state, v, v->create, v->object), NGX_OK);

        assert_int_equal(passkey.alg, v->alg);
        assert_int_equal(passkey.sign_count, 1);
        assert_int_equal(passkey.be, 1);
        assert_int_equal(passkey.bs, 1);
        assert_int_equal(passkey.transports, NGX_SVC_PASSKEY_INTERNAL
                                             | NGX_SVC_PASSKEY_HYBRID);
        assert_memory_equal(passkey.aaguid, "aaaaaaaaaaaaaaaa", 16);
        assert_int_equal(used.expires, NGX_UNIT_WEBAUTHN_NOW + 300000);

        assert_int_equal(passkey.id.len, bytes_of(v->id, bytes));
        assert_memory_equal(passkey.id.data, bytes, passkey.id.len);

        assert_int_equal(passkey.public_key.len, strlen(v->key) / 2);
        assert_int_equal(ngx_svc_hex((u_char *) v->key, passkey.public_key.len,
                                     key),
                         NGX_OK);
        assert_memory_equal(passkey.public_key.data, key,
                            passkey.public_key.len);

        assert_int_equal(get(*state, v, v->get, v->data, v->signature),
                         NGX_OK);

        assert_int_equal(assertion.sign_count, 2);
        assert_int_equal(assertion.be, 1);
        assert_int_equal(assertion.bs, 1);
        assert_int_equal(assertion.cloned, 0);
        assert_int_equal(assertion.user.len, 3);
        assert_memory_equal(assertion.user.data, "uuu", 3);
        assert_memory_not_equal(assertion.used.hash, used.hash,
                                sizeof(used.hash));
    }
}


/* A signature is valid for its own passkey only. */

static void
test_other_keys(void **state)
{
    const ngx_unit_webauthn_t  *v, *other;

    for (v = ngx_unit_webauthn; v->name; v++) {
        for (other = ngx_unit_webauthn; other->name; other++) {

            assert_int_equal(create(*state, v, v->create, v->object), NGX_OK);

            passkey.id.len = bytes_of(other->id, passkey.id.data);

            assert_int_equal(get(*state, other, other->get, other->data,
                                 other->signature),
                             v == other ? NGX_OK : NGX_DECLINED);
        }
    }
}


/* A stored key may be damaged. */

static void
test_bad_keys(void **state)
{
    size_t                      len;
    const ngx_unit_webauthn_t  *v;

    for (v = ngx_unit_webauthn; v->name; v++) {
        assert_int_equal(create(*state, v, v->create, v->object), NGX_OK);

        len = passkey.public_key.len;

        for (passkey.public_key.len = 0; passkey.public_key.len < len;
             passkey.public_key.len++)
        {
            assert_int_equal(get(*state, v, v->get, v->data, v->signature),
                             NGX_DECLINED);
        }

        memset(passkey.public_key.data, 0, len);
        assert_int_equal(get(*state, v, v->get, v->data, v->signature),
                         NGX_DECLINED);

        memset(passkey.public_key.data, 0xff, len);
        assert_int_equal(get(*state, v, v->get, v->data, v->signature),
                         NGX_DECLINED);

        passkey.alg = 0;
        assert_int_equal(get(*state, v, v->get, v->data, v->signature),
                         NGX_DECLINED);
    }
}


/* Each bit of the signed data, and of the signature, counts. */

static void
test_bits(void **state)
{
    size_t                      i, len;
    u_char                      bytes[BYTES_MAX];
    ngx_int_t                   rc;
    ngx_pool_t                 *pool;
    ngx_uint_t                  part;
    const char                 *parts[3];
    const ngx_unit_webauthn_t  *v;

    for (v = ngx_unit_webauthn; v->name; v++) {
        assert_int_equal(create(*state, v, v->create, v->object), NGX_OK);

        for (part = 0; part < 3; part++) {
            parts[0] = v->get;
            parts[1] = v->data;
            parts[2] = v->signature;

            len = bytes_of(parts[part], bytes);

            for (i = 0; i < 8 * len; i++) {
                pool = ngx_create_pool(4096, ngx_env_log());
                assert_non_null(pool);

                bytes[i / 8] ^= 1 << i % 8;
                parts[part] = base64_of(bytes, len);
                bytes[i / 8] ^= 1 << i % 8;

                rc = get(pool, v, parts[0], parts[1], parts[2]);

                if (rc != NGX_DECLINED) {
                    fail_msg("%s: part %d, bit %d", v->name, (int) part,
                             (int) i);
                }

                assert_int_equal(assertion.cloned, 0);

                ngx_destroy_pool(pool);
            }
        }
    }
}


/* Each is cut everywhere, and has one byte more. */

static void
test_lengths(void **state)
{
    size_t                      i, len;
    u_char                      bytes[BYTES_MAX];
    ngx_uint_t                  part;
    const char                 *parts[3];
    const ngx_unit_webauthn_t  *v = ES256;

    len = bytes_of(v->object, bytes);
    bytes[len] = 0;

    for (i = 1; i <= len + 1; i++) {
        assert_int_equal(create(*state, v, v->create, base64_of(bytes, i)),
                         i == len ? NGX_OK : NGX_DECLINED);
    }

    assert_int_equal(create(*state, v, v->create, v->object), NGX_OK);

    for (part = 0; part < 3; part++) {
        parts[0] = v->get;
        parts[1] = v->data;
        parts[2] = v->signature;

        len = bytes_of(parts[part], bytes);
        bytes[len] = part == 0 ? 'x' : 0;

        for (i = 1; i <= len + 1; i++) {
            parts[part] = base64_of(bytes, i);
            assert_int_equal(get(*state, v, parts[0], parts[1], parts[2]),
                             i == len ? NGX_OK : NGX_DECLINED);
        }
    }
}


static void
test_members(void **state)
{
    cJSON       *json;
    ngx_uint_t   i;

#define RESPONSE  "\"response\":{\"clientDataJSON\":\"e30\","                 \
                  "\"attestationObject\":\"oA\"}"
#define TYPE      "\"type\":\"public-key\","
#define IDS       "\"id\":\"aWQ\",\"rawId\":\"aWQ\","

    static const struct {
        const char       *text;
        ngx_svc_error_e   kind;
        const char       *detail;
    } rows[] = {
        { "{}", NGX_SVC_E_INVALID_VALUE, "\"credential.id\" is required." },
        { "{\"id\":\"aWQ\"," TYPE RESPONSE "}", NGX_SVC_E_INVALID_VALUE,
          "\"credential.rawId\" is required." },
        { "{" IDS RESPONSE "}", NGX_SVC_E_INVALID_VALUE,
          "\"credential.type\" is required." },
        { "{" IDS "\"type\":\"public-key\"}", NGX_SVC_E_INVALID_VALUE,
          "\"credential.response\" is required." },
        { "{" IDS TYPE "\"response\":[]}", NGX_SVC_E_INVALID_VALUE,
          "\"credential.response\" must be an object." },
        { "{" IDS TYPE "\"response\":{}}", NGX_SVC_E_INVALID_VALUE,
          "\"credential.response.clientDataJSON\" is required." },
        { "{" IDS TYPE "\"response\":{\"clientDataJSON\":\"e30\"}}",
          NGX_SVC_E_INVALID_VALUE,
          "\"credential.response.attestationObject\" is required." },
        { "{" IDS TYPE "\"response\":{\"clientDataJSON\":\"\"}}",
          NGX_SVC_E_INVALID_VALUE,
          "\"credential.response.clientDataJSON\" must be a string of 1 to"
          " 5462 bytes." },
        { "{" IDS TYPE "\"response\":{\"clientDataJSON\":\"e30\","
          "\"attestationObject\":7}}",
          NGX_SVC_E_INVALID_VALUE,
          "\"credential.response.attestationObject\" must be a string of 1 to"
          " 21846 bytes." },
        { "{" IDS TYPE "\"response\":{\"clientDataJSON\":\"e30\","
          "\"attestationObject\":\"oA\",\"transports\":\"usb\"}}",
          NGX_SVC_E_INVALID_VALUE,
          "\"credential.response.transports\" must be an array of 0 to 16"
          " elements." },
        { "{" IDS "\"type\":\"public-keys\"," RESPONSE "}",
          NGX_SVC_E_INVALID_REQUEST,
          "\"credential.type\" must be \"public-key\"." },
        { "{\"id\":\"aWQ\",\"rawId\":\"aWR\"," TYPE RESPONSE "}",
          NGX_SVC_E_INVALID_REQUEST,
          "\"credential.id\" and \"credential.rawId\" must be the same." },
        { "{\"id\":\"aWQ=\",\"rawId\":\"aWQ=\"," TYPE RESPONSE "}",
          NGX_SVC_E_INVALID_REQUEST,
          "\"credential.rawId\" must be base64url without padding." },
        { "{" IDS TYPE "\"response\":{\"clientDataJSON\":\"e31\","
          "\"attestationObject\":\"oA\"}}",
          NGX_SVC_E_INVALID_REQUEST,
          "\"credential.response.clientDataJSON\" must be base64url without"
          " padding." },
        { "{" IDS TYPE RESPONSE "}", NGX_SVC_E_INVALID_REQUEST,
          "\"credential.response.clientDataJSON\" lacks a member, or has one"
          " of another type." },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        ngx_unit_webauthn_ceremony(&ceremony, NGX_SVC_WEBAUTHN_REGISTER);
        json = json_of(*state, "%s", rows[i].text);

        assert_int_equal(ngx_svc_webauthn_register(*state, json, &ceremony,
                                                   &passkey, &used, &err),
                         NGX_DECLINED);
        ngx_unit_error(&err, rows[i].kind, rows[i].detail, rows[i].text);
    }

    assert_int_equal(create(*state, ES256, ES256->create, "o+"), NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST,
                   "\"credential.response.attestationObject\" must be base64url"
                   " without padding.", "o+");
}


/* The id of the credential is the attested one. */

static void
test_ids(void **state)
{
    ngx_unit_webauthn_t  v;

    v = *ES256;
    v.id = ngx_unit_webauthn[1].id;

    assert_int_equal(create(*state, &v, v.create, v.object), NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST,
                   "\"credential.id\" is not the one in"
                   " \"credential.response.attestationObject\".", "id");

    assert_int_equal(create(*state, ES256, v.create, v.object), NGX_OK);
    assert_int_equal(get(*state, &v, v.get, v.data, v.signature),
                     NGX_DECLINED);
}


/* Without a user handle, and with one that is too long. */

static void
test_users(void **state)
{
    cJSON       *json;
    ngx_uint_t   i;

    static const struct {
        const char  *user;
        ngx_int_t    rc;
    } rows[] = {
        { "", NGX_OK },
        { ",\"userHandle\":null", NGX_OK },
        { ",\"userHandle\":\"\"", NGX_OK },
        { ",\"userHandle\":\"A\"", NGX_DECLINED },
        { ",\"userHandle\":0", NGX_DECLINED },
        { ",\"userHandle\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
          "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"", NGX_DECLINED },
    };

    ngx_unit_webauthn_ceremony(&ceremony, NGX_SVC_WEBAUTHN_STEP_UP);

    for (i = 0; i < ngx_unit_len(rows); i++) {
        json = json_of(*state, CREDENTIAL "\"clientDataJSON\":\"%s\","
                       "\"authenticatorData\":\"%s\",\"signature\":\"%s\"%s}}",
                       ES256->id, ES256->id, ES256->get, ES256->data,
                       ES256->signature, rows[i].user);

        assert_int_equal(ngx_svc_webauthn_assertion(*state, json, &ceremony,
                                                    &assertion, &err),
                         rows[i].rc);
        assert_int_equal(assertion.user.len, 0);
    }
}


/* The pool runs out of memory anywhere. */

static void
test_no_memory(void **state)
{
    ngx_int_t   rc, n;
    cJSON      *json;

    ngx_unit_webauthn_ceremony(&ceremony, NGX_SVC_WEBAUTHN_REGISTER);
    json = json_of(*state, CREATE, ES256->id, ES256->id, ES256->create,
                   ES256->object);

    for (n = 0, rc = NGX_ERROR; rc == NGX_ERROR; n++) {
        ngx_env_alloc_limit(n);
        rc = ngx_svc_webauthn_register(*state, json, &ceremony, &passkey,
                                       &used, &err);
        ngx_env_alloc_limit(-1);
    }

    assert_int_equal(rc, NGX_OK);
    assert_true(n > 4);

    ngx_unit_webauthn_ceremony(&ceremony, NGX_SVC_WEBAUTHN_STEP_UP);
    json = json_of(*state, GET, ES256->id, ES256->id, ES256->get, ES256->data,
                   ES256->signature);

    for (n = 0, rc = NGX_ERROR; rc == NGX_ERROR; n++) {
        ngx_env_alloc_limit(n);
        rc = ngx_svc_webauthn_assertion(*state, json, &ceremony, &assertion,
                                        &err);
        ngx_env_alloc_limit(-1);
    }

    assert_int_equal(rc, NGX_OK);
    assert_true(n > 5);
    assert_int_equal(ngx_svc_webauthn_verify(&assertion, &ceremony, &passkey),
                     NGX_OK);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_vectors),
        ngx_unit_test(test_other_keys),
        ngx_unit_test(test_bad_keys),
        ngx_unit_test(test_bits),
        ngx_unit_test(test_lengths),
        ngx_unit_test(test_members),
        ngx_unit_test(test_ids),
        ngx_unit_test(test_users),
        ngx_unit_test(test_no_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("webauthn", tests, NULL, NULL);
}
