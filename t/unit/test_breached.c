/*
 * Files of breached passwords: which files are valid, and look-ups.
 */

#include "ngx_unit.h"
#include "ngx_unit_breached.h"


#define TEST_MANY  1000000


/* The file has memory of its own size, so that ASan sees reads beyond it. */

static ngx_svc_breached_t
test_open(const u_char *file, uint64_t n)
{
    const char          *why;
    ngx_svc_breached_t   breached;

    assert_non_null(file);
    assert_int_equal(ngx_svc_breached_init(&breached, file,
                                           NGX_SVC_BREACHED_HEADER
                                           + n * NGX_SVC_BREACHED_ENTRY, &why),
                     NGX_OK);
    assert_int_equal(breached.n, n);

    return breached;
}


/*
 * Tests that all n entries are found, and nothing between, before or after
 * them.
 */

static void
test_find(const uint64_t *entries, uint64_t n)
{
    u_char              *file;
    uint64_t             i;
    ngx_svc_breached_t   breached;

    file = ngx_unit_breached_file(n);

    for (i = 0; i < n; i++) {
        ngx_unit_breached_entry(file, i, entries[i]);
    }

    breached = test_open(file, n);

    for (i = 0; i < n; i++) {
        assert_true(ngx_svc_breached_find(&breached, entries[i]));

        if (entries[i] > 0 && (i == 0 || entries[i - 1] < entries[i] - 1)) {
            assert_false(ngx_svc_breached_find(&breached, entries[i] - 1));
        }

        if (entries[i] < UINT64_MAX
            && (i + 1 == n || entries[i + 1] > entries[i] + 1))
        {
            assert_false(ngx_svc_breached_find(&breached, entries[i] + 1));
        }
    }

    if (n == 0) {
        assert_false(ngx_svc_breached_find(&breached, 0));
        assert_false(ngx_svc_breached_find(&breached, UINT64_MAX));
    }

    free(file);
}


static void
test_few(void **state)
{
    uint64_t  ends[] = { 0, UINT64_MAX };
    uint64_t  both[] = { 0, 1, 2, UINT64_MAX - 1, UINT64_MAX };

    test_find(NULL, 0);
    test_find(&ends[0], 1);
    test_find(&ends[1], 1);
    test_find(ends, 2);
    test_find(both, 5);
    test_find(&both[1], 3);
}


static int
test_compare(const void *a, const void *b)
{
    uint64_t  x = *(const uint64_t *) a, y = *(const uint64_t *) b;

    return (x > y) - (x < y);
}


/* Sorts entries, and keeps each value once.  Returns how many there are. */

static uint64_t
test_sort(uint64_t *entries, uint64_t n)
{
    uint64_t  i, once;

    qsort(entries, n, sizeof(uint64_t), test_compare);

    for (i = 0, once = 0; i < n; i++) {
        if (once == 0 || entries[once - 1] != entries[i]) {
            entries[once++] = entries[i];
        }
    }

    return once;
}


/*
 * Uniform values, as of hashes, and values for which each guess is a bad one.
 */

static void
test_many(void **state)
{
    uint64_t     *entries, i, seed;
    ngx_uint_t    shape;

    seed = 0x9e3779b97f4a7c15ULL;
    entries = malloc(TEST_MANY * sizeof(uint64_t));
    assert_non_null(entries);

    for (shape = 0; shape < 4; shape++) {
        for (i = 0; i < TEST_MANY; i++) {
            switch (shape) {
            case 0:
                entries[i] = ngx_unit_random(&seed);
                break;
            case 1:
                entries[i] = i;
                break;
            case 2:
                entries[i] = UINT64_MAX - i * i;
                break;
            default:
                entries[i] = ngx_unit_random(&seed) >> (i % 64);
            }
        }

        test_find(entries, test_sort(entries, TEST_MANY));
    }

    free(entries);
}


/* A look-up ends even in a file that is not sorted. */

static void
test_disorder(void **state)
{
    u_char              *file;
    uint64_t             i, seed;
    ngx_svc_breached_t   breached;

    seed = 1;
    file = ngx_unit_breached_file(1000);

    for (i = 0; i < 1000; i++) {
        ngx_unit_breached_entry(file, i, ngx_unit_random(&seed));
    }

    breached = test_open(file, 1000);

    for (i = 0; i < 100000; i++) {
        (void) ngx_svc_breached_find(&breached, ngx_unit_random(&seed));
    }

    free(file);
}


/* Hashes of passwords, from sha1sum. */

static void
test_password(void **state)
{
    u_char              *file;
    ngx_svc_breached_t   breached;

    static const ngx_str_t  password = ngx_string("password");
    static const ngx_str_t  other = ngx_string("Password");
    static const ngx_str_t  block = ngx_string(
        "more than the 64 bytes that are a block of SHA-1, and some of another");

    file = ngx_unit_breached_file(2);
    ngx_unit_breached_entry(file, 0, 0x5baa61e4c9b93f3fULL);
    ngx_unit_breached_entry(file, 1, 0xce884fbf6edea156ULL);
    breached = test_open(file, 2);

    assert_true(ngx_svc_breached_password(&breached, &password));
    assert_false(ngx_svc_breached_password(&breached, &other));
    assert_true(ngx_svc_breached_password(&breached, &block));

    free(file);
}


static void
test_header(void **state)
{
    u_char              *file;
    size_t               size, i;
    const char          *why;
    ngx_svc_breached_t   breached;

    size = NGX_SVC_BREACHED_HEADER + 2 * NGX_SVC_BREACHED_ENTRY;

    /* each length except the right one, in memory that ends there */

    for (i = 0; i < size + 2 * NGX_SVC_BREACHED_ENTRY; i++) {
        file = ngx_unit_breached_file(2);
        file = realloc(file, i ? i : 1);
        why = NULL;

        if (i == size) {
            assert_int_equal(ngx_svc_breached_init(&breached, file, i, &why),
                             NGX_OK);
        } else {
            assert_int_equal(ngx_svc_breached_init(&breached, file, i, &why),
                             NGX_DECLINED);
            assert_non_null(strstr(why, i < NGX_SVC_BREACHED_HEADER
                                        ? "no file of breached passwords"
                                        : i < size ? "cut off" : "more in it"));
        }

        free(file);
    }

    /* each byte that says what the file is */

    for (i = 0; i < 24; i++) {
        file = ngx_unit_breached_file(2);
        file[i] ^= 0x80;
        assert_int_equal(ngx_svc_breached_init(&breached, file, size, &why),
                         NGX_DECLINED);
        assert_non_null(strstr(why, i < 8 ? "no file of breached passwords"
                                    : i < 16 ? "another version" : "cut off"));
        free(file);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_disorder),
        cmocka_unit_test(test_password),
        cmocka_unit_test(test_header)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
