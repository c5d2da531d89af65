/*
 * Fixed windows in shared memory: what is counted, and what is dropped when it
 * is full.
 */

#include "ngx_unit_limit.h"


#define SIZE    65536           /* what svc_rate_size takes at least */
#define WINDOW  300000

#define LOGIN   NGX_SVC_LIMIT_LOGIN
#define SIGNUP  NGX_SVC_LIMIT_SIGNUP


static int
setup(void **state)
{
    ngx_env_time(1000000);
    *state = ngx_unit_limit_memory(SIZE);

    return 0;
}


static int
teardown(void **state)
{
    ngx_slab_pool_t *pool = *state;

    assert_int_equal(pool->lock.lock, 0);
    free(pool);

    return 0;
}


static ngx_svc_limit_key_t
key(ngx_svc_limit_family_e family, ngx_uint_t n)
{
    u_char               mac[NGX_SVC_LIMIT_MAC_LEN];
    ngx_svc_limit_key_t  k;

    ngx_memzero(mac, sizeof(mac));
    ngx_memcpy(mac, &n, sizeof(n));
    ngx_svc_limit_key_mac(&k, family, mac);

    return k;
}


/* Returns the count after a hit; 0: there was no room. */

static ngx_uint_t
hit(ngx_slab_pool_t *pool, ngx_svc_limit_family_e family, ngx_uint_t n,
    ngx_uint_t max, ngx_msec_t window)
{
    ngx_int_t            rc;
    ngx_svc_limit_key_t  k;
    ngx_svc_limit_hit_t  h;

    k = key(family, n);
    rc = ngx_svc_limit_memory_hit(pool, &k, max, window, &h);

    assert_int_equal(rc, h.count ? NGX_OK : NGX_DECLINED);
    assert_true(h.left >= 1);

    return h.count;
}


static ngx_svc_limit_hit_t
hit_all(ngx_slab_pool_t *pool, ngx_uint_t n, ngx_uint_t max)
{
    ngx_svc_limit_key_t  k;
    ngx_svc_limit_hit_t  h;

    k = key(LOGIN, n);
    (void) ngx_svc_limit_memory_hit(pool, &k, max, WINDOW, &h);

    return h;
}


static void
give_back(ngx_slab_pool_t *pool, ngx_uint_t n, ngx_uint_t max, ngx_msec_t end)
{
    ngx_svc_limit_key_t  k;

    k = key(LOGIN, n);
    ngx_svc_limit_memory_give_back(pool, &k, max, end);
}


/*
 * Returns for how many keys there is room, each with a hit at a ms of its own.
 */

static ngx_uint_t
room(void)
{
    ngx_uint_t        n;
    ngx_slab_pool_t  *pool;

    pool = ngx_unit_limit_memory(SIZE);

    for (n = 0; hit(pool, LOGIN, n, 1, WINDOW); n++) { /* void */ }

    free(pool);

    return n;
}


static void
test_window(void **state)
{
    ngx_uint_t           i;
    ngx_slab_pool_t     *pool = *state;
    ngx_svc_limit_hit_t  h;

    for (i = 1; i <= 20; i++) {
        ngx_env_time(1000000 + (i - 1) * 10);
        h = hit_all(pool, 7, 10);

        assert_int_equal(h.count, i);
        assert_int_equal(h.end, 1000000 + WINDOW);
        assert_int_equal(h.left, WINDOW - (i - 1) * 10);
    }

    ngx_env_time(1000000 + WINDOW - 1);
    h = hit_all(pool, 7, 10);
    assert_int_equal(h.count, 21);
    assert_int_equal(h.left, 1);

    ngx_env_time(1000000 + WINDOW);
    h = hit_all(pool, 7, 10);
    assert_int_equal(h.count, 1);
    assert_int_equal(h.left, WINDOW);
}


static void
test_apart(void **state)
{
    ngx_slab_pool_t *pool = *state;

    assert_int_equal(hit(pool, LOGIN, 1, 2, WINDOW), 1);
    assert_int_equal(hit(pool, LOGIN, 2, 2, WINDOW), 1);
    assert_int_equal(hit(pool, SIGNUP, 1, 2, WINDOW), 1);
    assert_int_equal(hit(pool, LOGIN, 1, 2, WINDOW), 2);
    assert_int_equal(hit(pool, LOGIN, 1, 2, WINDOW), 3);
    assert_int_equal(hit(pool, SIGNUP, 1, 2, WINDOW), 2);
}


static void
test_give_back(void **state)
{
    ngx_msec_t        end, later;
    ngx_slab_pool_t  *pool = *state;

    give_back(pool, 1, 3, 1000000 + WINDOW);            /* an unknown key */

    end = hit_all(pool, 1, 3).end;
    assert_int_equal(hit_all(pool, 1, 3).count, 2);
    give_back(pool, 1, 3, end);
    assert_int_equal(hit_all(pool, 1, 3).count, 2);

    give_back(pool, 1, 3, end);
    give_back(pool, 1, 3, end);
    give_back(pool, 1, 3, end);                         /* not below 0 */
    assert_int_equal(hit_all(pool, 1, 3).count, 1);
    assert_int_equal(hit_all(pool, 1, 3).end, end);     /* the end stays */

    ngx_env_time(end);
    later = hit_all(pool, 1, 3).end;
    give_back(pool, 1, 3, end);                         /* another window */
    assert_int_equal(hit_all(pool, 1, 3).count, 2);
    give_back(pool, 1, 3, later);
    assert_int_equal(hit_all(pool, 1, 3).count, 2);
}


/* A thousand keys in less room: the latest ones are kept. */

static void
test_full(void **state)
{
    ngx_uint_t        i, n;
    ngx_slab_pool_t  *pool = *state;

    n = room();
    assert_true(n >= 300 && n < 1000);

    for (i = 0; i < 1000; i++) {
        ngx_env_time(1000000 + i);
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 1);
    }

    for (i = 1000 - n; i < 1000; i++) {
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 2);
    }

    assert_int_equal(hit(pool, LOGIN, 1000 - n - 1, 10, WINDOW), 1);
    assert_int_equal(hit(pool, LOGIN, 1000 - n, 10, WINDOW), 1);
}


/* A hit does not make a window younger. */

static void
test_oldest(void **state)
{
    ngx_uint_t        i, n;
    ngx_slab_pool_t  *pool = *state;

    n = room();

    for (i = 0; i < n; i++) {
        ngx_env_time(1000000 + i);
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 1);
    }

    assert_int_equal(hit(pool, LOGIN, 0, 10, WINDOW), 2);
    assert_int_equal(hit(pool, LOGIN, n, 10, WINDOW), 1);
    assert_int_equal(hit(pool, LOGIN, 1, 10, WINDOW), 2);
    assert_int_equal(hit(pool, LOGIN, 0, 10, WINDOW), 1);
}


/* The oldest window goes in families with different windows, too. */

static void
test_oldest_family(void **state)
{
    ngx_uint_t        i, n;
    ngx_slab_pool_t  *pool = *state;

    n = room();

    for (i = 0; i < n; i++) {
        ngx_env_time(1000000 + i);
        assert_int_equal(i % 2 ? hit(pool, LOGIN, i, 10, WINDOW)
                               : hit(pool, SIGNUP, i, 10, 12 * WINDOW), 1);
    }

    for (i = 0; i < 10; i++) {
        ngx_env_time(1000000 + n + i);
        assert_int_equal(hit(pool, SIGNUP, n + i, 10, 12 * WINDOW), 1);
    }

    for (i = 10; i < n; i++) {
        assert_int_equal(i % 2 ? hit(pool, LOGIN, i, 10, WINDOW)
                               : hit(pool, SIGNUP, i, 10, 12 * WINDOW), 2);
    }
}


/* A client that fills the memory does not get its attempts again. */

static void
test_spent_stay(void **state)
{
    ngx_uint_t        i;
    ngx_slab_pool_t  *pool = *state;

    for (i = 0; i < 100; i++) {
        assert_int_equal(hit(pool, LOGIN, i, 2, WINDOW), 1);
        assert_int_equal(hit(pool, LOGIN, i, 2, WINDOW), 2);
    }

    for (i = 100; i < 5000; i++) {
        ngx_env_time(1000000 + i);
        assert_int_equal(hit(pool, LOGIN, i, 2, WINDOW), 1);
    }

    for (i = 0; i < 100; i++) {
        assert_int_equal(hit(pool, LOGIN, i, 2, WINDOW), 3);
    }
}


/* A key that has got a hit back is treated like the others. */

static void
test_spent_no_more(void **state)
{
    ngx_uint_t        i, n;
    ngx_msec_t        end;
    ngx_slab_pool_t  *pool = *state;

    n = room();

    end = hit_all(pool, 0, 1).end;
    give_back(pool, 0, 1, end);

    for (i = 1; i <= n; i++) {
        ngx_env_time(1000000 + i);
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 1);
    }

    for (i = 1; i <= n; i++) {
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 2);
    }

    assert_int_equal(hit(pool, LOGIN, 0, 10, WINDOW), 1);
}


static void
test_all_spent(void **state)
{
    ngx_uint_t           i, n;
    ngx_slab_pool_t     *pool = *state;
    ngx_svc_limit_hit_t  h;

    n = room();

    for (i = 0; i < n; i++) {
        ngx_env_time(1000000 + i);
        assert_int_equal(hit(pool, LOGIN, i, 1, WINDOW), 1);
    }

    h = hit_all(pool, n, 1);
    assert_int_equal(h.count, 0);
    assert_int_equal(h.left, WINDOW - (n - 1));

    for (i = 0; i < n; i++) {
        assert_int_equal(hit(pool, LOGIN, i, 1, WINDOW), 2);
    }

    ngx_env_time(1000000 + WINDOW);                     /* the first one ends */
    assert_int_equal(hit(pool, LOGIN, n, 1, WINDOW), 1);
    assert_int_equal(hit(pool, LOGIN, n + 1, 1, WINDOW), 0);
    assert_int_equal(hit(pool, LOGIN, 1, 1, WINDOW), 3);
}


/* Windows that have ended are dropped before all others, spent or not. */

static void
test_ended_first(void **state)
{
    ngx_uint_t        i, n, half;
    ngx_slab_pool_t  *pool = *state;

    n = room();
    half = n / 2;

    for (i = 0; i < half; i++) {
        assert_int_equal(hit(pool, LOGIN, i, 10, 10 * WINDOW), 1);
    }

    for ( /* void */ ; i < n; i++) {
        assert_int_equal(hit(pool, LOGIN, i, i % 2 + 1, WINDOW), 1);
    }

    ngx_env_time(1000000 + WINDOW);

    for ( /* void */ ; i < n + n - half; i++) {
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 1);
    }

    for (i = 0; i < half; i++) {
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 2);
    }
}


/* The clock of another worker is a little ahead. */

static void
test_clocks(void **state)
{
    ngx_uint_t        i, n;
    ngx_slab_pool_t  *pool = *state;

    n = room();

    for (i = 0; i < n; i++) {
        ngx_env_time(1000000 + i % 2 * 5);
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 1);
    }

    ngx_env_time(1000000);

    for ( /* void */ ; i < n + n / 2; i++) {
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 1);
    }

    for (i = 1; i < n; i += 2) {
        assert_int_equal(hit(pool, LOGIN, i, 10, WINDOW), 2);
    }
}


static void
test_lock(void **state)
{
    ngx_slab_pool_t      *pool = *state;
    ngx_svc_limit_key_t   k;

    k = key(NGX_SVC_LIMIT_LOCK, 1);

    assert_int_equal(ngx_svc_limit_memory_left(pool, &k), 0);
    ngx_svc_limit_memory_remove(pool, &k);

    ngx_svc_limit_memory_put(pool, &k, 900000);
    assert_int_equal(ngx_svc_limit_memory_left(pool, &k), 900000);
    assert_int_equal(hit(pool, LOGIN, 1, 10, WINDOW), 1);

    ngx_env_time(1000500);
    assert_int_equal(ngx_svc_limit_memory_left(pool, &k), 899500);
    ngx_svc_limit_memory_put(pool, &k, 1000);
    assert_int_equal(ngx_svc_limit_memory_left(pool, &k), 1000);

    ngx_env_time(1001500);
    assert_int_equal(ngx_svc_limit_memory_left(pool, &k), 0);

    ngx_svc_limit_memory_put(pool, &k, 1000);
    ngx_svc_limit_memory_remove(pool, &k);
    assert_int_equal(ngx_svc_limit_memory_left(pool, &k), 0);
    assert_int_equal(hit(pool, LOGIN, 1, 10, WINDOW), 2);
}


/* Compares with a table without a bound; and no memory is lost. */

static void
test_random(void **state)
{
    uint64_t          seed, r;
    ngx_uint_t        i, n;
    ngx_msec_t        now;
    ngx_slab_pool_t  *pool = *state;
    ngx_svc_limit_key_t  k;

    static struct {
        ngx_uint_t  count;
        ngx_msec_t  end;
    } model[200], *m;

    seed = 88172645463325252;
    now = 1000000;

    for (i = 0; i < 200000; i++) {
        r = ngx_unit_random(&seed);
        now += r % 16;
        ngx_env_time(now);

        n = (r >> 8) % ngx_unit_len(model);
        m = &model[n];

        if (m->end <= now) {
            m->count = 0;
            m->end = 0;
        }

        switch ((r >> 20) % 8) {

        case 0:
            k = key(LOGIN, n);
            ngx_svc_limit_memory_remove(pool, &k);
            m->count = 0;
            m->end = 0;
            break;

        case 1:
        case 2:
            give_back(pool, n, 5, m->end);
            m->count -= (m->count > 0);
            break;

        default:
            m->end = m->end ? m->end : now + 5000;
            assert_int_equal(hit(pool, LOGIN, n, 5, 5000), ++m->count);
        }
    }

    ngx_env_time(now + 5000);

    for (n = 0; hit(pool, SIGNUP, n, 1, WINDOW); n++) { /* void */ }

    assert_int_equal(n, room());
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test_setup_teardown(test_window, setup, teardown),
        cmocka_unit_test_setup_teardown(test_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_give_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full, setup, teardown),
        cmocka_unit_test_setup_teardown(test_oldest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_oldest_family, setup, teardown),
        cmocka_unit_test_setup_teardown(test_spent_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_spent_no_more, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_spent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ended_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clocks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random, setup, teardown)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
