/*
 * For all fuzzers; each of them is one file that includes this one.
 */

#ifndef _NGX_FUZZ_H_INCLUDED_
#define _NGX_FUZZ_H_INCLUDED_


#include "ngx_env.h"
#include "ngx_svc_json.h"


#define fuzz_assert(e)                                                        \
    if (!(e)) {                                                               \
        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #e);               \
        abort();                                                              \
    }


int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Does once, before the first input, what a fuzzer needs; it may be missing. */
void fuzz_init(void) __attribute__((weak));


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    ngx_env_init();
    ngx_svc_json_init();

    if (fuzz_init) {
        fuzz_init();
    }

    return 0;
}


/* Makes a pool, for ngx_destroy_pool(). */

static inline ngx_pool_t *
fuzz_pool(size_t size)
{
    ngx_pool_t  *pool;

    pool = ngx_create_pool(size, ngx_env_log());
    fuzz_assert(pool != NULL);

    return pool;
}


#endif /* _NGX_FUZZ_H_INCLUDED_ */
