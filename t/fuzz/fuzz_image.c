/*
 * Images: any bytes get a clear answer, which is the same each time.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_admin_image_format.h"

#include <zlib.h>


/* libFuzzer makes inputs of few bytes; this keeps them few in pixels, too. */

#define FUZZ_IMAGE_SIDE  512


static void fuzz_check(const uint8_t *data, size_t size);
static void fuzz_png_sums(uint8_t *data, size_t size);
static void fuzz_webp_sizes(uint8_t *data, size_t size);
static ngx_uint_t fuzz_large(const uint8_t *data, size_t size);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t  *mended;

    if (fuzz_large(data, size)) {
        return 0;
    }

    fuzz_check(data, size);

    /*
     * mends what the checks would stop at, so that the libraries get to see it
     */

    if (size > 20 && (data[0] == 0x89 || data[0] == 'R')) {
        mended = malloc(size);
        fuzz_assert(mended != NULL);
        memcpy(mended, data, size);

        if (data[0] == 'R') {
            fuzz_webp_sizes(mended, size);

        } else {
            fuzz_png_sums(mended, size);
        }

        fuzz_check(mended, size);
        free(mended);
    }

    return 0;
}


static void
fuzz_check(const uint8_t *data, size_t size)
{
    ngx_int_t              rc;
    ngx_svc_error_t        err;
    ngx_svc_image_type_e   type;

    ngx_memzero(&err, sizeof(ngx_svc_error_t));
    type = NGX_SVC_IMAGE_LAST;

    rc = ngx_svc_image_check(data, size, &type, &err);

    fuzz_assert(err.len <= NGX_SVC_ERROR_DETAIL);

    if (rc == NGX_OK) {
        fuzz_assert(err.kind == NGX_SVC_E_NONE);
        fuzz_assert(type < NGX_SVC_IMAGE_LAST);
        return;
    }

    fuzz_assert(rc == NGX_DECLINED);
    fuzz_assert(err.len > 0);
    fuzz_assert(err.kind == NGX_SVC_E_UNSUPPORTED_IMAGE
                || err.kind == NGX_SVC_E_INVALID_IMAGE
                || err.kind == NGX_SVC_E_IMAGE_DIMENSIONS);
    fuzz_assert(err.kind == NGX_SVC_E_UNSUPPORTED_IMAGE
                || type < NGX_SVC_IMAGE_LAST);
}


/* Corrects the CRCs: without that libpng would read no further. */

static void
fuzz_png_sums(uint8_t *data, size_t size)
{
    size_t    pos;
    uint32_t  len, sum;

    for (pos = 8; size - pos >= 12; pos += len + 12) {
        len = ngx_svc_image_be32(data + pos);

        if (size - pos - 12 < len) {
            return;
        }

        sum = htonl(crc32(0, data + pos + 4, len + 4));
        memcpy(data + pos + 8 + len, &sum, 4);
    }
}


/* Corrects the RIFF's length, and the only chunk's. */

static void
fuzz_webp_sizes(uint8_t *data, size_t size)
{
    uint32_t  len;

    len = size - 8;
    memcpy(data + 4, &len, 4);

    if (memcmp(data + 12, "VP8X", 4) != 0) {
        len = size - 20;
        memcpy(data + 16, &len, 4);
    }
}


/* Returns whether a WebP of VP8L or VP8X is large, by the sides in its head. */

static ngx_uint_t
fuzz_large(const uint8_t *data, size_t size)
{
    uint32_t  bits;

    if (size < 30 || memcmp(data, "RIFF", 4) != 0) {
        return 0;
    }

    if (memcmp(data + 12, "VP8L", 4) == 0) {
        bits = ngx_svc_image_le32(data + 21);

        return (bits & 0x3fff) > FUZZ_IMAGE_SIDE
               || (bits >> 14 & 0x3fff) > FUZZ_IMAGE_SIDE;
    }

    if (memcmp(data + 12, "VP8X", 4) == 0) {
        return data[25] > 1 || data[26] || data[28] > 1 || data[29];
    }

    return (data[27] & 0x3f) > 1 || (data[29] & 0x3f) > 1;
}
