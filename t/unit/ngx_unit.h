/*
 * For unit tests: cmocka after nginx, a pool for each test, and assertions that
 * name the row of a table.
 */

#ifndef _NGX_UNIT_H_INCLUDED_
#define _NGX_UNIT_H_INCLUDED_


#include "ngx_env.h"
#include "ngx_svc_error.h"

#include <setjmp.h>
#include <cmocka.h>


#define ngx_unit_test(f)                                                      \
    cmocka_unit_test_setup_teardown(f, ngx_unit_setup, ngx_unit_teardown)

#define ngx_unit_len(a)  (sizeof(a) / sizeof((a)[0]))


/* The state of a test is its pool. */

static inline int
ngx_unit_setup(void **state)
{
    *state = ngx_create_pool(4096, ngx_env_log());

    return *state == NULL;
}


static inline int
ngx_unit_teardown(void **state)
{
    ngx_env_alloc_limit(-1);
    ngx_destroy_pool(*state);

    return 0;
}


/* Fails unless err is of this kind, with exactly this detail. */

static inline void
ngx_unit_error(const ngx_svc_error_t *err, ngx_svc_error_e kind,
    const char *detail, const char *row)
{
    if (err->kind != kind || err->len != strlen(detail)
        || memcmp(err->detail, detail, err->len) != 0)
    {
        fail_msg("%s: error %d \"%.*s\", not %d \"%s\"", row,
                 (int) err->kind, (int) err->len, err->detail, (int) kind,
                 detail);
    }
}


/*
 * Returns the next number of a sequence that is the same in each run
 * (xorshift64).
 */

static inline uint64_t
ngx_unit_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;

    return *seed;
}


#endif /* _NGX_UNIT_H_INCLUDED_ */
