/*
 * Images for tests, made with the libraries, or by hand where these refuse.
 */

#ifndef _NGX_UNIT_IMAGE_H_INCLUDED_
#define _NGX_UNIT_IMAGE_H_INCLUDED_


#include "ngx_env.h"

#include <png.h>
#include <zlib.h>
#include <jpeglib.h>
#include <webp/encode.h>


typedef struct {
    int          width;
    int          height;
    int          color;             /* PNG_COLOR_TYPE_... */
    int          depth;
    int          interlaced;
    int          noise;
} unit_png_t;


typedef struct {
    int          width;
    int          height;
    int          components;
    int          progressive;
    int          subsampled;
    int          restart;
    int          arithmetic;
    const char  *exif;              /* an APP1 segment's payload */
    size_t       exif_len;
} unit_jpeg_t;


typedef struct {
    int          width;
    int          height;
    int          lossless;
    int          alpha;
    int          noise;
} unit_webp_t;


static inline ngx_str_t
unit_image_copy(ngx_pool_t *pool, const void *data, size_t len)
{
    ngx_str_t  s;

    s.len = len;
    s.data = ngx_pnalloc(pool, len + 1);
    ngx_memcpy(s.data, data, len);

    return s;
}


static inline ngx_str_t
unit_image_join(ngx_pool_t *pool, ngx_str_t a, const void *b, size_t len)
{
    ngx_str_t  s;

    s.len = a.len + len;
    s.data = ngx_pnalloc(pool, s.len + 1);
    ngx_memcpy(s.data, a.data, a.len);
    ngx_memcpy(s.data + a.len, b, len);

    return s;
}


/* Inserts b into a, at byte pos. */

static inline ngx_str_t
unit_image_insert(ngx_pool_t *pool, ngx_str_t a, size_t pos, ngx_str_t b)
{
    ngx_str_t  head;

    head.data = a.data;
    head.len = pos;
    head = unit_image_join(pool, head, b.data, b.len);

    return unit_image_join(pool, head, a.data + pos, a.len - pos);
}


static inline u_char
unit_image_pixel(int noise, int i)
{
    return noise ? ((uint32_t) i * 2654435761u) >> 13 : (uint32_t) i;
}


static void
unit_png_write(png_structp png, png_bytep data, size_t len)
{
    ngx_str_t   *out;
    ngx_pool_t **pool;

    pool = png_get_io_ptr(png);
    out = (ngx_str_t *) (pool + 1);
    *out = unit_image_join(*pool, *out, data, len);
}


static inline ngx_str_t
unit_png(ngx_pool_t *pool, const unit_png_t *p)
{
    int          i, n, passes, row, bytes;
    u_char      *line;
    png_infop    info;
    png_color    palette[16];
    png_structp  png;

    struct {
        ngx_pool_t  *pool;
        ngx_str_t    out;
    } sink = { pool, ngx_string("") };

    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    info = png_create_info_struct(png);

    png_set_write_fn(png, &sink, unit_png_write, NULL);
    png_set_IHDR(png, info, p->width, p->height, p->depth, p->color,
                 p->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);

    if (p->color == PNG_COLOR_TYPE_PALETTE) {
        ngx_memset(palette, 0x55, sizeof(palette));
        png_set_PLTE(png, info, palette, 1 << (p->depth > 4 ? 4 : p->depth));
    }

    png_write_info(png, info);
    passes = png_set_interlace_handling(png);
    bytes = png_get_rowbytes(png, info);
    line = ngx_pcalloc(pool, bytes);

    for (n = 0; n < passes; n++) {
        for (row = 0; row < p->height; row++) {
            for (i = 0; p->color != PNG_COLOR_TYPE_PALETTE && i < bytes; i++) {
                line[i] = unit_image_pixel(p->noise, row * bytes + i);
            }

            png_write_row(png, line);
        }
    }

    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);

    return sink.out;
}


static inline ngx_str_t
unit_png_chunk(ngx_pool_t *pool, const char *type, const void *data, size_t len)
{
    u_char     be[4];
    uint32_t   crc;
    ngx_str_t  s;

    crc = crc32(crc32(0, (const Bytef *) type, 4), data, len);

    png_save_uint_32(be, len);
    s = unit_image_copy(pool, be, 4);
    s = unit_image_join(pool, s, type, 4);
    s = unit_image_join(pool, s, data, len);
    png_save_uint_32(be, crc);

    return unit_image_join(pool, s, be, 4);
}


static inline ngx_str_t
unit_deflate(ngx_pool_t *pool, const void *data, size_t len)
{
    uLongf     size;
    ngx_str_t  s;

    size = compressBound(len);
    s.data = ngx_pnalloc(pool, size);
    compress2(s.data, &size, data, len, 9);
    s.len = size;

    return s;
}


/* Makes a gray PNG of 8 bits a pixel, with this IDAT and chunks before it. */

static inline ngx_str_t
unit_png_raw(ngx_pool_t *pool, uint32_t width, uint32_t height,
    ngx_str_t before, ngx_str_t idat)
{
    u_char     ihdr[13] = { 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0 };
    ngx_str_t  s, chunk;

    png_save_uint_32(ihdr, width);
    png_save_uint_32(ihdr + 4, height);

    s = unit_image_copy(pool, "\x89PNG\r\n\x1a\n", 8);
    chunk = unit_png_chunk(pool, "IHDR", ihdr, 13);
    s = unit_image_join(pool, s, chunk.data, chunk.len);
    s = unit_image_join(pool, s, before.data, before.len);
    chunk = unit_png_chunk(pool, "IDAT", idat.data, idat.len);
    s = unit_image_join(pool, s, chunk.data, chunk.len);
    chunk = unit_png_chunk(pool, "IEND", "", 0);

    return unit_image_join(pool, s, chunk.data, chunk.len);
}


static inline ngx_str_t
unit_jpeg(ngx_pool_t *pool, const unit_jpeg_t *j)
{
    int                          i, bytes;
    u_char                      *line, *out;
    ngx_str_t                    s;
    unsigned long                size;
    struct jpeg_error_mgr        error;
    struct jpeg_compress_struct  jpeg;

    out = NULL;
    size = 0;

    jpeg.err = jpeg_std_error(&error);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &out, &size);

    jpeg.image_width = j->width;
    jpeg.image_height = j->height;
    jpeg.input_components = j->components;
    jpeg.in_color_space = j->components == 1 ? JCS_GRAYSCALE
                          : j->components == 3 ? JCS_RGB : JCS_CMYK;

    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 60, TRUE);
    jpeg.restart_interval = j->restart;
    jpeg.arith_code = j->arithmetic;
    jpeg.comp_info[0].h_samp_factor = j->subsampled ? 2 : 1;
    jpeg.comp_info[0].v_samp_factor = j->subsampled ? 2 : 1;

    if (j->progressive) {
        jpeg_simple_progression(&jpeg);
    }

    jpeg_start_compress(&jpeg, TRUE);

    if (j->exif) {
        jpeg_write_marker(&jpeg, JPEG_APP0 + 1, (const JOCTET *) j->exif,
                          j->exif_len);
    }

    bytes = j->width * j->components;
    line = ngx_pcalloc(pool, bytes);

    while (jpeg.next_scanline < jpeg.image_height) {
        for (i = 0; i < bytes; i++) {
            line[i] = i * 3 + jpeg.next_scanline * 5;
        }

        jpeg_write_scanlines(&jpeg, &line, 1);
    }

    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);

    s = unit_image_copy(pool, out, size);
    free(out);

    return s;
}


static inline ngx_str_t
unit_webp(ngx_pool_t *pool, const unit_webp_t *w)
{
    int               i, n;
    ngx_str_t         s;
    WebPConfig        config;
    WebPPicture       picture;
    WebPMemoryWriter  writer;

    WebPConfigInit(&config);
    WebPPictureInit(&picture);
    WebPMemoryWriterInit(&writer);

    config.lossless = w->lossless;
    config.method = 0;
    config.quality = 30;
    config.exact = 1;

    picture.use_argb = 1;
    picture.width = w->width;
    picture.height = w->height;
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;

    WebPPictureAlloc(&picture);

    n = w->width * w->height;

    for (i = 0; i < n; i++) {
        picture.argb[i] = (w->noise ? (uint32_t) i * 2654435761u
                                    : (uint32_t) i * 0x010203)
                          | (w->alpha ? 0 : 0xff000000u);
    }

    if (w->alpha) {
        picture.argb[0] = 0x40102030;
    }

    WebPEncode(&config, &picture);

    s = unit_image_copy(pool, writer.mem, writer.size);

    WebPMemoryWriterClear(&writer);
    WebPPictureFree(&picture);

    return s;
}


#endif /* _NGX_UNIT_IMAGE_H_INCLUDED_ */
