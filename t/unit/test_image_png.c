/*
 * Which bytes are a PNG.
 */

#include "ngx_unit_image_check.h"


void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

static int  mallocs = -1;


/*
 * The linker's --wrap gives this to the check itself, and not to the libraries.
 */

void *
__wrap_malloc(size_t size)
{
    if (mallocs == 0) {
        return NULL;
    }

    if (mallocs > 0) {
        mallocs--;
    }

    return __real_malloc(size);
}


static void
test_png_kinds(void **state)
{
    char        row[64];
    unit_png_t  p;
    ngx_uint_t  i, size, interlaced;

    static const int  kinds[][2] = {
        { PNG_COLOR_TYPE_GRAY, 1 }, { PNG_COLOR_TYPE_GRAY, 8 },
        { PNG_COLOR_TYPE_GRAY, 16 }, { PNG_COLOR_TYPE_PALETTE, 1 },
        { PNG_COLOR_TYPE_PALETTE, 4 }, { PNG_COLOR_TYPE_PALETTE, 8 },
        { PNG_COLOR_TYPE_GRAY_ALPHA, 8 }, { PNG_COLOR_TYPE_RGB, 8 },
        { PNG_COLOR_TYPE_RGB, 16 }, { PNG_COLOR_TYPE_RGB_ALPHA, 8 },
        { PNG_COLOR_TYPE_RGB_ALPHA, 16 },
    };

    static const int  sizes[][2] = {
        { 1, 1 }, { 1, 9 }, { 9, 1 }, { 4, 5 }, { 33, 31 }, { 2000, 1 },
        { 1, 2000 },
    };

    ngx_memzero(&p, sizeof(unit_png_t));

    for (i = 0; i < ngx_unit_len(kinds); i++) {
        for (size = 0; size < ngx_unit_len(sizes); size++) {
            for (interlaced = 0; interlaced < 2; interlaced++) {
                p.color = kinds[i][0];
                p.depth = kinds[i][1];
                p.width = sizes[size][0];
                p.height = sizes[size][1];
                p.interlaced = interlaced;

                sprintf(row, "color %d, depth %d, %d x %d, interlaced %d",
                        p.color, p.depth, p.width, p.height, p.interlaced);
                check(row, unit_png(*state, &p), NONE, NULL);
            }
        }
    }
}


/* Damage inside a PNG whose structure is right. */

static void
test_png_damaged(void **state)
{
    u_char      *zeros;
    ngx_str_t    s, none, idat, big, chunk;
    ngx_pool_t  *pool = *state;

    ngx_str_set(&none, "");
    zeros = ngx_pcalloc(pool, 64 << 20);

    /* five rows of a filter byte and four pixels */

    idat = unit_deflate(pool, zeros, 25);
    s = unit_png_raw(pool, 4, 5, none, idat);
    check("right", s, NONE, NULL);

    s.data[s.len - 1] ^= 1;
    check("IEND's CRC", s, INVALID, "IEND: CRC error");

    check("no width", unit_png_raw(pool, 0, 5, none, idat), INVALID,
          "The image is 0 x 5 pixels; a side must have 1 at least.");
    check("no height", unit_png_raw(pool, 4, 0, none, idat), INVALID, "4 x 0");
    check("huge", unit_png_raw(pool, 0xffffffff, 5, none, idat), DIMENSIONS,
          "4294967295 x 5");
    check("a row too few", unit_png_raw(pool, 4, 6, none, idat), INVALID,
          "pixels for 5 rows of 6");
    check("a row too many", unit_png_raw(pool, 4, 4, none, idat), INVALID,
          "The PNG cannot be decoded: Extra compressed data");
    check("empty IDAT", unit_png_raw(pool, 4, 5, none, none), INVALID, NULL);

    big = unit_image_join(pool, idat, bytes("PK\3\4"));
    check("junk in IDAT", unit_png_raw(pool, 4, 5, none, big), INVALID, NULL);

    zeros[0] = 5;
    big = unit_deflate(pool, zeros, 25);
    zeros[0] = 0;
    check("filter 5", unit_png_raw(pool, 4, 5, none, big), INVALID,
          "bad adaptive filter value");

    big = unit_deflate(pool, zeros, 64 << 20);
    check("bomb in IDAT", unit_png_raw(pool, 4, 5, none, big), INVALID,
          "Extra compressed data");

    big = unit_image_join(pool, text(pool, bytes("key\0\0")), big.data,
                          big.len);

    chunk = unit_png_chunk(pool, "zTXt", big.data, big.len);
    check("bomb in zTXt", unit_png_raw(pool, 4, 5, chunk, idat), NONE, NULL);

    chunk = unit_png_chunk(pool, "iCCP", big.data, big.len);
    check("bomb in iCCP", unit_png_raw(pool, 4, 5, chunk, idat), NONE, NULL);

    chunk.data[chunk.len - 1] ^= 1;
    check("iCCP's CRC", unit_png_raw(pool, 4, 5, chunk, idat), INVALID,
          "iCCP: CRC error");

    chunk = unit_png_chunk(pool, "tRNS", "\0\1", 2);
    check("tRNS", unit_png_raw(pool, 4, 5, chunk, idat), NONE, NULL);

    chunk = unit_png_chunk(pool, "acTL", "\0\0\0\1\0\0\0\0", 8);
    check("APNG", unit_png_raw(pool, 4, 5, chunk, idat), NONE, NULL);

    chunk = unit_png_chunk(pool, "CgBI", "\x50\0\x20\2", 4);
    check("unknown critical", unit_png_raw(pool, 4, 5, chunk, idat), INVALID,
          NULL);

    chunk = unit_png_chunk(pool, "IEND", "", 0);
    check("two ends", unit_png_raw(pool, 4, 5, chunk, idat), INVALID,
          "bytes follow");

    chunk.data[0] = 0x7f;
    check("endless chunk", unit_png_raw(pool, 4, 5, chunk, idat), INVALID,
          "The PNG breaks off: the chunk at byte 33 goes beyond");

    check("no IHDR", unit_image_join(pool,
                         text(pool, bytes("\x89PNG\r\n\x1a\n")),
                         chunk.data, chunk.len), INVALID, NULL);
}


static void
test_png_memory(void **state)
{
    int                    n;
    ngx_int_t              rc;
    ngx_str_t              s;
    unit_png_t             p = tiny_png;
    ngx_svc_error_t        err;
    ngx_svc_image_type_e   type;

    p.interlaced = 1;
    s = unit_png(*state, &p);

    for (n = 0; /* void */; n++) {
        ngx_memzero(&err, sizeof(ngx_svc_error_t));

        mallocs = n;
        rc = ngx_svc_image_check(s.data, s.len, &type, &err);
        mallocs = -1;

        if (rc == NGX_OK) {
            break;
        }

        assert_int_equal(rc, NGX_ERROR);
        assert_true(n < 100);
    }

    assert_true(n > 3);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_png_kinds),
        ngx_unit_test(test_png_damaged),
        ngx_unit_test(test_png_memory),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("image_png", tests, NULL, NULL);
}
