/*
 * Hashes, ids, key files and sealing.
 */

#include "ngx_unit.h"
#include "ngx_svc_crypto.h"


#define TEXT(s)  (const u_char *) (s), strlen(s)

#define KEY_A  "00112233445566778899aabbccddeeff"                             \
               "0123456789abcdef0123456789ABCDEF"
#define KEY_B  "ffeeddccbbaa99887766554433221100"                             \
               "fedcba9876543210fedcba9876543210"


static void
hex(u_char *out, const char *text)
{
    ngx_int_t  n;

    for ( /* void */ ; *text; text += 2) {
        n = ngx_hextoi((u_char *) text, 2);
        assert_int_not_equal(n, NGX_ERROR);
        *out++ = (u_char) n;
    }
}


static void
keys_of(ngx_svc_keys_t *keys, const char *text)
{
    char  why[NGX_MAX_ERROR_STR / 8];

    if (ngx_svc_keys_parse(keys, TEXT(text), why) != NGX_OK) {
        fail_msg("%s: %s", text, why);
    }
}


/* FIPS 180-4's examples, each twice, because the context is used again. */

static void
test_sha256(void **state)
{
    u_char      *data, out[NGX_SVC_SHA256_LEN], expected[NGX_SVC_SHA256_LEN];
    ngx_uint_t   i;

    static const struct {
        const char  *text;
        const char  *hash;
    } rows[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb924"
              "27ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223"
                 "b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039"
          "a33ce45964ff2167f6ecedd419db06c1" },
    };

    for (i = 0; i < 2 * ngx_unit_len(rows); i++) {
        hex(expected, rows[i / 2].hash);

        assert_int_equal(ngx_svc_sha256(TEXT(rows[i / 2].text), out), NGX_OK);
        assert_memory_equal(out, expected, sizeof(out));
    }

    data = malloc(1000000);
    assert_non_null(data);
    memset(data, 'a', 1000000);

    hex(expected, "cdc76e5c9914fb9281a1c7e284d73e67"
                  "f1809a48a497200e046d39ccc7112cd0");

    assert_int_equal(ngx_svc_sha256(data, 1000000, out), NGX_OK);
    assert_memory_equal(out, expected, sizeof(out));

    free(data);
}


static void
test_random(void **state)
{
    u_char      one[32], two[32], seen[32];
    ngx_uint_t  i, j;

    assert_int_equal(ngx_svc_random(one, sizeof(one)), NGX_OK);
    assert_int_equal(ngx_svc_random(two, sizeof(two)), NGX_OK);
    assert_memory_not_equal(one, two, sizeof(one));

    /* each byte is written, and none after them */

    ngx_memzero(seen, sizeof(seen));

    for (i = 0; i < 64; i++) {
        ngx_memzero(one, sizeof(one));
        assert_int_equal(ngx_svc_random(one, 31), NGX_OK);

        for (j = 0; j < sizeof(one); j++) {
            seen[j] |= one[j];
        }
    }

    for (j = 0; j < 31; j++) {
        assert_int_not_equal(seen[j], 0);
    }

    assert_int_equal(seen[31], 0);
}


static void
test_equal(void **state)
{
    u_char      one[32], two[32];
    ngx_uint_t  i;

    memset(one, 0x5a, sizeof(one));
    memset(two, 0x5a, sizeof(two));

    assert_int_equal(ngx_svc_equal(one, two, sizeof(one)), 1);
    assert_int_equal(ngx_svc_equal(one, two, 0), 1);

    for (i = 0; i < 8 * sizeof(one); i++) {
        two[i / 8] ^= 1 << (i % 8);
        assert_int_equal(ngx_svc_equal(one, two, sizeof(one)), 0);
        two[i / 8] ^= 1 << (i % 8);
    }
}


static int
cmp_uuids(const void *one, const void *two)
{
    return memcmp(one, two, NGX_SVC_UUID_LEN);
}


static void
test_uuid_new(void **state)
{
    u_char       uuid[NGX_SVC_UUID_LEN], *all;
    u_char       ones[NGX_SVC_UUID_LEN], zeros[NGX_SVC_UUID_LEN];
    ngx_uint_t   i, j;

    static const u_char  prefix[] = { 0x01, 0x7f, 0x22, 0xe2, 0x79, 0xb0 };

    all = malloc(1000 * NGX_SVC_UUID_LEN);
    assert_non_null(all);

    ngx_memzero(ones, sizeof(ones));
    ngx_memzero(zeros, sizeof(zeros));

    /* the time of RFC 9562's example, A.6 */

    ngx_env_time(0x017f22e279b0);

    for (i = 0; i < 1000; i++) {
        assert_int_equal(ngx_svc_uuid_new(uuid), NGX_OK);

        assert_memory_equal(uuid, prefix, sizeof(prefix));
        assert_int_equal(uuid[6] & 0xf0, 0x70);
        assert_int_equal(uuid[8] & 0xc0, 0x80);

        memcpy(all + i * NGX_SVC_UUID_LEN, uuid, NGX_SVC_UUID_LEN);

        for (j = 0; j < NGX_SVC_UUID_LEN; j++) {
            ones[j] |= uuid[j];
            zeros[j] |= ~uuid[j];
        }
    }

    /* each of the other 74 bits is sometimes 0 and sometimes 1 */

    assert_int_equal(ones[6] & zeros[6], 0x0f);
    assert_int_equal(ones[7] & zeros[7], 0xff);
    assert_int_equal(ones[8] & zeros[8], 0x3f);

    for (j = 9; j < NGX_SVC_UUID_LEN; j++) {
        assert_int_equal(ones[j] & zeros[j], 0xff);
    }

    qsort(all, 1000, NGX_SVC_UUID_LEN, cmp_uuids);

    for (i = 1; i < 1000; i++) {
        assert_memory_not_equal(all + i * NGX_SVC_UUID_LEN,
                                all + (i - 1) * NGX_SVC_UUID_LEN,
                                NGX_SVC_UUID_LEN);
    }

    free(all);

    /* ids of later times sort later */

    ngx_env_time(0xfffffffffffe);
    assert_int_equal(ngx_svc_uuid_new(ones), NGX_OK);

    ngx_env_time(0xffffffffffff);
    assert_int_equal(ngx_svc_uuid_new(zeros), NGX_OK);
    assert_true(memcmp(ones, zeros, NGX_SVC_UUID_LEN) < 0);
}


static void
test_uuid_text(void **state)
{
    u_char      uuid[NGX_SVC_UUID_LEN], expected[NGX_SVC_UUID_LEN];
    u_char      text[NGX_SVC_UUID_TEXT_LEN + 1];
    ngx_uint_t  i;

    static const char  *good[] = {
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
        "017f22E2-79b0-7Cc3-98c4-dc0C0c07398f",
    };

    static const char  *bad[] = {
        "",
        "-",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
        "017f22e279b07cc398c4dc0c0c07398f",
        "017f22e279b07cc398c4dc0c0c07398f0000",
        "{17f22e2-79b0-7cc3-98c4-dc0c0c07398}",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
        "g17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398 ",
        " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2_79b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c40dc0c0c07398f",
        "017f22e-279b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398'",
        "@17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "`17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        ":17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "/17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "\x10""17f22e-79b0-7cc3-98c4-dc0c0c07398f0",
        "\xff""17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    };

    hex(expected, "017f22e279b07cc398c4dc0c0c07398f");

    for (i = 0; i < ngx_unit_len(good); i++) {
        ngx_memzero(uuid, sizeof(uuid));

        assert_int_equal(ngx_svc_uuid_parse(TEXT(good[i]), uuid), NGX_OK);
        assert_memory_equal(uuid, expected, sizeof(uuid));
    }

    assert_ptr_equal(ngx_svc_uuid_text(text, uuid),
                     text + NGX_SVC_UUID_TEXT_LEN);
    text[NGX_SVC_UUID_TEXT_LEN] = '\0';
    assert_string_equal((char *) text, good[0]);

    for (i = 0; i < ngx_unit_len(bad); i++) {
        if (ngx_svc_uuid_parse(TEXT(bad[i]), uuid) != NGX_DECLINED) {
            fail_msg("\"%s\" is admitted", bad[i]);
        }
    }

    assert_int_equal(ngx_svc_uuid_parse((u_char *) "017f22e2-79b0-7cc3-98c4-"
                                        "dc0c0c0\0""398f", 36, uuid),
                     NGX_DECLINED);
}


/* All 256 bytes at each of the 36 positions. */

static void
test_uuid_bytes(void **state)
{
    int         c;
    u_char      text[NGX_SVC_UUID_TEXT_LEN], uuid[NGX_SVC_UUID_LEN];
    ngx_int_t   rc;
    ngx_uint_t  i, dash;

    for (i = 0; i < NGX_SVC_UUID_TEXT_LEN; i++) {
        dash = (i == 8 || i == 13 || i == 18 || i == 23);

        for (c = 0; c < 256; c++) {
            memcpy(text, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
                   sizeof(text));
            text[i] = (u_char) c;

            rc = ngx_svc_uuid_parse(text, sizeof(text), uuid);

            assert_int_equal(rc == NGX_OK, dash ? c == '-'
                                                : isxdigit(c) != 0);
        }
    }
}


static void
test_keys(void **state)
{
    u_char          key[NGX_SVC_KEY_LEN];
    ngx_svc_keys_t  keys;

    keys_of(&keys, "# comment\n"
                   "\n"
                   "AZ-az09:" KEY_A "\n"
                   "#old:" KEY_A "\n"
                   "abcdefghijklmnopqrstuvwxyz_ABCDE:" KEY_B);

    assert_int_equal(keys.n, 2);

    hex(key, KEY_A);
    assert_int_equal(keys.keys[0].id_len, 7);
    assert_memory_equal(keys.keys[0].id, "AZ-az09", 7);
    assert_memory_equal(keys.keys[0].key, key, sizeof(key));

    hex(key, KEY_B);
    assert_int_equal(keys.keys[1].id_len, 32);
    assert_memory_equal(keys.keys[1].key, key, sizeof(key));

    keys_of(&keys, "a:" KEY_A "\nb:" KEY_A "\nc:" KEY_A "\nd:" KEY_A "\n"
                   "e:" KEY_A "\nf:" KEY_A "\ng:" KEY_A "\nh:" KEY_A "\n");
    assert_int_equal(keys.n, NGX_SVC_KEYS);
}


static void
test_bad_keys(void **state)
{
    char            why[NGX_MAX_ERROR_STR / 8];
    ngx_uint_t      i, j;
    ngx_svc_keys_t  keys, zeros;

    static const struct {
        const char  *text;
        const char  *why;
    } rows[] = {
        { "", "there is no key" },
        { "\n\n# a:" KEY_A "\n", "there is no key" },
        { KEY_A "\n",
          "line 1: no \":\" between the key's id and the key" },
        { "a:" KEY_A "\n\n" KEY_B "\n",
          "line 3: no \":\" between the key's id and the key" },
        { ":" KEY_A "\n",
          "line 1: the key's id must be 1 to 32 characters A-Z, a-z, 0-9,"
          " \"_\" or \"-\"" },
        { "a b:" KEY_A "\n",
          "line 1: the key's id must be 1 to 32 characters A-Z, a-z, 0-9,"
          " \"_\" or \"-\"" },
        { " a:" KEY_A "\n",
          "line 1: the key's id must be 1 to 32 characters A-Z, a-z, 0-9,"
          " \"_\" or \"-\"" },
        { "abcdefghijklmnopqrstuvwxyz_ABCDEF:" KEY_A "\n",
          "line 1: the key's id must be 1 to 32 characters A-Z, a-z, 0-9,"
          " \"_\" or \"-\"" },
        { "a:" KEY_A "\na:" KEY_B "\n",
          "line 2: the key's id is used in an earlier line" },
        { "a:\n", "line 1: the key must be 64 hex digits" },
        { "a:" KEY_A "0\n", "line 1: the key must be 64 hex digits" },
        { "a:" KEY_A "00\n", "line 1: the key must be 64 hex digits" },
        { "a: " KEY_A "\n", "line 1: the key must be 64 hex digits" },
        { "a:" KEY_A " \n", "line 1: the key must be 64 hex digits" },
        { "a:" KEY_A "\r\n", "line 1: the key must be 64 hex digits" },
        { "a:" KEY_A "\nb:0011\n", "line 2: the key must be 64 hex digits" },
        { "a:00112233445566778899aabbccddeeff"
          "0123456789abcdef0123456789abcdeg",
          "line 1: the key must be 64 hex digits" },
        { "a:" KEY_A "\nb:" KEY_A "\nc:" KEY_A "\nd:" KEY_A "\ne:" KEY_A "\n"
          "f:" KEY_A "\ng:" KEY_A "\nh:" KEY_A "\n# x\ni:" KEY_A "\n",
          "line 10: more than 8 keys" },
    };

    ngx_memzero(&zeros, sizeof(zeros));

    for (i = 0; i < ngx_unit_len(rows); i++) {

        ngx_memzero(&keys, sizeof(keys));
        memset(why, 'x', sizeof(why));

        assert_int_equal(ngx_svc_keys_parse(&keys, TEXT(rows[i].text), why),
                         NGX_DECLINED);
        assert_string_equal(why, rows[i].why);

        /* no key stays in memory, and no part of one is in the message */

        assert_memory_equal(&keys, &zeros, sizeof(keys));

        for (j = 0; j + 4 < sizeof(KEY_A); j++) {
            assert_null(strstr(why, ((char[]) { KEY_A[j], KEY_A[j + 1],
                                                KEY_A[j + 2], KEY_A[j + 3],
                                                '\0' })));
        }
    }
}


/* Case 16 of the GCM specification (McGrew and Viega, appendix B). */

static void
test_unseal_known(void **state)
{
    u_char          sealed[1 + 1 + 12 + 60 + 16], text[60], aad[20];
    u_char          out[sizeof(sealed)];
    size_t          len;
    ngx_svc_keys_t  keys;

    keys_of(&keys, "k:feffe9928665731c6d6a8f9467308308"
                     "feffe9928665731c6d6a8f9467308308\n");

    hex(aad, "feedfacedeadbeeffeedfacedeadbeefabaddad2");

    hex(text, "d9313225f88406e5a55909c5aff5269a"
              "86a7a9531534f7da2e4c303d8a318a72"
              "1c3c0c95956809532fcf0e2449a6b525"
              "b16aedf5aa0de657ba637b39");

    hex(sealed, "016b"
                "cafebabefacedbaddecaf888"
                "522dc1f099567d07f47f37a32a84427d"
                "643a8cdcbfe5c0c97598a2bd2555d1aa"
                "8cb08e48590dbb3da7b08b1056828838"
                "c5f61e6393ba7a0abcc9f662"
                "76fc6ece0f4e1768cddf8853bb2d551b");

    assert_int_equal(ngx_svc_unseal(&keys, sealed, sizeof(sealed), aad,
                                    sizeof(aad), out, &len), NGX_OK);
    assert_int_equal(len, sizeof(text));
    assert_memory_equal(out, text, sizeof(text));
}


static void
test_seal(void **state)
{
    u_char          *text, *sealed, *out, again[NGX_SVC_SEAL_OVERHEAD];
    size_t           len, sealed_len, out_len;
    ngx_svc_keys_t   keys;

    keys_of(&keys, "abcdefghijklmnopqrstuvwxyz_ABCDE:" KEY_A "\n");

    for (len = 0; len < 600; len = (len < 70) ? len + 1 : len + 97) {

        /* memory of exactly the size that the header promises */

        text = malloc(len + 1);
        sealed = malloc(len + NGX_SVC_SEAL_OVERHEAD);
        assert_true(text != NULL && sealed != NULL);

        assert_int_equal(ngx_svc_random(text, len), NGX_OK);

        assert_int_equal(ngx_svc_seal(&keys, text, len, TEXT("row 1"), sealed,
                                      &sealed_len), NGX_OK);
        assert_int_equal(sealed_len, len + NGX_SVC_SEAL_OVERHEAD);
        assert_int_equal(sealed[0], 32);

        out = malloc(sealed_len);
        assert_non_null(out);

        assert_int_equal(ngx_svc_unseal(&keys, sealed, sealed_len,
                                        TEXT("row 1"), out, &out_len),
                         NGX_OK);
        assert_int_equal(out_len, len);

        if (len) {
            assert_memory_equal(out, text, len);
        }

        free(text);
        free(sealed);
        free(out);
    }

    /* a nonce never comes twice */

    sealed = again;

    assert_int_equal(ngx_svc_seal(&keys, NULL, 0, NULL, 0, sealed,
                                  &sealed_len), NGX_OK);

    out = malloc(NGX_SVC_SEAL_OVERHEAD);
    assert_non_null(out);
    assert_int_equal(ngx_svc_seal(&keys, NULL, 0, NULL, 0, out, &out_len),
                     NGX_OK);
    assert_memory_not_equal(out + 33, sealed + 33, 12);

    free(out);
}


/* Tests which key a text names, which is told only when the key is missing. */

static void
missing_is(const ngx_svc_keys_t *keys, const char *text, size_t len,
    const char *id)
{
    u_char     *copy;
    ngx_str_t   got;

    /* memory of exactly this size: nothing beyond it is read */

    copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy + 1, text, len);

    assert_int_equal(ngx_svc_key_missing(keys, copy + 1, len, &got),
                     id != NULL);

    if (id) {
        assert_int_equal(got.len, strlen(id));
        assert_memory_equal(got.data, id, got.len);
    }

    free(copy);
}


static void
test_key_missing(void **state)
{
    ngx_svc_keys_t  keys;

    keys_of(&keys, "k1:" KEY_A "\n");

    missing_is(&keys, "\2k2rest", 7, "k2");
    missing_is(&keys, "\2k2", 3, "k2");
    missing_is(&keys, "\2k1rest", 7, NULL);
    missing_is(&keys, "\1krest", 6, "k");
    missing_is(&keys, "", 0, NULL);
    missing_is(&keys, "\0k2", 3, NULL);
    missing_is(&keys, "\2k", 2, NULL);
    missing_is(&keys, "\2k\"rest", 7, NULL);
    missing_is(&keys, "\44argon2id$v=19$m=19456,t=2,p=1$abcdefgh", 39, NULL);
}


static void
unseal_refused(const ngx_svc_keys_t *keys, const u_char *sealed, size_t len,
    const char *aad)
{
    u_char  *copy, *out;
    size_t   out_len, i;

    /* at the end of the memory, even when it is empty */

    copy = malloc(len + 1);
    out = malloc(len + 1);
    assert_true(copy != NULL && out != NULL);

    if (len) {
        memcpy(copy + 1, sealed, len);
    }

    memset(out, 0, len + 1);
    out_len = 12345;

    assert_int_equal(ngx_svc_unseal(keys, copy + 1, len, TEXT(aad), out,
                                    &out_len), NGX_DECLINED);

    /* no byte of a text that is not authentic is returned */

    assert_int_equal(out_len, 12345);

    for (i = 0; i < len; i++) {
        assert_int_equal(out[i], 0);
    }

    free(copy);
    free(out);
}


static void
test_tampered(void **state)
{
    u_char          sealed[64 + NGX_SVC_SEAL_OVERHEAD];
    size_t          len, i;
    ngx_svc_keys_t  keys, other;

    keys_of(&keys, "a:" KEY_A "\nb:" KEY_B "\n");
    keys_of(&other, "a:" KEY_B "\n");

    assert_int_equal(ngx_svc_seal(&keys, TEXT("a secret of some length"),
                                  TEXT("row 1"), sealed, &len), NGX_OK);

    for (i = 0; i < 8 * len; i++) {
        sealed[i / 8] ^= 1 << (i % 8);
        unseal_refused(&keys, sealed, len, "row 1");
        sealed[i / 8] ^= 1 << (i % 8);
    }

    for (i = 0; i < len; i++) {
        unseal_refused(&keys, sealed, i, "row 1");
    }

    sealed[len] = 0;
    unseal_refused(&keys, sealed, len + 1, "row 1");

    unseal_refused(&keys, sealed, len, "row 2");
    unseal_refused(&keys, sealed, len, "row 1 ");
    unseal_refused(&keys, sealed, len, "");

    unseal_refused(&other, sealed, len, "row 1");

    /* the text itself was valid */

    assert_int_equal(ngx_svc_unseal(&keys, sealed, len, TEXT("row 1"), sealed,
                                    &i), NGX_OK);
}


/*
 * A new first key seals; what the old one sealed opens as long as that stays.
 */

static void
test_rotation(void **state)
{
    u_char          sealed[16 + NGX_SVC_SEAL_OVERHEAD];
    u_char          out[sizeof(sealed)];
    size_t          len, out_len;
    ngx_svc_keys_t  keys;

    keys_of(&keys, "old:" KEY_A "\n");
    assert_int_equal(ngx_svc_seal(&keys, TEXT("secret"), TEXT("row"), sealed,
                                  &len), NGX_OK);

    keys_of(&keys, "new:" KEY_B "\nold:" KEY_A "\n");
    assert_int_equal(ngx_svc_unseal(&keys, sealed, len, TEXT("row"), out,
                                    &out_len), NGX_OK);
    assert_int_equal(out_len, 6);
    assert_memory_equal(out, "secret", 6);

    assert_int_equal(ngx_svc_seal(&keys, TEXT("secret"), TEXT("row"), out,
                                  &out_len), NGX_OK);
    assert_memory_equal(out, "\003new", 4);

    keys_of(&keys, "new:" KEY_B "\n");
    unseal_refused(&keys, sealed, len, "row");

    keys.n = 0;
    unseal_refused(&keys, sealed, len, "row");
    assert_int_equal(ngx_svc_seal(&keys, TEXT("secret"), TEXT("row"), out,
                                  &out_len), NGX_ERROR);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_uuid_new),
        cmocka_unit_test(test_uuid_text),
        cmocka_unit_test(test_uuid_bytes),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_bad_keys),
        cmocka_unit_test(test_unseal_known),
        cmocka_unit_test(test_seal),
        cmocka_unit_test(test_key_missing),
        cmocka_unit_test(test_tampered),
        cmocka_unit_test(test_rotation),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("crypto", tests, NULL, NULL);
}
