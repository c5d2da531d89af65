/*
 * What a policy requires of a new password.
 */

#include "ngx_unit.h"
#include "ngx_unit_breached.h"
#include "ngx_svc_password_check.h"


/* No rule, and one rule alone. */

#define TEST_NONE        { .min_length = 0 }
#define TEST_ONLY(rule)  { .rule = 1 }


typedef struct {
    const char  *password;
    const char  *reason;            /* how it begins; NULL: it is taken */
} test_row_t;


static const ngx_svc_password_word_t  test_ada[] = {
    { NGX_SVC_PASSWORD_EMAIL, ngx_string("ada.lovelace@mail.example") },
    { NGX_SVC_PASSWORD_NAME, ngx_string("Ada") },
    { NGX_SVC_PASSWORD_NAME, ngx_string("King Lovelace") },
    { NGX_SVC_PASSWORD_NAME, ngx_string("") },
    { NGX_SVC_PASSWORD_NAME, { 0, NULL } },
    { NGX_SVC_PASSWORD_TENANT, ngx_string("Acme & Söhne") },
    { NGX_SVC_PASSWORD_TENANT, ngx_string("acme") },
    { NGX_SVC_PASSWORD_DOMAIN, ngx_string("anvils.example") }
};


/* Checks in memory that ends where the password does. */

static ngx_int_t
test_check(const char *text, size_t len,
    const ngx_svc_password_policy_t *policy,
    const ngx_svc_password_word_t *words, ngx_uint_t n,
    const ngx_svc_breached_t *breached, ngx_svc_password_reason_t *reason)
{
    ngx_int_t  rc;
    ngx_str_t  password;

    password.len = len;
    password.data = malloc(len);
    assert_non_null(password.data);
    memcpy(password.data, text, len);

    rc = ngx_svc_password_check(&password, policy, words, n, breached, reason);

    free(password.data);

    assert_true(reason->len < NGX_SVC_PASSWORD_REASON);
    assert_int_equal(rc == NGX_DECLINED, reason->len > 0);

    return rc;
}


static void
test_words(const ngx_svc_password_policy_t *policy,
    const ngx_svc_password_word_t *words, ngx_uint_t n, const test_row_t *row)
{
    ngx_int_t                  rc;
    ngx_svc_password_reason_t  reason;

    rc = test_check(row->password, strlen(row->password), policy, words, n,
                    NULL, &reason);

    if (rc != (row->reason ? NGX_DECLINED : NGX_OK)
        || (row->reason
            && (reason.len < strlen(row->reason)
                || memcmp(reason.data, row->reason, strlen(row->reason)) != 0)))
    {
        fail_msg("\"%s\": %d \"%.*s\", not \"%s\"", row->password, (int) rc,
                 (int) reason.len, reason.data,
                 row->reason ? row->reason : "");
    }
}


static void
test_rows(const ngx_svc_password_policy_t *policy, const test_row_t *rows,
    size_t n)
{
    while (n--) {
        test_words(policy, test_ada, ngx_unit_len(test_ada), rows++);
    }
}


static void
test_length(void **state)
{
    char                        text[1024];
    ngx_uint_t                  i;
    ngx_svc_password_reason_t   reason;

    static const ngx_svc_password_policy_t  none = TEST_NONE;
    static const ngx_svc_password_policy_t  eight = { .min_length = 8 };

    static const test_row_t  rows[] = {
        { "aB3$xY7", "minLength: the password must have at least 8 characters,"
                     " and has 7." },
        { "aB3$xY7z", NULL },
        { "äöüßÄÖÜ", "minLength: the password must have at least 8 characters,"
                     " and has 7." },
        { "äöüßÄÖÜ?", NULL },
        { "日本語日本語日", "minLength: " },
        { "日本語日本語日本", NULL },
        { "😀😁😂😃😄😅😆", "minLength: " },
        { "😀😁😂😃😄😅😆😇", NULL },
        { "       ", "minLength: " },
        { "        ", NULL }
    };

    test_rows(&eight, rows, ngx_unit_len(rows));

    /* 256 code points, of 1 to 4 bytes, and one more */

    for (i = 1; i <= 4; i++) {
        static const char *const  c[] = { "", "a", "ä", "語", "😀" };
        size_t                    n;

        for (n = 0; n < 256; n++) {
            memcpy(text + n * i, c[i], i);
        }

        assert_int_equal(test_check(text, 256 * i, &none, NULL, 0, NULL,
                                    &reason), NGX_OK);

        if (257 * i > sizeof(text)) {
            break;
        }

        memcpy(text + 256 * i, c[i], i);
        assert_int_equal(test_check(text, 257 * i, &none, NULL, 0, NULL,
                                    &reason), NGX_DECLINED);
        assert_memory_equal(reason.data, "maxLength: the password must have at"
                            " most 256 characters.", reason.len);
    }
}


static void
test_required(void **state)
{
    static const ngx_svc_password_policy_t  lower = TEST_ONLY(require_lower);
    static const ngx_svc_password_policy_t  upper = TEST_ONLY(require_upper);
    static const ngx_svc_password_policy_t  digit = TEST_ONLY(require_digit);
    static const ngx_svc_password_policy_t  symbol = TEST_ONLY(require_symbol);

    static const test_row_t  lowers[] = {
        { "ABC1!", "requireLower: " }, { "ABc1!", NULL }, { "ABCß", NULL },
        { "ABCя", NULL }, { "日本語", "requireLower: " },
        { "ẞÄÖ", "requireLower: " }
    };
    static const test_row_t  uppers[] = {
        { "abc1!", "requireUpper: " }, { "abC1!", NULL },
        { "abcß", "requireUpper: " }, { "abcẞ", NULL }, { "abcÉ", NULL },
        { "abcЯ", NULL }, { "日本語", "requireUpper: " }
    };
    static const test_row_t  digits[] = {
        { "abcdEF!", "requireDigit: " }, { "abc0", NULL }, { "9", NULL },
        { "abc٣", "requireDigit: " }, { "abc²", "requireDigit: " }
    };
    static const test_row_t  symbols[] = {
        { "abcDEF1", "requireSymbol: " }, { "abc def", NULL },
        { "abc_", NULL }, { "abc€", NULL }, { "abc😀", NULL },
        { "é日本語", "requireSymbol: " },
        /* an "x" with a circumflex, and a letter with a vowel sign */
        { "x\xcc\x82", "requireSymbol: " },
        { "\xe0\xa4\x95\xe0\xa5\x8d", "requireSymbol: " },
        { "٣", "requireSymbol: " }
    };

    test_rows(&lower, lowers, ngx_unit_len(lowers));
    test_rows(&upper, uppers, ngx_unit_len(uppers));
    test_rows(&digit, digits, ngx_unit_len(digits));
    test_rows(&symbol, symbols, ngx_unit_len(symbols));
}


static void
test_contextual(void **state)
{
    static const ngx_svc_password_policy_t  on = TEST_ONLY(reject_contextual);

#define E  "rejectContextual: the password must not be made of your e-mail"
#define N  "rejectContextual: the password must not be made of your name:"
#define T  "rejectContextual: the password must not be made of the name of"
#define D  "rejectContextual: the password must not be made of a domain of"

    static const test_row_t  rows[] = {

        { "ada.lovelace@mail.example", E }, { "ADA.Lovelace@MAIL.example", E },
        { "my ada.lovelace@mail.example!", E }, { "adalovelace", E },
        { "L0v3l4c3-2026", E }, { "xx10v31@cexx", E }, { "1ove1ace", E },
        { "iove1ace", NULL }, { "lovelac", NULL }, { "love lace", NULL },
        { "mail.example is fine", NULL },

        { "kingdom come", N }, { "K1NG of the hill", N }, { "k!ng", NULL },

        { "Acme2026!Acme", T }, { "4cm3 rockets", T }, { "@CME@CME", T },
        { "unacmelike", T }, { "a.c.m.e", NULL }, { "SÖHNE 17 xyz", T },
        { "$öhn3", T }, { "sohne 17 xyz", NULL },

        { "buy Anvils now", D }, { "4nv1l5", D }, { "4nvi15", D },
        { "this is an example", NULL },

        /* "ada" has fewer than four letters: only the rest counts */

        { "ada", E }, { "Ada2026!", E }, { "!!4d4!!", E }, { "adaada17ada", E },
        { "adaxyz", E }, { "Ada xyz 12345678", E }, { "ada12345678ada", E },
        { "adawxyz", NULL }, { "wxyzada", NULL }, { "12ada x9yz 34", NULL },
        { "adax9yz", NULL }, { "12345678!", NULL }, { "ad", NULL },

        { "correct horse battery staple", NULL },
        { "vT9#kq2LwZ!mR7xp", NULL }, { "пароль для всех", NULL }
    };

    static const ngx_svc_password_word_t  others[] = {
        { NGX_SVC_PASSWORD_EMAIL, ngx_string("jo.do@x.yz") },
        { NGX_SVC_PASSWORD_EMAIL, ngx_string("@") },
        { NGX_SVC_PASSWORD_NAME, ngx_string("Łukasz Żółć") },
        { NGX_SVC_PASSWORD_NAME, ngx_string("李 小龍") },
        { NGX_SVC_PASSWORD_NAME, ngx_string("-- \xff bad \xff --") },
        { NGX_SVC_PASSWORD_TENANT, ngx_string("T3CH & 1337") },
        { NGX_SVC_PASSWORD_DOMAIN, ngx_string("x.verylongdomain.example") },
        { NGX_SVC_PASSWORD_DOMAIN, ngx_string("nodots") },
        { NGX_SVC_PASSWORD_DOMAIN, ngx_string(".") }
    };

    static const test_row_t  more[] = {
        { "jo.do@x.yz", E }, { "Jodo2026!!!!", E }, { "jo.do--17--2026", E },
        { "jo1234567do", E }, { "mojo and dojo", NULL },
        { "łukasz jest", N }, { "ŻÓŁĆ żółta", N }, { "lukasz jest", NULL },
        { "小龍123456", N }, { "李小龍", N }, { "小龍 という 名前", NULL },
        { "tech savvy", T }, { "t3chsavvy", T }, { "leet speak 17", T },
        { "LEET17", T }, { "verylongdomain", NULL }, { "xxxxxxxx", NULL },
        { "my NoDots pw", D }, { "bad bad bad", NULL }
    };

    ngx_uint_t  i;

    test_rows(&on, rows, ngx_unit_len(rows));

    for (i = 0; i < ngx_unit_len(more); i++) {
        test_words(&on, others, ngx_unit_len(others), &more[i]);
    }
}


static void
test_contextual_long(void **state)
{
    char                       text[2000];
    ngx_svc_password_reason_t  reason;
    ngx_svc_password_word_t    word = { NGX_SVC_PASSWORD_NAME, { 0, NULL } };

    static const ngx_svc_password_policy_t  on = TEST_ONLY(reject_contextual);

    memset(text, 'q', sizeof(text));
    memcpy(text, "zephyr ", 7);
    word.text.data = (u_char *) text;
    word.text.len = sizeof(text);

    assert_int_equal(test_check("a zephyr", 8, &on, &word, 1, NULL, &reason),
                     NGX_DECLINED);
    assert_int_equal(test_check("a zephir", 8, &on, &word, 1, NULL, &reason),
                     NGX_OK);

    memset(text, 'q', sizeof(text));
    assert_int_equal(test_check(text, 256, &on, &word, 1, NULL, &reason),
                     NGX_DECLINED);
}


static void
test_common(void **state)
{
    static const ngx_svc_password_policy_t  on = TEST_ONLY(reject_breached);

#define C  "rejectBreached: the password must not be a common one"

    static const test_row_t  rows[] = {

        { "P@ssw0rd1234", C }, { "password", C }, { "PASSWORD", C },
        { "Password2026!!!", C }, { "password-password", C },
        { "pa$$w0rd", C }, { "p455w0rd!", C }, { "12345password", C },
        { "Welcome#2026#", C }, { "welcome to", NULL },
        { "Company-Welcome-2026", C }, { "Summer2026!", C },
        { "Winter.2025", C }, { "letmein123456", C }, { "L3tm31n!!", C },
        { "ILoveYou3000", C }, { "adm!nadm!n", C }, { "trustno1trustno1", C },
        { "changeme99", C }, { "monkeydragon17", C }, { "hellooooo", C },
        { "motdepasse2026", C }, { "Contraseña1", C }, { "пароль123", C },
        { "ПАРОЛЬ!", C },

        { "qwertyuiop", C }, { "QWERTZuiop", C }, { "poiuytrewq", C },
        { "1qaz2wsx3edc", C }, { "zaq12wsx", C }, { "!QAZ2wsx", C },
        { "asdfghjkl;'", C }, { "qwe123asd456", C }, { "1q2w3e4r5t6y", C },
        { "azertyuiop", C }, { "abcdefghijkl", C }, { "abc123abc123", C },
        { "!@#$%^&*", C }, { "йцукен123", C }, { "123qweASDzxc", C },

        { "aaaaaaaaaaaa", C }, { "abababababab", C }, { "x7Kx7Kx7K", C },
        { "😀😀😀😀😀😀😀😀", C }, { "1111111111111111", C },
        { "qqqqqqqqwwwwwwww", C }, { "............", C },

        { "12345678", C }, { "84027719", C }, { "8402771953", C },
        { "84027719536", NULL }, { "987654321012", C }, { "0", C },

        /* eight pieces, and nine */

        { "password8402771", C }, { "password84027719", NULL },
        { "#pass#word#17#", C }, { "##pass#word#17#", NULL },
        { "8402!771", NULL }, { "#8402!1,771?", NULL },

        { "correct horse battery staple", NULL }, { "Tr0ub4dor&3", NULL },
        { "vT9#kq2LwZ!mR7xp", NULL }, { "passwordx", NULL },
        { "xpassword", NULL }, { "wordpress", NULL }, { "fjord mustard", NULL },
        { "8f14e45fceea167a5a36dedd4bea2543", NULL }, { "äöüäöü", C },
        { "pässwörd", NULL }, { "ß", NULL }, { "e\xcc\x81tude royale", NULL },
        { "🦊🐢🌋🎻🥨🚲🧭🪁", NULL }, { "zwölf Boxkämpfer jagen", NULL },
        { "a", NULL }, { "i!i!i", C }, { "my 1s and 0s", NULL }
    };

    test_rows(&on, rows, ngx_unit_len(rows));
}


/* Random passwords are not common ones. */

static void
test_random(void **state)
{
    char                       text[16];
    uint64_t                   seed;
    ngx_uint_t                 i, n;
    ngx_svc_password_reason_t  reason;

    static const ngx_svc_password_policy_t  on = TEST_ONLY(reject_breached);
    static const char  alphabet[] = "ABCDEFGHJKLMNPQRSTUVWXYZ"
                                    "abcdefghijkmnopqrstuvwxyz23456789-_.!";

    seed = 20261122;

    for (n = 0; n < 20000; n++) {
        for (i = 0; i < sizeof(text); i++) {
            text[i] = alphabet[ngx_unit_random(&seed) % (sizeof(alphabet) - 1)];
        }

        assert_int_equal(test_check(text, sizeof(text), &on, NULL, 0, NULL,
                                    &reason), NGX_OK);
    }
}


static void
test_file(void **state)
{
    u_char                     *file;
    const char                 *why;
    ngx_svc_breached_t          breached;
    ngx_svc_password_reason_t   reason;

    static const char  known[] = "correct horse battery staple";
    static const char  other[] = "Correct horse battery staple";

    static const ngx_svc_password_policy_t  off = TEST_NONE;
    static const ngx_svc_password_policy_t  on = TEST_ONLY(reject_breached);

    file = ngx_unit_breached_file(1);
    assert_non_null(file);
    ngx_unit_breached_entry(file, 0, 0xabf7aad6438836dbULL);
    assert_int_equal(ngx_svc_breached_init(&breached, file, 72, &why), NGX_OK);

    assert_int_equal(test_check(known, sizeof(known) - 1, &on, NULL, 0,
                                &breached, &reason), NGX_DECLINED);
    reason.data[reason.len] = '\0';
    assert_non_null(strstr((char *) reason.data, "rejectBreached: "));
    assert_non_null(strstr((char *) reason.data, "data breach"));

    assert_int_equal(test_check(other, sizeof(other) - 1, &on, NULL, 0,
                                &breached, &reason), NGX_OK);
    assert_int_equal(test_check(known, sizeof(known) - 1, &on, NULL, 0, NULL,
                                &reason), NGX_OK);
    assert_int_equal(test_check(known, sizeof(known) - 1, &off, NULL, 0,
                                &breached, &reason), NGX_OK);

    free(file);
}


/* Each password satisfies the rule that the one before it broke first. */

static void
test_order(void **state)
{
    static const ngx_svc_password_policy_t  all = {
        .min_length = 8, .reject_breached = 1, .reject_contextual = 1,
        .require_lower = 1, .require_upper = 1, .require_digit = 1,
        .require_symbol = 1
    };
    static const ngx_svc_password_policy_t  none = TEST_NONE;

    static const test_row_t  rows[] = {
        { "ACME", "minLength: " }, { "ÄCMEACME", "requireLower: " },
        { "ÄcmeACMé", "requireDigit: " }, { "äcmeacmé", "requireUpper: " },
        { "AcmeACM1", "requireSymbol: " }, { "Acme!123", "rejectContextual: " },
        { "Pass!123", "rejectBreached: " }, { "Pzss!123", NULL }
    };
    ngx_uint_t  i;

    test_rows(&all, rows, ngx_unit_len(rows));

    for (i = 0; i < ngx_unit_len(rows); i++) {
        test_row_t  taken = { rows[i].password, NULL };

        test_rows(&none, &taken, 1);
    }
}


static void
test_not_utf8(void **state)
{
    ngx_uint_t                 i;
    ngx_svc_password_reason_t  reason;

    static const ngx_svc_password_policy_t  none = TEST_NONE;
    static const char *const  bad[] = {
        "\xff", "abc\x80", "\xc3", "abc\xe6\x97", "\xf0\x9f\x98",
        "\xf5\x80\x80\x80"
    };

    for (i = 0; i < ngx_unit_len(bad); i++) {
        assert_int_equal(test_check(bad[i], strlen(bad[i]), &none, NULL, 0,
                                    NULL, &reason), NGX_ERROR);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_required),
        cmocka_unit_test(test_contextual),
        cmocka_unit_test(test_contextual_long),
        cmocka_unit_test(test_common),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_not_utf8)
    };

    ngx_env_init();

    if (ngx_svc_password_check_init() != NGX_OK) {
        return 1;
    }

    return cmocka_run_group_tests(tests, NULL, NULL);
}
