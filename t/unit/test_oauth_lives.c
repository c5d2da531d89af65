/*
 * Tests whether a token is active, by the rows that were read about it.
 */

#include "ngx_unit.h"
#include "ngx_svc_oauth_lives.h"


/*
 * A user's token of "web" that "agent" has exchanged, and the client that asks.
 */

typedef struct {
    ngx_svc_oauth_lives_t         lives;
    ngx_svc_oauth_lives_client_t  clients[3];
} test_lives_t;

static ngx_str_t  test_ids[] = { ngx_string("agent"), ngx_string("web") };
static ngx_str_t  test_scopes[] = {
    ngx_string("offline_access"), ngx_string("read"), ngx_string("write")
};
static ngx_str_t  test_key[] = { ngx_string("urn:api") };

static const ngx_svc_pg_array_t  test_none = { NULL, 0 };
static const ngx_svc_pg_array_t  test_read = { &test_scopes[1], 1 };


static void
test_start(test_lives_t *t)
{
    ngx_uint_t  i;

    ngx_memzero(t, sizeof(test_lives_t));

    for (i = 0; i < 3; i++) {
        t->clients[i].enabled = 1;
        t->clients[i].ttl = 3600;
        t->clients[i].max_ttl = NGX_ERROR;
        t->clients[i].scopes.elts = &test_scopes[1];
        t->clients[i].scopes.n = 2;
    }

    ngx_str_set(&t->clients[0].client_id, "asks");
    t->clients[1].client_id = test_ids[0];
    t->clients[2].client_id = test_ids[1];

    t->lives.clients = t->clients;
    t->lives.nclients = 3;
    t->lives.found = 1;
    t->lives.grant_good = 1;
    t->lives.user_active = 1;
    ngx_str_set(&t->lives.user_id, "u");
    ngx_str_set(&t->lives.issuer, "https://x/oauth/t/acme");
    t->lives.client_id = test_ids[0];
    t->lives.chain.elts = test_ids;
    t->lives.chain.n = 1;
    t->lives.principals.elts = test_ids;
    t->lives.principals.n = 2;
    t->lives.scopes.elts = test_scopes;
    t->lives.scopes.n = 3;
    t->lives.ttl = 900;
    t->lives.ms = 1000000;
    t->lives.now = 1000000;
}


static ngx_int_t
test_judge(void **state, test_lives_t *t, const char *scopes)
{
    ngx_int_t                    rc;
    ngx_str_t                    text;
    ngx_svc_oauth_lives_today_t  today;

    rc = ngx_svc_oauth_lives(*state, &t->lives, &today);

    if (scopes) {
        assert_int_equal(rc, NGX_OK);
        assert_int_equal(ngx_svc_pg_array_join(*state, &today.scopes, &text),
                         NGX_OK);
        assert_int_equal(text.len, ngx_strlen(scopes));
        assert_memory_equal(text.data, scopes, text.len);
    }

    return rc;
}


static void
test_token(void **state)
{
    test_lives_t  t;

    test_start(&t);
    (void) test_judge(state, &t, "offline_access read write");

    t.lives.found = 0;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);

    test_start(&t);
    t.lives.revoked = 1;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);

    test_start(&t);
    t.lives.keyless = 1;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);

    test_start(&t);
    t.lives.grant_good = 0;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);

    test_start(&t);
    t.lives.user_active = 0;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);

    ngx_str_null(&t.lives.user_id);
    (void) test_judge(state, &t, "offline_access read write");

    test_start(&t);
    t.lives.user_stale = 1;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);

    test_start(&t);
    t.lives.principals = test_none;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);
}


/*
 * Each of the clients that the token depends on counts; the asking one does
 * not.
 */

static void
test_clients(void **state)
{
    ngx_int_t     dead;
    ngx_uint_t    i;
    test_lives_t  t;

    for (i = 0; i < 3; i++) {
        dead = i ? NGX_DECLINED : NGX_OK;

        test_start(&t);
        t.clients[i].enabled = 0;
        assert_int_equal(test_judge(state, &t, NULL), dead);

        test_start(&t);
        t.clients[i].expired = 1;
        assert_int_equal(test_judge(state, &t, NULL), dead);

        test_start(&t);
        t.clients[i].orphaned = 1;
        assert_int_equal(test_judge(state, &t, NULL), dead);

        test_start(&t);
        t.clients[i].stale = 1;
        assert_int_equal(test_judge(state, &t, NULL), dead);

        test_start(&t);
        t.clients[i].refused = 1;
        assert_int_equal(test_judge(state, &t, NULL), dead);

        test_start(&t);
        t.clients[i].suspended = 1;
        assert_int_equal(test_judge(state, &t, NULL), dead);

        test_start(&t);
        ngx_str_set(&t.clients[i].client_id, "gone");
        assert_int_equal(test_judge(state, &t, NULL), dead);

        test_start(&t);
        t.clients[i].unread = 1;
        assert_int_equal(test_judge(state, &t, NULL), i ? NGX_AGAIN : NGX_OK);

        t.lives.revoked = 1;
        assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);
    }
}


/* A ceiling limits the acting clients; a client's own scopes limit all. */

static void
test_ceilings(void **state)
{
    test_lives_t  t;

    test_start(&t);
    t.clients[2].scope_ceiling = 1;
    t.clients[2].audience_ceiling = 1;
    (void) test_judge(state, &t, "offline_access read write");

    t.clients[2].scopes = test_read;
    (void) test_judge(state, &t, "offline_access read");

    t.clients[2].scopes = test_none;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);

    t.lives.scopes.n = 1;
    (void) test_judge(state, &t, "offline_access");

    t.lives.scopes.n = 0;
    (void) test_judge(state, &t, "");

    test_start(&t);
    t.clients[1].scope_ceiling = 1;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);

    t.clients[1].allowed_scopes = test_read;
    (void) test_judge(state, &t, "offline_access read");

    test_start(&t);
    t.clients[1].audience_ceiling = 1;
    t.clients[1].allowed_keys.elts = test_key;
    t.clients[1].allowed_keys.n = 1;
    assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);

    t.lives.audience_key = test_key[0];
    (void) test_judge(state, &t, "offline_access read write");

    ngx_str_null(&t.lives.audience_key);
    t.clients[1].allowed_keys.elts = &t.lives.issuer;
    (void) test_judge(state, &t, "offline_access read write");
}


static void
test_ends(void **state)
{
    ngx_uint_t    i;
    test_lives_t  t;

    static const struct {
        ngx_int_t  ttl[2], max_ttl[2];      /* the actor's; the root's */
        int64_t    seconds;
    } cases[] = {
        { { 3600, 3600 }, { NGX_ERROR, NGX_ERROR }, 900 },
        { { 60, 3600 }, { NGX_ERROR, NGX_ERROR }, 60 },
        { { 3600, 60 }, { NGX_ERROR, NGX_ERROR }, 900 },
        { { 3600, 3600 }, { 30, NGX_ERROR }, 30 },
        { { 3600, 3600 }, { NGX_ERROR, 30 }, 900 },
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_start(&t);
        t.clients[1].ttl = cases[i].ttl[0];
        t.clients[2].ttl = cases[i].ttl[1];
        t.clients[1].max_ttl = cases[i].max_ttl[0];
        t.clients[2].max_ttl = cases[i].max_ttl[1];

        t.lives.now = t.lives.ms + cases[i].seconds * 1000 - 1;
        assert_int_equal(test_judge(state, &t, NULL), NGX_OK);

        t.lives.now++;
        assert_int_equal(test_judge(state, &t, NULL), NGX_DECLINED);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_token),
        ngx_unit_test(test_clients),
        ngx_unit_test(test_ceilings),
        ngx_unit_test(test_ends)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
