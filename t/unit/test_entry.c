/*
 * Sealed entries in Redis, and fetches as such.
 */

#include "ngx_unit.h"
#include "ngx_svc_fetch_entry.h"


#define KEY     "k1:00112233445566778899aabbccddeeff"                         \
                "0123456789abcdef0123456789abcdef"
#define ID      "0123456789abcdef0123456789abcdef"
#define TENANT  "00000000-0000-7000-8000-000000000001"


static ngx_svc_keys_t  keys;


static void
request(ngx_svc_fetch_t *fetch, ngx_pool_t *pool)
{
    char  why[NGX_MAX_ERROR_STR / 8];

    assert_int_equal(ngx_svc_keys_parse(&keys, (u_char *) KEY, sizeof(KEY) - 1,
                                        why),
                     NGX_OK);

    ngx_memzero(fetch, sizeof(ngx_svc_fetch_t));

    fetch->pool = pool;
    fetch->post = 1;
    fetch->limit = 65536;
    fetch->timeout = 8000;
    fetch->nheaders = 2;
    ngx_memcpy(fetch->id, ID, NGX_SVC_ENTRY_ID);
    ngx_str_set(&fetch->tenant, TENANT);
    ngx_str_set(&fetch->url, "https://idp.example/token");
    ngx_str_set(&fetch->headers[0], "Accept: application/json");
    ngx_str_set(&fetch->headers[1], "");
    ngx_str_set(&fetch->body, "code=x");
}


static void
same(const ngx_str_t *a, const ngx_str_t *b)
{
    assert_true(ngx_svc_same(a, b));
}


static void
test_request(void **state)
{
    ngx_str_t        entry;
    ngx_svc_fetch_t  fetch, other;

    request(&fetch, *state);

    assert_int_equal(ngx_svc_fetch_entry(&keys, &fetch, &entry), NGX_OK);
    assert_null(memmem(entry.data, entry.len, "code=x", 6));

    ngx_memzero(&other, sizeof(ngx_svc_fetch_t));
    other.pool = *state;

    assert_int_equal(ngx_svc_fetch_open(&keys, &entry, &other), NGX_OK);
    assert_int_equal(other.post, 1);
    assert_int_equal(other.limit, 65536);
    assert_int_equal(other.nheaders, 2);
    same(&other.tenant, &fetch.tenant);
    same(&other.url, &fetch.url);
    same(&other.headers[0], &fetch.headers[0]);
    same(&other.headers[1], &fetch.headers[1]);
    same(&other.body, &fetch.body);
    assert_memory_equal(other.id, fetch.id, NGX_SVC_ENTRY_ID);

    /* it is no answer */

    assert_int_equal(ngx_svc_fetch_open_answer(&keys, &entry, &fetch),
                     NGX_ABORT);
    ngx_free(entry.data);
}


/* Each byte, and each length. */

static void
test_damaged(void **state)
{
    size_t           i;
    ngx_int_t        rc;
    ngx_str_t        entry, cut;
    ngx_svc_fetch_t  fetch, other;

    request(&fetch, *state);
    assert_int_equal(ngx_svc_fetch_entry(&keys, &fetch, &entry), NGX_OK);

    ngx_memzero(&other, sizeof(ngx_svc_fetch_t));
    other.pool = *state;

    for (i = 0; i < entry.len; i++) {
        entry.data[i] ^= 1;
        rc = ngx_svc_fetch_open(&keys, &entry, &other);
        entry.data[i] ^= 1;

        if (rc != NGX_DECLINED && rc != NGX_ABORT) {
            fail_msg("byte %d: %d", (int) i, (int) rc);
        }

        cut = entry;
        cut.len = i;
        rc = ngx_svc_fetch_open(&keys, &cut, &other);

        if (rc != NGX_DECLINED && rc != NGX_ABORT) {
            fail_msg("%d bytes: %d", (int) i, (int) rc);
        }
    }

    ngx_free(entry.data);
}


static void
test_refused(void **state)
{
    u_char           long_text[NGX_SVC_FETCH_BODY + 1];
    ngx_str_t        entry;
    ngx_svc_fetch_t  fetch;

    ngx_memset(long_text, 'x', sizeof(long_text));

#define refused(member, value)                                                \
    request(&fetch, *state);                                                  \
    fetch.member = value;                                                     \
    assert_int_equal(ngx_svc_fetch_entry(&keys, &fetch, &entry), NGX_DECLINED)

    refused(limit, NGX_SVC_FETCH_ANSWER + 1);
    refused(timeout, NGX_SVC_FETCH_TIMEOUT + 1);
    refused(nheaders, NGX_SVC_FETCH_HEADERS + 1);
    refused(tenant.len, 35);
    refused(headers[1], ((ngx_str_t) ngx_string("A: b\r\nC: d")));
    refused(headers[1], ((ngx_str_t) ngx_string("A: b\0")));
    refused(headers[1], ((ngx_str_t) ngx_string("A: b\x7f")));
    refused(body, ((ngx_str_t) { sizeof(long_text), long_text }));
    refused(url, ((ngx_str_t) { 2049, long_text }));

#undef refused
}


static void
test_answer(void **state)
{
    u_char           body[70000];
    ngx_str_t        entry;
    ngx_svc_fetch_t  fetch, other;

    ngx_memset(body, 'x', sizeof(body));

    request(&fetch, *state);
    fetch.outcome = NGX_SVC_FETCH_LATE;
    fetch.status = 404;
    fetch.max_age = -1;
    ngx_str_set(&fetch.type, "text/html");
    ngx_str_set(&fetch.why, "no");
    fetch.answer.data = body;
    fetch.answer.len = sizeof(body);

    assert_int_equal(ngx_svc_fetch_answer(&keys, &fetch, &entry), NGX_OK);

    request(&other, *state);
    assert_int_equal(ngx_svc_fetch_open_answer(&keys, &entry, &other), NGX_OK);
    assert_int_equal(other.outcome, NGX_SVC_FETCH_LATE);
    assert_int_equal(other.status, 404);
    assert_int_equal(other.max_age, -1);
    same(&other.type, &fetch.type);
    same(&other.etag, &fetch.etag);
    same(&other.why, &fetch.why);
    same(&other.answer, &fetch.answer);

    /* that of another request, or tenant */

    other.id[0] ^= 1;
    assert_int_equal(ngx_svc_fetch_open_answer(&keys, &entry, &other),
                     NGX_DECLINED);

    request(&other, *state);
    ngx_str_set(&other.tenant, "00000000-0000-7000-8000-000000000002");
    assert_int_equal(ngx_svc_fetch_open_answer(&keys, &entry, &other),
                     NGX_DECLINED);
    ngx_free(entry.data);
}


/* Opens nothing that was queued long ago. */

static void
test_old(void **state)
{
    ngx_str_t        entry;
    ngx_time_t      *tp;
    ngx_svc_fetch_t  fetch, other;

    request(&fetch, *state);
    assert_int_equal(ngx_svc_fetch_entry(&keys, &fetch, &entry), NGX_OK);

    ngx_memzero(&other, sizeof(ngx_svc_fetch_t));
    other.pool = *state;

    tp = (ngx_time_t *) ngx_cached_time;
    tp->sec += 60;
    assert_int_equal(ngx_svc_fetch_open(&keys, &entry, &other), NGX_OK);

    tp->sec += 1;
    assert_int_equal(ngx_svc_fetch_open(&keys, &entry, &other), NGX_ABORT);

    ngx_free(entry.data);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_request),
        ngx_unit_test(test_damaged),
        ngx_unit_test(test_refused),
        ngx_unit_test(test_answer),
        ngx_unit_test(test_old)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
