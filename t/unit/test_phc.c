/*
 * Stored passwords.  The vectors were made by Python: argon2-cffi, crypt, and
 * hashlib; one of PBKDF2 is from passlib's documentation.
 */

#include "ngx_unit_phc.h"
#include "ngx_svc_argon2.h"

#include <sys/resource.h>


#define SALT_64                                                               \
    "c3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3" \
    "Nzc3Nzc3Nzc3Nzcw"
#define GOOD_PBKDF2                                                           \
    "$pbkdf2-sha256$6400$.6UI/S.nXIk8jcbdHx3Fhg"                              \
    "$98jZicV16ODfEsEZeYPGHU3kbrUrvUEXOPimVSQDD44"


static ngx_int_t verify(const char *text, const char *password);
static rlim_t address_space(void);


static const struct {
    const char            *text;
    const char            *password;
    ngx_svc_phc_scheme_e   scheme;
} vectors[] = {
    { GOOD_ARGON2, HORSE, NGX_SVC_PHC_S_ARGON2ID },
    { "$argon2id$v=19$m=128,t=3,p=4$MDEyMzQ1Njc4OWFiY2RlZg$q9c189TM3s+aoug83b"
      "HtnYd9HPzShi4ZPxxAFK+EVoyaYGMqAo96PAo1kLB348sYSwY83vocEpdMRkqFyQjPTw",
      HORSE, NGX_SVC_PHC_S_ARGON2ID },
    { "$argon2i$v=19$m=256,t=1,p=2$c2FsdHNhbHQ$1QiU+wdtFWgdsEMXFrBvYA",
      "p\xC3\xA4ssw\xC3\xB6rd", NGX_SVC_PHC_S_ARGON2I },
    { "$argon2id$v=19$m=64,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$4aHoBpfpRSYZi1zLSqUW"
      "pXu0P9bi+hd8MPm/ep0d1e0", "", NGX_SVC_PHC_S_ARGON2ID },
    { "$argon2id$v=19$m=64,t=16,p=1$" SALT_64 "$ktq93NRRdK/VQsBRinq8LfVFLrk/"
      "VrxQQQF2Q5fXo7Q", HORSE, NGX_SVC_PHC_S_ARGON2ID },
    { "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gy5SuVm5Z7Vw7keB9"
      "se9p87QGcomaseB/S2U1OhTsM0", HORSE, NGX_SVC_PHC_S_ARGON2ID },
    { GOOD_BCRYPT, HORSE, NGX_SVC_PHC_S_BCRYPT },
    { "$2a$05$ABCDEFGHIJKLMNOPQRSTUuKGxkAaoBVtx5pBUbkcmXJ9X86rN9gCi", HORSE,
      NGX_SVC_PHC_S_BCRYPT },
    { "$2y$04$./0123456789abcdefghiu.4NE5n.1ng6SWDVF5qqSyTTlEMr5G4m", HORSE,
      NGX_SVC_PHC_S_BCRYPT },
    { "$2b$04$abcdefghijklmnopqrstuubyCG3zY1GIXMyxfivm.ClDiInHzxjiq", "",
      NGX_SVC_PHC_S_BCRYPT },
    { GOOD_PBKDF2, "password", NGX_SVC_PHC_S_PBKDF2_SHA256 },
    { "$pbkdf2-sha256$29000$8PHy8/T19vf4.fr7/P3./w$TIQYWp/SSsGPoi.1mD0fYa.nVEg"
      "UooOxmJUVsSgmQa8", HORSE, NGX_SVC_PHC_S_PBKDF2_SHA256 },
    { "$pbkdf2-sha512$25000$8PHy8/T19vf4.fr7/P3./w$Yw/OrJ.zHeUkPrszOid6FVIb4k7"
      "P0HWQz57z3ySiheCl2GQcaghxIgo2ze5Y4cYPJ1cO34p6uEL2a2jvxXSB9A", HORSE,
      NGX_SVC_PHC_S_PBKDF2_SHA512 },
    { "$pbkdf2-sha256$1$c2FsdHNhbHQ$YZE.2cnLB0U3LTJzrFgfGrPp/wPSZu.K8KcWgQ1vIC"
      "k", "", NGX_SVC_PHC_S_PBKDF2_SHA256 },
    { "$pbkdf2-sha512$3$................................$PXplB9/NNogooO0TgOHhG"
      "rv9af7SsxnnKR7GPBTA/mrXzLxe5V7jVRGm5b8zHQ/vD2lU3bQ.ez1fNO8Z6axhTg",
      "p\xC3\xA4ssw\xC3\xB6rd", NGX_SVC_PHC_S_PBKDF2_SHA512 },
};


static void
test_vectors(void **state)
{
    ngx_uint_t     i;
    ngx_svc_phc_t  phc;

    for (i = 0; i < ngx_unit_len(vectors); i++) {
        assert_int_equal(ngx_svc_phc_parse(TEXT(vectors[i].text), NULL, &phc),
                         NGX_OK);
        assert_int_equal(phc.scheme, vectors[i].scheme);
        assert_int_equal(verify(vectors[i].text, vectors[i].password), NGX_OK);
    }
}


static void
test_wrong(void **state)
{
    ngx_uint_t   i;

    for (i = 0; i < ngx_unit_len(vectors); i++) {
        assert_int_equal(verify(vectors[i].text, "wrong"), NGX_DECLINED);
        assert_int_equal(verify(vectors[i].text, "Correct horse battery "
                                                 "staple"), NGX_DECLINED);

        if (*vectors[i].password) {
            assert_int_equal(verify(vectors[i].text, ""), NGX_DECLINED);
        }
    }
}


/* Each character of the hash and of the salt counts. */

static void
test_tampered(void **state)
{
    char         text[NGX_SVC_PHC_LEN];
    size_t       j, len;
    ngx_int_t    rc;
    ngx_uint_t   i;

    static const struct {
        const char  *text;
        const char  *password;
        size_t       from;
    } rows[] = {
        { GOOD_ARGON2, HORSE, sizeof("$argon2id$v=19$m=64,t=2,p=1") },
        { GOOD_BCRYPT, HORSE, sizeof("$2b$04") },
        { "$pbkdf2-sha256$1$c2FsdHNhbHQ$YZE.2cnLB0U3LTJzrFgfGrPp/wPSZu.K8KcWgQ"
          "1vICk", "", sizeof("$pbkdf2-sha256$1") },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        len = strlen(rows[i].text);

        for (j = rows[i].from; j < len; j++) {
            memcpy(text, rows[i].text, len + 1);
            text[j] = text[j] == 'A' ? 'B' : 'A';

            rc = verify(text, rows[i].password);

            if (rc != NGX_DECLINED && rc != NGX_ABORT) {
                fail_msg("%s: %d", text, (int) rc);
            }
        }
    }
}


static void
test_refused(void **state)
{
    ngx_uint_t     i;
    ngx_svc_phc_t  phc;

    static const char  *rows[] = {
        "", "$", "$$", "x", "password", "argon2id$v=19$m=64,t=2,p=1",

        /* schemes */
        "$argon2d$v=19$m=64,t=2,p=1$" SALT_16 "$" TAG_32,
        "$Argon2id$v=19$m=64,t=2,p=1$" SALT_16 "$" TAG_32,
        "$2$04$" BCRYPT, "$2x$04$" BCRYPT, "$2c$04$" BCRYPT,
        "$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/",
        "$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/jctKu9YterLp8w"
        "wnSq.qc.eoxqOmSuNp2xS0ktL3nh/",
        "$pbkdf2$1$c2FsdHNhbHQ$YZE",
        "$pbkdf2-sha1$1$c2FsdHNhbHQ$YZE",

        /* versions */
        "$argon2id$m=64,t=2,p=1$" SALT_16 "$" TAG_32,
        "$argon2id$v=16$m=64,t=2,p=1$" SALT_16 "$" TAG_32,
        "$argon2id$v=190$m=64,t=2,p=1$" SALT_16 "$" TAG_32,

        /* beyond the limits */
        ARGON2ID("m=4194304,t=2,p=1"), ARGON2ID("m=262145,t=2,p=1"),
        ARGON2ID("m=4294967360,t=2,p=1"),
        ARGON2ID("m=18446744073709551680,t=2,p=1"),
        ARGON2ID("m=7,t=2,p=1"), ARGON2ID("m=15,t=2,p=2"),
        ARGON2ID("m=64,t=17,p=1"), ARGON2ID("m=64,t=0,p=1"),
        ARGON2ID("m=64,t=2,p=5"), ARGON2ID("m=64,t=2,p=0"),
        "$2b$03$" BCRYPT, "$2b$15$" BCRYPT, "$2b$31$" BCRYPT,
        "$2b$99$" BCRYPT,
        "$pbkdf2-sha256$2000001$c2FsdHNhbHQ$YZE.2cnLB0U3LTJzrFgfGrPp/wPSZu.K8K"
        "cWgQ1vICk",
        "$pbkdf2-sha256$0$c2FsdHNhbHQ$YZE.2cnLB0U3LTJzrFgfGrPp/wPSZu.K8KcWgQ1v"
        "ICk",

        /* numbers */
        ARGON2ID("m=064,t=2,p=1"), ARGON2ID("m=+64,t=2,p=1"),
        ARGON2ID("m=-64,t=2,p=1"), ARGON2ID("m= 64,t=2,p=1"),
        ARGON2ID("m=,t=2,p=1"), ARGON2ID("m=64k,t=2,p=1"),
        ARGON2ID("t=2,m=64,p=1"), ARGON2ID("m=64,t=2"),
        ARGON2ID("m=64,t=2,p=1,keyid=AAAA"),
        ARGON2ID("m=64,t=2,p=1,data=AAAA"),
        "$2b$4$" BCRYPT "a", "$2b$0a$" BCRYPT, "$2b$ 4$" BCRYPT,
        "$pbkdf2-sha256$0x1$c2FsdHNhbHQ$YZE.2cnLB0U3LTJzrFgfGrPp/wPSZu.K8KcWgQ"
        "1vICk",

        /* salts and tags */
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_16,
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_16 "$",
        "$argon2id$v=19$m=64,t=2,p=1$$" TAG_32,
        "$argon2id$v=19$m=64,t=2,p=1$c2FsdHNhbA$" TAG_32,
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_16 "$AAAA",
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_16 "==$" TAG_32,
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_16 "$" TAG_32 "=",
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_16 "$" TAG_32 "$",
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_16 "$" TAG_32 "\n",
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_16 "$" TAG_32 "AA",
        "$argon2id$v=19$m=64,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZh$" TAG_32,
        "$argon2id$v=19$m=64,t=2,p=1$MDEyMzQ1Njc4OWFiY2Rl.g$" TAG_32,
        "$argon2id$v=19$m=64,t=2,p=1$MDEyMzQ1Njc4OWFiY2Rl_g$" TAG_32,
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_64 SALT_64 "$" TAG_32,
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_16 "$" TAG_32 TAG_32 TAG_32,
        "$argon2id$v=19$m=64,t=2,p=1$" SALT_64 SALT_64 SALT_64 "$" TAG_32,
        "$2b$04$", "$2b$04$" BCRYPT "a", "$2b$04", "$2b$04$abc",
        "$2b$04$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6C+",
        "$2b$04$abcdefghijklmnopqrst:u7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG",
        "$2b$04abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CGaa",
        "$pbkdf2-sha256$1$c2FsdHNhbHQ",
        "$pbkdf2-sha256$1$c2FsdHNhbHQ$YZE+2cnLB0U3LTJzrFgfGrPp/wPSZu+K8KcWgQ1v"
        "ICk",
        "$pbkdf2-sha512$1$c2FsdHNhbHQ$YZE.2cnLB0U3LTJzrFgfGrPp/wPSZu.K8KcWgQ1v"
        "ICk",
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        if (ngx_svc_phc_parse(TEXT(rows[i]), NULL, &phc) != NGX_DECLINED
            || ngx_svc_phc_parse(TEXT(rows[i]), &cheap, &phc) != NGX_DECLINED)
        {
            fail_msg("taken: %s", rows[i]);
        }
    }

    /* a NUL within */

    assert_int_equal(ngx_svc_phc_parse((u_char *) GOOD_ARGON2,
                                       sizeof(GOOD_ARGON2), NULL, &phc),
                     NGX_DECLINED);
}


/*
 * A good string that is cut is refused, unless it is one of Argon2's with a tag
 * that is still long enough; a string that is too long is refused, too.
 */

static void
test_cut(void **state)
{
    char           text[NGX_SVC_PHC_LEN + 1];
    size_t         len;
    ngx_uint_t     i;
    ngx_svc_phc_t  phc;

    for (i = 0; i < ngx_unit_len(vectors); i++) {
        for (len = 0; len < strlen(vectors[i].text); len++) {

            if (ngx_svc_phc_parse((u_char *) vectors[i].text, len, NULL, &phc)
                == NGX_OK
                && (phc.scheme > NGX_SVC_PHC_S_ARGON2I
                    || phc.tag_len < NGX_SVC_PHC_TAG_MIN))
            {
                fail_msg("%.*s", (int) len, vectors[i].text);
            }
        }
    }

    memset(text, 'A', sizeof(text));
    memcpy(text, GOOD_ARGON2, sizeof(GOOD_ARGON2) - 1);

    assert_int_equal(ngx_svc_phc_parse((u_char *) text, sizeof(text), NULL,
                                       &phc), NGX_DECLINED);
}


static void
test_limits(void **state)
{
    ngx_uint_t          i;
    ngx_svc_phc_t       phc;
    ngx_svc_phc_cost_t  cost;

    static const char  *rows[] = {
        ARGON2ID("m=262144,t=16,p=4"),
        ARGON2ID("m=8,t=1,p=1"),
        "$2b$14$" BCRYPT,
        "$2b$04$" BCRYPT,
        "$pbkdf2-sha256$2000000$c2FsdHNhbHQ$YZE.2cnLB0U3LTJzrFgfGrPp/wPSZu.K8K"
        "cWgQ1vICk",
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        if (ngx_svc_phc_parse(TEXT(rows[i]), &cheap, &phc) != NGX_OK) {
            fail_msg("refused: %s", rows[i]);
        }
    }

    /* a hash made with the configured memory can be verified */

    cost.memory = 1024 * 1024;
    cost.iterations = 2;

    assert_int_equal(ngx_svc_phc_parse(TEXT(ARGON2ID("m=1048576,t=2,p=1")),
                                       &cost, &phc), NGX_OK);
    assert_int_equal(ngx_svc_phc_parse(TEXT(ARGON2ID("m=1048577,t=2,p=1")),
                                       &cost, &phc), NGX_DECLINED);
}


/* bcrypt reads 72 bytes; these passwords have 100 and 1,024. */

static void
test_bcrypt_long(void **state)
{
    char           password[1024];
    ngx_uint_t     i;
    ngx_svc_phc_t  phc;

    for (i = 0; i < 100; i += 2) {
        memcpy(password + i, "\xC3\xA9", 2);
    }

    assert_int_equal(ngx_svc_phc_parse(TEXT("$2b$04$abcdefghijklmnopqrstuuKiIl"
                                            "CeXB6chNXkLyAo8C7XcLPzh6zUe"),
                                       NULL, &phc), NGX_OK);

    assert_int_equal(ngx_svc_phc_verify(&phc, (u_char *) password, 100),
                     NGX_OK);
    assert_int_equal(ngx_svc_phc_verify(&phc, (u_char *) password, 72),
                     NGX_OK);
    assert_int_equal(ngx_svc_phc_verify(&phc, (u_char *) password, 70),
                     NGX_DECLINED);

    memset(password, 'x', sizeof(password));

    assert_int_equal(ngx_svc_phc_parse(TEXT("$2b$04$abcdefghijklmnopqrstuubzad"
                                            "hGtS2zEF.gu0yd0opP6cVzb.e0i"),
                                       NULL, &phc), NGX_OK);

    assert_int_equal(ngx_svc_phc_verify(&phc, (u_char *) password,
                                        sizeof(password)), NGX_OK);

    /* a password with a NUL after them is another one */

    password[72] = '\0';
    assert_int_equal(ngx_svc_phc_verify(&phc, (u_char *) password, 73),
                     NGX_DECLINED);
}


static void
test_make(void **state)
{
    size_t               len, other_len;
    u_char               out[NGX_SVC_PHC_LEN], other[NGX_SVC_PHC_LEN];
    ngx_svc_phc_t        phc;
    ngx_svc_phc_cost_t   cost;

    assert_int_equal(ngx_svc_phc_make(&cheap, TEXT(HORSE), out, &len), NGX_OK);
    assert_int_equal(ngx_svc_phc_make(&cheap, TEXT(HORSE), other, &other_len),
                     NGX_OK);

    assert_int_equal(len, strlen(GOOD_ARGON2));
    assert_int_equal(other_len, len);
    assert_memory_equal(out, "$argon2id$v=19$m=64,t=2,p=1$", 28);
    assert_memory_not_equal(out + 28, other + 28, 22);
    assert_memory_not_equal(out + 51, other + 51, 43);

    assert_int_equal(ngx_svc_phc_parse(out, len, NULL, &phc), NGX_OK);
    assert_int_equal(phc.salt_len, 16);
    assert_int_equal(phc.tag_len, 32);
    assert_int_equal(ngx_svc_phc_verify(&phc, TEXT(HORSE)), NGX_OK);
    assert_int_equal(ngx_svc_phc_verify(&phc, TEXT("horse")), NGX_DECLINED);
    assert_false(ngx_svc_phc_outdated(&phc, &cheap));

    cost = cheap;
    cost.memory++;
    assert_true(ngx_svc_phc_outdated(&phc, &cost));

    cost = cheap;
    cost.iterations++;
    assert_true(ngx_svc_phc_outdated(&phc, &cost));

    /* Argon2 needs 8 KiB at least */

    cost.memory = 7;
    assert_int_equal(ngx_svc_phc_make(&cost, TEXT(HORSE), out, &len),
                     NGX_ERROR);
    assert_int_equal(ngx_svc_phc_dummy(&cost, TEXT(HORSE)), NGX_ERROR);
    assert_int_equal(ngx_svc_phc_dummy(&cheap, TEXT(HORSE)), NGX_DECLINED);
}


static void
test_outdated(void **state)
{
    ngx_uint_t          i;
    ngx_svc_phc_t       phc;
    ngx_svc_phc_cost_t  cost;

    for (i = 0; i < ngx_unit_len(vectors); i++) {
        assert_int_equal(ngx_svc_phc_parse(TEXT(vectors[i].text), NULL, &phc),
                         NGX_OK);

        cost.memory = phc.memory;
        cost.iterations = phc.iterations;

        /* argon2id with one lane, and with the lengths that we use */

        assert_int_equal(!ngx_svc_phc_outdated(&phc, &cost),
                         phc.scheme == NGX_SVC_PHC_S_ARGON2ID
                         && phc.lanes == 1 && phc.salt_len == 16);
    }
}


/* When 256 MiB cannot be allocated that is an error, and not a verdict. */

static void
test_no_memory(void **state)
{
    struct rlimit  old, limit;

    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);

    limit = old;
    limit.rlim_cur = address_space() + 64 * 1024 * 1024;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);

    assert_int_equal(verify(ARGON2ID("m=262144,t=1,p=1"), HORSE), NGX_ERROR);

    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
}


/*
 * A hash's memory is kept for the next hash; one of another size gets its own.
 */

static void
test_kept(void **state)
{
    rlim_t  before, kept;

    assert_int_equal(verify(vectors[5].text, HORSE), NGX_OK);

    ngx_svc_argon2_keep(1);
    before = address_space();

    assert_int_equal(verify(vectors[5].text, HORSE), NGX_OK);

    kept = address_space();
    assert_true(kept >= before + 19456 * 1024);

    assert_int_equal(verify(vectors[5].text, "another"), NGX_DECLINED);
    assert_int_equal(verify(vectors[5].text, HORSE), NGX_OK);
    assert_true(address_space() < kept + 1024 * 1024);

    assert_int_equal(verify(vectors[1].text, HORSE), NGX_OK);
    assert_true(address_space() < before + 1024 * 1024);

    assert_int_equal(verify(vectors[5].text, HORSE), NGX_OK);

    ngx_svc_argon2_keep(0);
    ngx_svc_argon2_drop();

    assert_int_equal(verify(vectors[5].text, HORSE), NGX_OK);
    assert_true(address_space() < before + 1024 * 1024);
}


/* Returns NGX_ABORT for an invalid string. */

static ngx_int_t
verify(const char *text, const char *password)
{
    ngx_svc_phc_t  phc;

    if (ngx_svc_phc_parse(TEXT(text), NULL, &phc) != NGX_OK) {
        return NGX_ABORT;
    }

    return ngx_svc_phc_verify(&phc, TEXT(password));
}


/* Bytes: with AddressSanitizer these are terabytes. */

static rlim_t
address_space(void)
{
    FILE           *file;
    unsigned long   pages;

    file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);

    return (rlim_t) pages * ngx_pagesize;
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_tampered),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_bcrypt_long),
        cmocka_unit_test(test_make),
        cmocka_unit_test(test_outdated),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_kept),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("phc", tests, NULL, NULL);
}
