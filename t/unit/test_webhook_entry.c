/*
 * Deliveries as text, in the form that they have in Redis.
 */

#include "ngx_unit.h"
#include "ngx_svc_webhook_entry.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>


#define ID     "00112233445566778899aabbccddeeff"
#define EVENT  "ffeeddccbbaa99887766554433221100"
#define UUID1  "3f0c8a52-6f4e-4d55-9d3a-0123456789ab"
#define UUID2  "00000000-0000-4000-8000-000000000000"
#define HEAD   ID " " EVENT " " UUID1 " " UUID2


#define PREFIX  (sizeof("k1:") - 1 + 2 * NGX_SVC_MAC_LEN + 1)


static ngx_svc_keys_t  keys = {
    .n = 2,
    .keys = {
        { .id = "k1", .id_len = 2, .key = "0123456789abcdef0123456789abcdef" },
        { .id = "old", .id_len = 3, .key = "fedcba9876543210fedcba9876543210" }
    }
};


static ngx_int_t
read_exactly(const void *text, size_t len, ngx_svc_webhook_delivery_t **d)
{
    u_char     *copy;
    ngx_int_t   rc;

    /* of exactly its length, so that ASan sees reads beyond it */

    copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);

    rc = ngx_svc_webhook_entry_read(copy, len, ngx_env_log(), d);

    free(copy);

    return rc;
}


/* Writes a MAC before the text, made by other functions of libcrypto. */

static size_t
sign_text(u_char *out, const char *text, size_t len)
{
    u_char        prk[32], key[32], mac[32];
    unsigned int  n;

    static const u_char  salt[32], info[] = NGX_SVC_WEBHOOK_ENTRY_LABEL "\1";

    HMAC(EVP_sha256(), salt, sizeof(salt), keys.keys[0].key, NGX_SVC_KEY_LEN,
         prk, &n);
    HMAC(EVP_sha256(), prk, sizeof(prk), info, sizeof(info) - 1, key, &n);
    HMAC(EVP_sha256(), key, sizeof(key), (u_char *) text, len, mac, &n);

    memcpy(out, "k1:", 3);
    out[ngx_hex_dump(out + 3, mac, NGX_SVC_MAC_LEN) - out] = ' ';
    memcpy(out + PREFIX, text, len);

    return PREFIX + len;
}


static ngx_int_t
read_text(const char *text, size_t len, ngx_svc_webhook_delivery_t **d)
{
    u_char     *copy;
    ngx_int_t   rc;

    copy = malloc(PREFIX + len);
    assert_non_null(copy);

    rc = read_exactly(copy, sign_text(copy, text, len), d);

    free(copy);

    return rc;
}


static void
assert_text(const ngx_str_t *str, const char *text)
{
    assert_int_equal(str->len, strlen(text));
    assert_memory_equal(str->data, text, str->len);
}


static void
test_round_trip(void **state)
{
    size_t                       len;
    u_char                       buf[1024], expected[1024];
    ngx_svc_webhook_delivery_t  *d;

    static const char  text[] = "2 " HEAD " user.created\n{\"a\": \"b c\nd\"}";

    assert_int_equal(read_text(text, strlen(text), &d), NGX_OK);

    assert_int_equal(d->attempts, 2);
    assert_text(&d->id, ID);
    assert_text(&d->event_id, EVENT);
    assert_text(&d->tenant, UUID1);
    assert_text(&d->endpoint, UUID2);
    assert_text(&d->event, "user.created");
    assert_text(&d->body, "{\"a\": \"b c\nd\"}");

    len = ngx_svc_webhook_entry_write(buf, d) - buf;

    assert_int_equal(len, sign_text(expected, text, strlen(text)));
    assert_int_equal(len, ngx_svc_webhook_entry_len(d));
    assert_memory_equal(buf, expected, len);

    ngx_free(d);
}


/* An entry begins with what the helper tells Redis after an attempt. */

static void
test_attempts(void **state)
{
    u_char                       buf[1024];
    size_t                       len;
    ngx_svc_webhook_delivery_t  *d, *again;

    static const char  text[] = "0 " HEAD " user.created\n{}";

    len = sign_text(buf, text, strlen(text));
    assert_int_equal(read_exactly(buf, len, &d), NGX_OK);
    assert_int_equal(d->head.len, PREFIX + 1);

    d->attempts = 2;
    assert_int_equal(ngx_svc_webhook_entry_sign(d), NGX_OK);

    buf[PREFIX] = '2';
    assert_int_equal(read_exactly(buf, len, &again), NGX_ABORT);

    memcpy(buf, d->head.data, d->head.len);
    assert_int_equal(read_exactly(buf, len, &again), NGX_OK);
    assert_int_equal(again->attempts, 2);
    assert_text(&again->id, ID);

    ngx_free(again);
    ngx_free(d);
}


static void
test_forged(void **state)
{
    u_char                       buf[1024];
    size_t                       i, len;
    ngx_svc_keys_t               others;
    ngx_svc_webhook_delivery_t  *d;

    static const char  text[] = "0 " HEAD " user.created\n{\"a\":1}";

    len = sign_text(buf, text, strlen(text));

    for (i = 0; i < len; i++) {
        buf[i] ^= 1;
        assert_int_not_equal(read_exactly(buf, len, &d), NGX_OK);
        buf[i] ^= 1;
    }

    for (i = 0; i < len; i++) {
        assert_int_not_equal(read_exactly(buf, i, &d), NGX_OK);
    }

    assert_int_equal(read_exactly(text, strlen(text), &d), NGX_DECLINED);

    /* any key of the file opens, and a removed one does not */

    others = keys;
    others.keys[0] = keys.keys[1];
    others.keys[1] = keys.keys[0];
    assert_int_equal(ngx_svc_webhook_entry_init(&others), NGX_OK);
    assert_int_equal(read_exactly(buf, len, &d), NGX_OK);
    ngx_free(d);

    others.n = 1;
    assert_int_equal(ngx_svc_webhook_entry_init(&others), NGX_OK);
    assert_int_equal(read_exactly(buf, len, &d), NGX_ABORT);

    assert_int_equal(ngx_svc_webhook_entry_init(&keys), NGX_OK);
}


static void
test_damaged(void **state)
{
    ngx_uint_t                   i;
    ngx_svc_webhook_delivery_t  *d;

    static const char  *rows[] = {
        "",
        " ",
        "\n",
        "0",
        "hello",
        "0 " HEAD " user.created",
        "0 " HEAD " user.created\n",
        "0 " HEAD " \n{}",
        "0 " HEAD "\n{}",
        "0 " HEAD " User\n{}",
        "0 " HEAD " user.created\r\n{}",
        "0 " HEAD " user created\n{}",
        "4 " HEAD " user.created\n{}",
        "-1 " HEAD " user.created\n{}",
        "00 " HEAD " user.created\n{}",
        "x " HEAD " user.created\n{}",
        " " HEAD " user.created\n{}",
        "0  " HEAD " user.created\n{}",
        "0 " ID " " ID "0 " UUID1 " " UUID2 " user.created\n{}",
        "0 0011 " EVENT " " UUID1 " " UUID2 " user.created\n{}",
        "0 00112233445566778899AABBCCDDEEFF " EVENT " " UUID1 " " UUID2
            " user.created\n{}",
        "0 " ID " " EVENT " " UUID1 " user.created\n{}",
        "0 " ID " " EVENT " " UUID1 " " UUID1 " " UUID2 " user.created\n{}",
        "0 " ID " " EVENT " 3f0c8a5206f4e-4d55-9d3a-0123456789ab " UUID2
            " user.created\n{}",
        "0 " ID " " EVENT " 3F0C8A52-6F4E-4D55-9D3A-0123456789AB " UUID2
            " user.created\n{}",
        "0 " HEAD " aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaa\n{}",
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        if (read_text(rows[i], strlen(rows[i]), &d) != NGX_DECLINED) {
            fail_msg("\"%s\" is taken for an entry", rows[i]);
        }
    }
}


/* An entry that is cut anywhere, and each byte of its head changed. */

static void
test_cut_and_changed(void **state)
{
    char                         copy[256];
    size_t                       i, len;
    ngx_int_t                    rc;
    ngx_svc_webhook_delivery_t  *d;

    static const char  text[] = "0 " HEAD " user.created\n{}";

    len = strlen(text);

    for (i = 0; i < len - 1; i++) {
        assert_int_equal(read_text(text, i, &d), NGX_DECLINED);
    }

    for (i = 0; i < len - 2; i++) {
        memcpy(copy, text, len);
        copy[i] = '\0';

        rc = read_text(copy, len, &d);
        assert_int_equal(rc, NGX_DECLINED);
    }

    assert_int_equal(read_text(text, len - 1, &d), NGX_OK);
    ngx_free(d);
}


static void
test_length(void **state)
{
    char                        *text;
    size_t                       head, len;
    ngx_svc_webhook_delivery_t  *d;

    static const char  start[] = "1 " HEAD " user.login\n";

    head = strlen(start);
    len = head + NGX_SVC_WEBHOOK_BODY_MAX;

    text = malloc(len + 1000);
    assert_non_null(text);

    memcpy(text, start, head);
    memset(text + head, 'x', len + 1000 - head);

    assert_int_equal(read_text(text, len, &d), NGX_OK);
    assert_int_equal(d->body.len, NGX_SVC_WEBHOOK_BODY_MAX);
    ngx_free(d);

    assert_int_equal(read_text(text, len + 1, &d), NGX_DECLINED);
    assert_int_equal(read_text(text, len + 1000, &d), NGX_DECLINED);

    free(text);
}


static void
test_memory(void **state)
{
    ngx_svc_webhook_delivery_t  *d;

    static const char  text[] = "0 " HEAD " user.created\n{}";

    ngx_env_alloc_limit(0);
    assert_int_equal(read_text(text, strlen(text), &d), NGX_ERROR);
    ngx_env_alloc_limit(-1);
}


int
main(void)
{
    int  rc;

    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_round_trip),
        ngx_unit_test(test_attempts),
        ngx_unit_test(test_forged),
        ngx_unit_test(test_damaged),
        ngx_unit_test(test_cut_and_changed),
        ngx_unit_test(test_length),
        ngx_unit_test(test_memory)
    };

    ngx_env_init();

    if (ngx_svc_webhook_entry_init(&keys) != NGX_OK) {
        return 1;
    }

    rc = cmocka_run_group_tests(tests, NULL, NULL);

    ngx_svc_webhook_entry_exit();

    return rc;
}
