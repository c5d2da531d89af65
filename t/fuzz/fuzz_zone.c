/*
 * A TZif file, and the offsets in it.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_zone.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int32_t          offset;
    int64_t          at;
    ngx_str_t        name = ngx_string("Area/Place");
    ngx_uint_t       i;
    ngx_pool_t      *pool;
    ngx_svc_zone_t  *zone;

    static const int64_t  times[] = {
        INT64_MIN, INT32_MIN, -1, 0, 1, 951782400, 1700000000, 2145916800,
        INT32_MAX, 4102444800, 253402300799, INT64_MAX
    };

    pool = fuzz_pool(4096);

    zone = ngx_svc_zone_parse(pool, &name, data, size);

    for (i = 0; zone && i < sizeof(times) / sizeof(times[0]); i++) {
        offset = ngx_svc_zone_offset(zone, times[i]);
        fuzz_assert(offset > -25 * 3600 && offset < 26 * 3600);
    }

    /* some of the times that the file itself contains */

    for (i = 0; zone && i + 8 <= size && i < 512; i += 8) {
        ngx_memcpy(&at, data + i, 8);
        at = (int64_t) be64toh((uint64_t) at);

        offset = ngx_svc_zone_offset(zone, at);
        fuzz_assert(offset > -25 * 3600 && offset < 26 * 3600);
    }

    ngx_destroy_pool(pool);

    return 0;
}
