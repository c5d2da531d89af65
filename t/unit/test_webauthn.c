/*
 * WebAuthn: fixed answers of an authenticator, and what is wrong with others.
 */

#include "ngx_unit.h"
#include "ngx_unit_webauthn.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_webauthn_authdata.h"
#include "ngx_svc_webauthn_client.h"


#define TEXT_MAX    (64 * 1024)
#define BYTES_MAX   2048

#define ES256       (&ngx_unit_webauthn[0])

#define CREDENTIAL                                                            \
    "{\"id\":\"%s\",\"rawId\":\"%s\",\"type\":\"public-key\",\"response\":{"
#define CREATE                                                                \
    CREDENTIAL "\"clientDataJSON\":\"%s\",\"attestationObject\":\"%s\","      \
    "\"transports\":[\"internal\",\"hybrid\"]}}"
#define GET                                                                   \
    CREDENTIAL "\"clientDataJSON\":\"%s\",\"authenticatorData\":\"%s\","      \
    "\"signature\":\"%s\",\"userHandle\":\"dXV1\"}}"


static char                          text[TEXT_MAX];
static ngx_svc_error_t               err;
static ngx_svc_passkey_t             passkey;
static ngx_svc_webauthn_used_t       used;
static ngx_svc_webauthn_ceremony_t   ceremony;
static ngx_svc_webauthn_assertion_t  assertion;


static cJSON *
json_of(ngx_pool_t *pool, const char *format, ...)
{
    cJSON      *json;
    va_list     args;
    ngx_str_t   str;

    va_start(args, format);
    str.len = (size_t) vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    assert_true(str.len < sizeof(text));

    str.data = (u_char *) text;
    err.kind = NGX_SVC_E_NONE;
    err.len = 0;

    assert_int_equal(ngx_svc_json_parse(pool, &str, &json, &err), NGX_OK);

    return json;
}


static ngx_int_t
create(ngx_pool_t *pool, const ngx_unit_webauthn_t *v, const char *client,
    const char *object)
{
    ngx_unit_webauthn_ceremony(&ceremony, NGX_SVC_WEBAUTHN_REGISTER);

    return ngx_svc_webauthn_register(pool, json_of(pool, CREATE, v->id, v->id,
                                                   client, object),
                                     &ceremony, &passkey, &used, &err);
}


static ngx_int_t
get(ngx_pool_t *pool, const ngx_unit_webauthn_t *v, const char *client,
    const char *data, const char *signature)
{
    ngx_int_t  rc;

    ngx_unit_webauthn_ceremony(&ceremony, NGX_SVC_WEBAUTHN_STEP_UP);

    rc = ngx_svc_webauthn_assertion(pool, json_of(pool, GET, v->id, v->id,
                                                  client, data, signature),
                                    &ceremony, &assertion, &err);

    return rc == NGX_OK ? ngx_svc_webauthn_verify(&assertion, &ceremony,
                                                  &passkey)
                        : rc;
}


static size_t
bytes_of(const char *base64, u_char *bytes)
{
    size_t  len;

    assert_true(strlen(base64) < BYTES_MAX);
    assert_int_equal(ngx_svc_base64url_decode((u_char *) base64,
                                              strlen(base64), bytes, &len),
                     NGX_OK);

    return len;
}


static const char *
base64_of(const u_char *bytes, size_t len)
{
    static char  base64[3 * BYTES_MAX];

    *ngx_svc_base64url((u_char *) base64, bytes, len) = '\0';

    return base64;
}


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


/* A signature is good for its own passkey alone. */

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


/* What is stored may be damaged. */

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


/* Each bit counts of what is signed, and of the signature. */

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


/* Each is cut off everywhere, and has one byte more. */

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


/* An attestation object of parts; "@" stands for the authenticator data. */

static ngx_int_t
object(ngx_pool_t *pool, const char *hex)
{
    size_t      len, n;
    u_char      bytes[BYTES_MAX], original[BYTES_MAX], *p;
    ngx_str_t   data, str;

    str.len = bytes_of(ES256->object, original);
    str.data = original;
    err.kind = NGX_SVC_E_NONE;
    assert_int_equal(ngx_svc_webauthn_attestation(&str, &data, &err), NGX_OK);

    p = bytes;

    while (*hex) {
        if (*hex == '@') {
            p = ngx_cpymem(p, data.data, data.len);
            hex++;
            continue;
        }

        n = strcspn(hex, "@") / 2;
        assert_int_equal(ngx_svc_hex((u_char *) hex, n, p), NGX_OK);
        p += n;
        hex += 2 * n;
    }

    len = p - bytes;

    return create(pool, ES256, ES256->create, base64_of(bytes, len));
}


#define FMT       "63666d74" "646e6f6e65"
#define STMT      "6761747453746d74" "a0"
#define DATA      "686175746844617461" "58a4@"
#define STMT_NAME   "6761747453746d74"
#define DATA_NAME   "686175746844617461"

static void
test_objects(void **state)
{
    ngx_uint_t  i;

    static const char  *good[] = {
        "a3" FMT STMT DATA,
        "a3" DATA STMT FMT,
        "b803" FMT STMT DATA,
        "b90003" FMT STMT DATA,
        "a3" FMT STMT_NAME "80" DATA,
        "a3" FMT STMT_NAME "81a2" FMT STMT DATA,
        "a3" FMT STMT_NAME "a161616162" DATA,
        "a3" FMT STMT_NAME "a2000000f6" DATA,
        "a3" FMT STMT DATA_NAME "5900a4@",
        "a3" "63666d74" "60" STMT DATA,
    };

    static const char  *bad[] = {
        "00", "40", "60", "80", "a0", "f6", "ff",
        "a2" FMT DATA, "a1" DATA, "a2" STMT DATA,
        "a0" FMT STMT DATA, "a2" FMT STMT DATA, "a4" FMT STMT DATA,
        "a3" FMT DATA DATA, "a3" FMT FMT DATA, "a3" FMT STMT STMT,
        "a3" DATA DATA DATA, "a4" FMT STMT DATA DATA,
        "a4" FMT STMT DATA "6178" "00",
        "a3" FMT "6178" "00" DATA,
        "a3" FMT "00" "00" DATA,
        "a3" "43666d74" "646e6f6e65" STMT DATA,
        "83" FMT STMT DATA,
        "a3" "63666d74" "00" STMT DATA,
        "a3" "63666d74" "446e6f6e65" STMT DATA,
        "a3" FMT STMT_NAME "00" DATA,
        "a3" FMT STMT_NAME "f6" DATA,
        "a3" FMT STMT DATA_NAME "78a4@",
        "a3" FMT STMT DATA_NAME "8158a4@",
        "a3" FMT STMT DATA_NAME "40",

        /* of indefinite length: all of it, and what is in it */
        "bf" FMT STMT DATA "ff",
        "a3" FMT STMT_NAME "bfff" DATA,
        "a3" FMT STMT_NAME "a161619fff" DATA,
        "a3" FMT STMT DATA_NAME "5f58a4@ff",
        "a3" "63666d74" "7f646e6f6e65ff" STMT DATA,

        /* a tag, too deep, too long for this memory */
        "c0a3" FMT STMT DATA,
        "a3" FMT STMT_NAME "c0a0" DATA,
        "a3" FMT STMT_NAME "81818181818181818180" DATA,
        "a3" FMT STMT_NAME "9a10000001" DATA,
        "a3" FMT STMT_NAME "bb7fffffffffffffff" DATA,
        "bbffffffffffffffff" FMT STMT DATA,
        "a3" FMT STMT DATA_NAME "5bffffffffffffffff@",
    };

    for (i = 0; i < ngx_unit_len(good); i++) {
        if (object(*state, good[i]) != NGX_OK) {
            fail_msg("good %d: %.*s", (int) i, (int) err.len, err.detail);
        }
    }

    for (i = 0; i < ngx_unit_len(bad); i++) {
        if (object(*state, bad[i]) != NGX_DECLINED || err.len == 0) {
            fail_msg("bad %d", (int) i);
        }
    }
}


/* Authenticator data of a registration: what follows is of this length. */

static ngx_int_t
data_of(ngx_pool_t *pool, ngx_uint_t flags, const char *hex)
{
    size_t                        n;
    u_char                        bytes[BYTES_MAX];
    ngx_str_t                     str, rp_id = ngx_string("acme.test");
    ngx_int_t                     rc;
    ngx_svc_webauthn_authdata_t   data;

    assert_int_equal(ngx_svc_sha256(rp_id.data, rp_id.len, bytes), NGX_OK);

    bytes[32] = (u_char) flags;
    memset(bytes + 33, 0xff, 4);

    n = strlen(hex) / 2;
    assert_int_equal(ngx_svc_hex((u_char *) hex, n, bytes + 37), NGX_OK);

    str.data = ngx_pnalloc(pool, 37 + n);
    assert_non_null(str.data);
    memcpy(str.data, bytes, 37 + n);
    str.len = 37 + n;

    err.kind = NGX_SVC_E_NONE;
    rc = ngx_svc_webauthn_authdata(&str, &rp_id, (flags & 0x40) != 0, &data,
                                   &err);

    if (rc == NGX_OK) {
        assert_int_equal(data.sign_count, 0xffffffff);
    }

    return rc;
}


#define AAGUID  "00000000000000000000000000000000"

static void
test_data(void **state)
{
    ngx_uint_t  i;

    static const struct {
        ngx_uint_t   flags;
        const char  *hex;
        ngx_int_t    rc;
    } rows[] = {
        { 0x05, "", NGX_OK },
        { 0x0d, "", NGX_OK },
        { 0x1d, "", NGX_OK },
        { 0x27, "", NGX_OK },
        { 0x15, "", NGX_DECLINED },
        { 0x01, "", NGX_DECLINED },
        { 0x04, "", NGX_DECLINED },
        { 0x05, "00", NGX_DECLINED },
        { 0x05, "a0", NGX_DECLINED },
        { 0x85, "", NGX_DECLINED },
        { 0x85, "a0", NGX_OK },
        { 0x85, "a0a0", NGX_DECLINED },
        { 0x85, "80", NGX_DECLINED },
        { 0x85, "f6", NGX_DECLINED },
        { 0x85, "bfff", NGX_DECLINED },
        { 0x85, "a1", NGX_DECLINED },
        { 0x85, "ba10000001", NGX_DECLINED },
        { 0x45, "", NGX_DECLINED },
        { 0x45, AAGUID, NGX_DECLINED },
        { 0x45, AAGUID "00", NGX_DECLINED },
        { 0x45, AAGUID "0000" "a0", NGX_DECLINED },
        { 0x45, AAGUID "0001" "61" "a0", NGX_OK },
        { 0x45, AAGUID "0001" "61", NGX_DECLINED },
        { 0x45, AAGUID "0001" "61" "80", NGX_DECLINED },
        { 0x45, AAGUID "0001" "61" "a0" "a0", NGX_DECLINED },
        { 0x45, AAGUID "0002" "61" "a0", NGX_DECLINED },
        { 0x45, AAGUID "ffff" "61" "a0", NGX_DECLINED },
        { 0x45, AAGUID "0001" "61" "bfff", NGX_DECLINED },
        { 0xc5, AAGUID "0001" "61" "a0", NGX_DECLINED },
        { 0xc5, AAGUID "0001" "61" "a0" "a0", NGX_OK },
        { 0xc5, AAGUID "0001" "61" "a0" "a0" "a0", NGX_DECLINED },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        if (data_of(*state, rows[i].flags, rows[i].hex) != rows[i].rc) {
            fail_msg("row %d", (int) i);
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


/* The id of the credential is that which is attested. */

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


/* Each part of a ceremony is in its challenges. */

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

    /* the first key makes, all verify */

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

    /* what is not ours is never only old */

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


/* Wherever the pool has no memory. */

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
        ngx_unit_test(test_objects),
        ngx_unit_test(test_data),
        ngx_unit_test(test_members),
        ngx_unit_test(test_ids),
        ngx_unit_test(test_users),
        ngx_unit_test(test_challenge),
        ngx_unit_test(test_rp_id),
        ngx_unit_test(test_no_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("webauthn", tests, NULL, NULL);
}
