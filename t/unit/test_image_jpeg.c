/*
 * Which bytes are a JPEG.
 */

#include "ngx_unit_image_check.h"


static void
test_jpeg_kinds(void **state)
{
    char         row[64];
    ngx_uint_t   i, flags;
    unit_jpeg_t  j;

    static const int  components[] = { 1, 3, 4 };

    for (i = 0; i < 3; i++) {
        for (flags = 0; flags < 8; flags++) {
            j = tiny_jpeg;
            j.width = 70;
            j.height = 41;
            j.components = components[i];
            j.progressive = flags & 1;
            j.subsampled = flags & 2;
            j.restart = (flags & 4) ? 3 : 0;

            sprintf(row, "components %d, flags %d", j.components, (int) flags);
            check(row, unit_jpeg(*state, &j), NONE, NULL);
        }
    }

    j.arithmetic = 1;
    check("arithmetic", unit_jpeg(*state, &j), INVALID, "(SOF10)");
}


/* Returns the offset of the n-th marker of this code. */

static size_t
marker(ngx_str_t s, u_char code, ngx_uint_t n)
{
    size_t  i;

    for (i = 0; i + 1 < s.len; i++) {
        if (s.data[i] == 0xff && s.data[i + 1] == code && n-- == 0) {
            return i;
        }
    }

    fail_msg("no marker %02x", code);
    return 0;
}


/* Exif that says 9000 x 9000, with a thumbnail that is a JPEG. */

static void
test_jpeg_exif(void **state)
{
    ngx_str_t    exif, thumb;
    ngx_pool_t  *pool = *state;
    unit_jpeg_t  j = tiny_jpeg;

    static const char  lies[] = "Exif\0\0II*\0\10\0\0\0\2\0"
        "\2\xa0\4\0\1\0\0\0\x28\x23\0\0" "\3\xa0\4\0\1\0\0\0\x28\x23\0\0"
        "\0\0\0\0";

    thumb = unit_jpeg(pool, &tiny_jpeg);
    exif = unit_image_join(pool, text(pool, bytes(lies)), thumb.data,
                           thumb.len);
    j.exif = (char *) exif.data;
    j.exif_len = exif.len;

    truncate_all("exif", pool, unit_jpeg(pool, &j));

    j.width = 2001;
    check("a small thumbnail", unit_jpeg(pool, &j), DIMENSIONS, "2001 x 7");
}


static void
test_jpeg_damaged(void **state)
{
    size_t       i, sof;
    ngx_str_t    s, again, sos;
    ngx_pool_t  *pool = *state;
    unit_jpeg_t  j = tiny_jpeg;

    s = unit_jpeg(pool, &tiny_jpeg);
    sof = marker(s, 0xc0, 0);

    check("zeros behind", unit_image_join(pool, s, bytes("\0\0\0")), NONE,
          NULL);
    check("zeros and more", unit_image_join(pool, s, bytes("\0\0x")), INVALID,
          "The JPEG ends at byte");

    /* a second frame, of 2001 pixels */

    again = unit_image_copy(pool, s.data + sof, 19);
    again.data[7] = 2001 >> 8;
    again.data[8] = 2001 & 0xff;
    check("two frames", unit_image_insert(pool, s, sof + 19, again), INVALID,
          "a second frame at byte");

    again = unit_image_insert(pool, s, s.len - 2,
                              text(pool, bytes("\xff\xfe\0\2")));
    check("comment behind the scan", again, NONE, NULL);

    again = unit_image_insert(pool, s, s.len - 2,
                              text(pool, bytes("\xff\xff")));
    check("fill bytes", again, NONE, NULL);

    again = unit_image_insert(pool, s, sof, text(pool, bytes("junk")));
    check("junk between", again, INVALID, "no segment begins at byte");

    again = unit_image_copy(pool, s.data, s.len);
    again.data[sof + 5] = again.data[sof + 6] = 0;
    check("no height", again, INVALID, "9 x 0");

    again.data[sof + 6] = 7;
    again.data[sof + 4] = 12;
    check("12 bits", again, INVALID, "The JPEG cannot be decoded");

    again.data[sof + 4] = 8;
    again.data[sof + 9] = 2;
    check("two components", again, INVALID, "2 color components");

    again.data[sof + 9] = 3;
    again.data[sof + 1] = 0xc3;
    check("lossless", again, INVALID, "(SOF3)");

    again.data[sof + 1] = 0xc0;
    again.data[sof + 6] = 200;
    check("pixels missing", again, INVALID, "The JPEG cannot be decoded");

    again.data[sof + 6] = 7;
    check("mended", again, NONE, NULL);

    i = marker(s, 0xda, 0);
    sos = unit_image_copy(pool, s.data + i, s.len - 2 - i);

    for (again = s, i = 0; i < 99; i++) {
        again = unit_image_insert(pool, again, again.len - 2, sos);
    }

    /* libjpeg may refuse what the count of scans allows */

    again = unit_image_insert(pool, again, again.len - 2, sos);
    check("101 scans", again, INVALID, "more than 100 scans");

    check("no picture", text(pool, bytes("\xff\xd8\xff\xd9")), INVALID,
          "no picture");
    check("no frame", text(pool, bytes("\xff\xd8\xff\xda\0\2\xff\xd9")),
          INVALID, "no picture");

    j.width = 200;
    j.height = 200;
    j.restart = 2;
    s = unit_jpeg(pool, &j);
    i = marker(s, 0xd3, 0);
    s.data[i + 1] = 0xd5;
    check("wrong restart", s, INVALID, "The JPEG cannot be decoded");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_jpeg_kinds),
        ngx_unit_test(test_jpeg_exif),
        ngx_unit_test(test_jpeg_damaged),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("image_jpeg", tests, NULL, NULL);
}
