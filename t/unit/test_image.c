/*
 * Which bytes are an image, of any format.
 */

#include "ngx_unit_image_check.h"


static void
test_types(void **state)
{
    ngx_uint_t             i;
    ngx_str_t              images[5];
    ngx_pool_t            *pool = *state;
    ngx_svc_error_t        err;
    ngx_svc_image_type_e   type;

    static const char  *types[] = {
        "image/png", "image/jpeg", "image/webp", "image/webp", "image/webp"
    };

    images[0] = unit_png(pool, &tiny_png);
    images[1] = unit_jpeg(pool, &tiny_jpeg);
    images[2] = unit_webp(pool, &tiny_lossy);
    images[3] = unit_webp(pool, &tiny_lossless);
    images[4] = unit_webp(pool, &tiny_alpha);

    for (i = 0; i < 5; i++) {
        ngx_memzero(&err, sizeof(ngx_svc_error_t));
        assert_int_equal(ngx_svc_image_check(images[i].data, images[i].len,
                                             &type, &err), NGX_OK);
        assert_string_equal((char *) ngx_svc_image_content_type(type)->data,
                            types[i]);
        assert_int_equal(err.kind, NONE);
    }
}


typedef struct {
    const char  *data;
    size_t       len;
    const char  *detail;
} other_t;


static const other_t  others[] = {
    { bytes(""), "The body is empty; it must be a PNG, JPEG or WebP image." },
    { bytes("GIF89a\1\0\1\0\0\0\0;"), "a GIF image" },
    { bytes("GIF89a/*\x89PNG\r\n\x1a\n*/"), "a GIF image" },
    { bytes("<svg xmlns=\"http://www.w3.org/2000/svg\"/>"), "is SVG" },
    { bytes("<?xml version=\"1.0\"?><svg/>"), "XML or SVG" },
    { bytes("\xef\xbb\xbf<SVG/>"), "is SVG" },
    { bytes("\xef\xbb\xbf \r\n\t<?XML version='1.0'?>"), "XML or SVG" },
    { bytes("<!DOCTYPE html><html>"), "HTML" },
    { bytes("BM\0\0\0\0"), "a BMP image" },
    { bytes("\0\0\1\0\1\0"), "an ICO image" },
    { bytes("\0\0\0 ftypavif"), "an AVIF image" },
    { bytes("\0\0\0 ftypheic"), "a HEIF image" },
    { bytes("\0\0\0\x0cJXL \r\n\x87\n"), "a JPEG XL image" },
    { bytes("PK\3\4"), "a ZIP" },
    { bytes("%PDF-1.7"), "a PDF" },
    { bytes("--boundary\r\n"), "a multipart form" },
    { bytes("data:image/png;base64,AAAA"), "a data: URL" },
    { bytes("{\"a\":1}"), "JSON" },
    { bytes("RIFF\4\0\0\0WAVE"), "does not begin as" },
    { bytes("RIFF\0\0\0\0WEB"), "does not begin as" },
    { bytes("\x89PNG\r\n\x1a"), "does not begin as" },
    { bytes("\x89PNG\n\x1a\n\0"), "does not begin as" },
    { bytes("\xff\xd8"), "does not begin as" },
    { bytes("\0"), "does not begin as" },
    { bytes("   "), "does not begin as" },
    { bytes("\xef\xbb\xbf"), "does not begin as" },
};


static void
test_others(void **state)
{
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(others); i++) {
        check(others[i].data, text(*state, others[i].data, others[i].len),
              UNSUPPORTED, others[i].detail);
    }
}


static void
test_truncated(void **state)
{
    ngx_pool_t   *pool = *state;
    unit_jpeg_t   progressive = tiny_jpeg;

    progressive.progressive = 1;

    truncate_all("png", pool, unit_png(pool, &tiny_png));
    truncate_all("jpeg", pool, unit_jpeg(pool, &tiny_jpeg));
    truncate_all("progressive", pool, unit_jpeg(pool, &progressive));
    truncate_all("lossy", pool, unit_webp(pool, &tiny_lossy));
    truncate_all("lossless", pool, unit_webp(pool, &tiny_lossless));
    truncate_all("alpha", pool, unit_webp(pool, &tiny_alpha));
}


/* Each bit of each byte is flipped: the answer is always a clear one. */

static void
test_bits(void **state)
{
    size_t                 n;
    ngx_int_t              rc;
    ngx_uint_t             i, bit;
    ngx_str_t              images[5];
    ngx_pool_t            *pool = *state;
    ngx_svc_error_t        err;
    ngx_svc_image_type_e   type;

    images[0] = unit_png(pool, &tiny_png);
    images[1] = unit_jpeg(pool, &tiny_jpeg);
    images[2] = unit_webp(pool, &tiny_lossy);
    images[3] = unit_webp(pool, &tiny_lossless);
    images[4] = unit_webp(pool, &tiny_alpha);

    for (i = 0; i < 5; i++) {
        for (n = 0; n < images[i].len; n++) {
            for (bit = 1; bit < 256; bit <<= 1) {
                ngx_memzero(&err, sizeof(ngx_svc_error_t));
                images[i].data[n] ^= bit;

                rc = ngx_svc_image_check(images[i].data, images[i].len, &type,
                                         &err);
                images[i].data[n] ^= bit;

                if (rc != (err.kind ? NGX_DECLINED : NGX_OK)) {
                    fail_msg("image %d, byte %d, bit %d: rc %d, kind %d",
                             (int) i, (int) n, (int) bit, (int) rc,
                             (int) err.kind);
                }

                /* the CRCs and Adler's sum cover all of a PNG */
                assert_true(i != 0 || rc == NGX_DECLINED);
            }
        }
    }
}


static void
test_sides(void **state)
{
    ngx_pool_t  *pool = *state;
    unit_png_t   png = tiny_png;
    unit_jpeg_t  jpeg = tiny_jpeg;
    unit_webp_t  webp = tiny_lossless;

    png.width = 2001;
    png.height = 1;
    check("png", unit_png(pool, &png), DIMENSIONS,
          "The image is 2001 x 1 pixels; a side may have 2000 at most.");

    png.width = 1;
    png.height = 2001;
    check("png", unit_png(pool, &png), DIMENSIONS, "1 x 2001");

    jpeg.width = 2000;
    jpeg.height = 1;
    check("jpeg", unit_jpeg(pool, &jpeg), NONE, NULL);

    jpeg.width = 2001;
    check("jpeg", unit_jpeg(pool, &jpeg), DIMENSIONS, "2001 x 1");

    jpeg.width = 1;
    check("jpeg", unit_jpeg(pool, &jpeg), NONE, NULL);

    jpeg.height = 2001;
    check("jpeg", unit_jpeg(pool, &jpeg), DIMENSIONS, "1 x 2001");

    webp.width = 2001;
    check("webp", unit_webp(pool, &webp), NONE, NULL);

    webp.width = 4096;
    webp.height = 4096;
    check("webp", unit_webp(pool, &webp), NONE, NULL);

    webp.width = 4097;
    check("webp", unit_webp(pool, &webp), DIMENSIONS,
          "The image is 4097 x 4096 pixels; a WebP may have 16777216 in all");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_types),
        ngx_unit_test(test_others),
        ngx_unit_test(test_truncated),
        ngx_unit_test(test_bits),
        ngx_unit_test(test_sides),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
