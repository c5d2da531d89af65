/*
 * Recovery codes.
 */

#include "ngx_unit.h"
#include "ngx_svc_recovery.h"


static ngx_int_t
parse(const char *text, size_t len, char code[NGX_SVC_RECOVERY_LEN + 1])
{
    ngx_str_t  str;

    str.data = (u_char *) text;
    str.len = len;
    code[NGX_SVC_RECOVERY_LEN] = '\0';

    return ngx_svc_recovery_parse(&str, (u_char *) code);
}


/*
 * Each of the 50 bits is sometimes 0 and sometimes 1, and no two codes are
 * equal.
 */

static void
test_new(void **state)
{
    char        text[NGX_SVC_RECOVERY_TEXT_LEN + 1];
    char        read[NGX_SVC_RECOVERY_LEN + 1];
    u_char      code[NGX_SVC_RECOVERY_LEN], last[NGX_SVC_RECOVERY_LEN];
    ngx_uint_t  i, j, seen[NGX_SVC_RECOVERY_LEN][128];

    static const char  alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

    ngx_memzero(seen, sizeof(seen));
    ngx_memzero(last, sizeof(last));

    for (i = 0; i < 32 * 200; i++) {
        assert_int_equal(ngx_svc_recovery_new(code), NGX_OK);
        assert_memory_not_equal(code, last, sizeof(code));
        memcpy(last, code, sizeof(code));

        for (j = 0; j < sizeof(code); j++) {
            assert_non_null(memchr(alphabet, code[j], 32));
            seen[j][code[j]]++;
        }

        assert_ptr_equal(ngx_svc_recovery_text((u_char *) text, code),
                         text + NGX_SVC_RECOVERY_TEXT_LEN);
        assert_int_equal(text[5], '-');
        assert_int_equal(parse(text, NGX_SVC_RECOVERY_TEXT_LEN, read), NGX_OK);
        assert_memory_equal(read, code, sizeof(code));
    }

    /* each comes 200 times: 100 is seven standard deviations away */

    for (j = 0; j < sizeof(code); j++) {
        for (i = 0; i < 32; i++) {
            assert_in_range(seen[j][(u_char) alphabet[i]], 100, 300);
        }
    }
}


static void
test_parse(void **state)
{
    char        code[NGX_SVC_RECOVERY_LEN + 1];
    ngx_uint_t  i;

    static const char  *same[] = {
        "k7f2m-9xq4t", "K7F2M-9XQ4T", "k7f2m9xq4t", "K7f2M9xQ4t",
        " k7f2m 9xq4t ", "k-7-f-2-m-9-x-q-4-t", "--k7f2m - 9xq4t--",
    };

    static const char  *bad[] = {
        "", "-", "k7f2m-9xq4", "k7f2m-9xq4t0", "k7f2m-9xq4u", "k7f2m_9xq4t",
        "k7f2m-9xq4\t", "k7f2m-9xq4\xc3\xa9", "k7f2m.9xq4t", "k7f2m\n9xq4t",
        "k7f2m-9xq4tk7f2m-9xq4tk7f2m-9xq4tk7f2m-9xq4t",
    };

    for (i = 0; i < ngx_unit_len(same); i++) {
        assert_int_equal(parse(same[i], strlen(same[i]), code), NGX_OK);
        assert_string_equal(code, "k7f2m9xq4t");
    }

    for (i = 0; i < ngx_unit_len(bad); i++) {
        if (parse(bad[i], strlen(bad[i]), code) != NGX_DECLINED) {
            fail_msg("\"%s\" is a code", bad[i]);
        }
    }

    assert_int_equal(parse("k7f2m-9xq\0t", 11, code), NGX_DECLINED);

    assert_int_equal(parse("iIlLoO-0011", 11, code), NGX_OK);
    assert_string_equal(code, "1111000011");
}


/* All inputs count; the value is that of another implementation. */

static void
test_mac(void **state)
{
    u_char      key[NGX_SVC_KEY_LEN], tenant[NGX_SVC_UUID_LEN];
    u_char      user[NGX_SVC_UUID_LEN], code[NGX_SVC_RECOVERY_LEN];
    u_char      first[NGX_SVC_SHA256_LEN], mac[NGX_SVC_SHA256_LEN];
    ngx_uint_t  i;

    /* Python: hmac.new(b"k" * 32, b"t" * 16 + b"u" * 16 + b"k7f2m9xq4t",
     *                  "sha256") */

    static const u_char  known[] = {
        0xa9, 0xf1, 0xeb, 0x27, 0xc9, 0x35, 0xaa, 0xcd, 0x1f, 0x36,
        0xf7, 0xb4, 0xaf, 0x08, 0xff, 0x0b, 0x8b, 0x8b, 0x65, 0x2a,
        0x77, 0x78, 0xce, 0xa3, 0x82, 0xb0, 0x22, 0x60, 0xf1, 0x55,
        0x4d, 0x3a,
    };

    u_char *parts[] = { key, tenant, user, code };

    memset(key, 'k', sizeof(key));
    memset(tenant, 't', sizeof(tenant));
    memset(user, 'u', sizeof(user));
    memcpy(code, "k7f2m9xq4t", sizeof(code));

    assert_int_equal(ngx_svc_recovery_mac(key, tenant, user, code, first),
                     NGX_OK);
    assert_memory_equal(first, known, sizeof(first));

    for (i = 0; i < ngx_unit_len(parts); i++) {
        parts[i][9] ^= 1;
        assert_int_equal(ngx_svc_recovery_mac(key, tenant, user, code, mac),
                         NGX_OK);
        assert_memory_not_equal(mac, first, sizeof(mac));
        parts[i][9] ^= 1;
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_mac),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("recovery", tests, NULL, NULL);
}
