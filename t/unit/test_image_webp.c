/*
 * Which bytes are a WebP.
 */

#include "ngx_unit_image_check.h"


static void
test_webp_damaged(void **state)
{
    ngx_str_t    s, t;
    ngx_pool_t  *pool = *state;

    s = unit_webp(pool, &tiny_lossy);

    s.data[4] += 2;
    check("RIFF too long", s, INVALID, "The WebP's RIFF header says");
    s.data[4] -= 4;
    check("RIFF too short", s, INVALID, "The WebP's RIFF header says");
    s.data[4] += 2;
    check("RIFF right", s, NONE, NULL);

    /* one more chunk, and the RIFF's length with it */

    t = unit_image_join(pool, s, bytes("junk\4\0\0\0PK\3\4"));
    t.data[4] += 12;
    check("junk chunk", t, INVALID, "The WebP ends at byte");

    s.data[16] += 2;
    check("chunk too long", s, INVALID, "The WebP breaks off");
    s.data[16] -= 2;

    s.data[26] = s.data[27] = 0;
    check("no width", s, INVALID, "The WebP cannot be decoded");

    s = unit_webp(pool, &tiny_alpha);
    assert_memory_equal(s.data + 12, "VP8X", 4);

    t = unit_image_join(pool, s, bytes("EXIF\3\0\0\0abc\0"));
    t.data[4] += 12;
    check("a chunk behind", t, NONE, NULL);

    t.len--;
    t.data[4]--;
    check("without the pad byte", t, NONE, NULL);

    s.data[20] |= 2;
    check("animated", s, UNSUPPORTED, "The WebP is animated");
    s.data[20] &= ~2;

    s.data[24]++;
    check("the canvas is wider", s, INVALID, NULL);

    check("nothing", text(pool, bytes("RIFF\4\0\0\0WEBP")), INVALID,
          "breaks off");
    check("empty VP8", text(pool, bytes("RIFF\x0c\0\0\0WEBPVP8 \0\0\0\0")),
          INVALID, NULL);
    check("empty VP8X", text(pool, bytes("RIFF\x0c\0\0\0WEBPVP8X\0\0\0\0")),
          INVALID, NULL);
    check("unknown", text(pool, bytes("RIFF\x0c\0\0\0WEBPabcd\0\0\0\0")),
          INVALID, "first chunk");
}


/* A valid VP8 chunk after an invalid ALPH chunk. */

static void
test_webp_alpha(void **state)
{
    size_t       n, size;
    u_char      *alpha;
    ngx_str_t    s;
    unit_webp_t  w = tiny_alpha;
    ngx_uint_t   i;

    static const u_char  headers[] = {
        0x02, 0x03,             /* compression */
        0x21, 0x31,             /* pre-processing */
        0x81, 0xc1,             /* reserved; 0x41 passes in some versions */
        0x00                    /* not compressed, and too short */
    };

    w.width = 64;
    w.height = 64;
    w.noise = 1;

    s = unit_webp(*state, &w);
    alpha = s.data + 30;
    assert_memory_equal(alpha, "ALPH", 4);
    size = alpha[4] | alpha[5] << 8;
    assert_int_equal(alpha[8] & 0x03, 1);

    check("as it was", s, NONE, NULL);

    for (i = 0; i < sizeof(headers); i++) {
        n = alpha[8];
        alpha[8] = headers[i];
        check("header", s, INVALID, "The WebP cannot be decoded");
        alpha[8] = n;
    }

    /* of the same length, so that all that follows stays in its place */

    ngx_memset(alpha + 9, 0xff, size - 1);
    check("all ones", s, INVALID, "The WebP cannot be decoded");

    ngx_memset(alpha + 9, 0x55, size - 1);
    check("a pattern", s, INVALID, "The WebP cannot be decoded");
}


/* Half of the picture's data, with all lengths corrected. */

static void
test_webp_half(void **state)
{
    size_t       size;
    ngx_str_t    s;
    ngx_uint_t   i;
    unit_webp_t  w;

    for (i = 0; i < 2; i++) {
        w = i ? tiny_lossless : tiny_lossy;
        w.width = 64;
        w.height = 64;
        w.noise = 1;
        s = unit_webp(*state, &w);

        size = (s.len / 2) & ~1;
        s.len = size + 20;
        s.data[16] = size & 0xff;
        s.data[17] = size >> 8;
        s.data[4] = (size + 12) & 0xff;
        s.data[5] = (size + 12) >> 8;

        check(i ? "lossless" : "lossy", s, INVALID,
              "The WebP cannot be decoded");
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_webp_damaged),
        ngx_unit_test(test_webp_alpha),
        ngx_unit_test(test_webp_half),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("image_webp", tests, NULL, NULL);
}
