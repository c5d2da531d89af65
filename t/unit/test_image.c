/*
 * Which bytes are an image.
 */

#include "ngx_unit.h"
#include "ngx_unit_image.h"
#include "ngx_svc_admin_image.h"


#define NONE         NGX_SVC_E_NONE
#define UNSUPPORTED  NGX_SVC_E_UNSUPPORTED_IMAGE
#define INVALID      NGX_SVC_E_INVALID_IMAGE
#define DIMENSIONS   NGX_SVC_E_IMAGE_DIMENSIONS

#define bytes(s)     (s), sizeof(s) - 1


void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

static int  mallocs = -1;


/* The linker's --wrap gives it to the check itself, not to the libraries. */

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


static const unit_png_t   tiny_png = { 5, 3, PNG_COLOR_TYPE_RGB, 8, 0, 0 };
static const unit_jpeg_t  tiny_jpeg = { 9, 7, 3, 0, 0, 0, 0, NULL, 0 };
static const unit_webp_t  tiny_lossy = { 9, 7, 0, 0, 0 };
static const unit_webp_t  tiny_lossless = { 9, 7, 1, 0, 0 };
static const unit_webp_t  tiny_alpha = { 9, 7, 0, 1, 0 };


/* The bytes lie in memory of just their length, for ASan's sake. */

static void
check(const char *row, ngx_str_t image, ngx_svc_error_e kind,
    const char *detail)
{
    u_char                *exact;
    ngx_int_t              rc;
    ngx_svc_error_t        err;
    ngx_svc_image_type_e   type;

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    exact = __real_malloc(image.len);
    ngx_memcpy(exact, image.data, image.len);

    rc = ngx_svc_image_check(exact, image.len, &type, &err);

    free(exact);

    if (rc != (kind == NONE ? NGX_OK : NGX_DECLINED) || err.kind != kind
        || (kind != NONE && err.len == 0)
        || (detail && ngx_strstr(err.detail, detail) == NULL))
    {
        fail_msg("%s: rc %d, kind %d, \"%.*s\"", row, (int) rc,
                 (int) err.kind, (int) err.len, err.detail);
    }
}


static ngx_str_t
text(ngx_pool_t *pool, const char *data, size_t len)
{
    return unit_image_copy(pool, data, len);
}


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


/* No beginning of an image is an image, nor is an image with a byte more. */

static void
truncate_all(const char *row, ngx_pool_t *pool, ngx_str_t image)
{
    ngx_str_t  cut;

    check(row, image, NONE, NULL);

    for (cut = image; cut.len-- > 0; /* void */) {
        check(row, cut, cut.len < 12
              && (cut.len < 3 || image.data[0] != 0xff)
              && (cut.len < 8 || image.data[0] != 0x89)
              ? UNSUPPORTED : INVALID, NULL);
    }

    check(row, unit_image_join(pool, image, bytes("x")), INVALID, NULL);
    check(row, unit_image_join(pool, image, bytes("PK\3\4....PK\5\6")),
          INVALID, NULL);
    check(row, unit_image_join(pool, image, bytes("<?php phpinfo();")),
          INVALID, NULL);
    check(row, unit_image_join(pool, image, image.data, image.len), INVALID,
          NULL);
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


/* Each byte, with each of its bits turned: nothing but a clear answer. */

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

                /* the CRCs and Adler's sum see all of a PNG */
                assert_true(i != 0 || rc == NGX_DECLINED);
            }
        }
    }
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


/* What is wrong with the inside of a PNG whose outside is right. */

static void
test_png_damaged(void **state)
{
    u_char      *zeros;
    ngx_str_t    s, none, idat, big, chunk;
    ngx_pool_t  *pool = *state;

    ngx_str_set(&none, "");
    zeros = ngx_pcalloc(pool, 64 << 20);

    /* five rows of filter byte and four pixels */

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


/* The offset of the n-th marker of this code. */

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

    /* libjpeg may refuse what the count allows */

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

    /* a chunk more, and the RIFF's length with it */

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


/* A valid VP8 chunk behind an ALPH chunk that is not. */

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

    /* the same length: all that follows stays in its place */

    ngx_memset(alpha + 9, 0xff, size - 1);
    check("all ones", s, INVALID, "The WebP cannot be decoded");

    ngx_memset(alpha + 9, 0x55, size - 1);
    check("a pattern", s, INVALID, "The WebP cannot be decoded");
}


/* Half of the picture's data, with all lengths set right. */

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
        ngx_unit_test(test_types),
        ngx_unit_test(test_others),
        ngx_unit_test(test_truncated),
        ngx_unit_test(test_bits),
        ngx_unit_test(test_png_kinds),
        ngx_unit_test(test_sides),
        ngx_unit_test(test_png_damaged),
        ngx_unit_test(test_png_memory),
        ngx_unit_test(test_jpeg_kinds),
        ngx_unit_test(test_jpeg_exif),
        ngx_unit_test(test_jpeg_damaged),
        ngx_unit_test(test_webp_damaged),
        ngx_unit_test(test_webp_alpha),
        ngx_unit_test(test_webp_half),
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
