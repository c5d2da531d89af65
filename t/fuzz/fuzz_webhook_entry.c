/*
 * What is in Redis where a delivery should be: it is refused, or written again
 * byte by byte.
 */

#include "ngx_env.h"
#include "ngx_svc_webhook_entry.h"


#define fuzz_assert(e)                                                        \
    if (!(e)) {                                                               \
        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #e);               \
        abort();                                                              \
    }


int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    ngx_env_init();

    return 0;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                      *text, *end;
    ngx_int_t                    rc;
    ngx_svc_webhook_delivery_t  *d;

    rc = ngx_svc_webhook_entry_read(data, size, ngx_env_log(), &d);
    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED);

    if (rc != NGX_OK) {
        return 0;
    }

    fuzz_assert(ngx_svc_webhook_entry_len(d) == size);

    text = malloc(size);
    fuzz_assert(text != NULL);

    end = ngx_svc_webhook_entry_write(text, d);

    fuzz_assert(end == text + size);
    fuzz_assert(memcmp(text, data, size) == 0);

    free(text);
    ngx_free(d);

    return 0;
}
