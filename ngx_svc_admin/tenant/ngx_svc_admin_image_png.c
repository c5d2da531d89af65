/*
 * PNG (ISO/IEC 15948): the chunks, then the pixels by libpng.
 *
 * libpng is given the data rather than asked for rows: so it stops inflating
 * where the rows end, while png_read_row() would inflate a bomb behind them to
 * its end.
 */

#include "ngx_svc_admin_image_format.h"

#include <png.h>
#include <setjmp.h>


#define NGX_SVC_PNG_MAGIC  8
#define NGX_SVC_PNG_CHUNK  12       /* length, type and CRC */


typedef struct {
    ngx_svc_error_t  *err;
    ngx_uint_t        expected;     /* rows in all passes */
    ngx_uint_t        rows;
    unsigned          no_memory:1;
    unsigned          ended:1;
} ngx_svc_png_t;


static ngx_int_t ngx_svc_png_walk(const u_char *data, size_t len,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_png_header(const u_char *chunk, uint32_t size,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_png_decode(png_structp png, png_infop info,
    const u_char *data, size_t len, ngx_svc_png_t *ctx);
static void ngx_svc_png_options(png_structp png, size_t len);
static void ngx_svc_png_info(png_structp png, png_infop info);
static void ngx_svc_png_row(png_structp png, png_bytep row, png_uint_32 n,
    int pass);
static void ngx_svc_png_end(png_structp png, png_infop info);
static void ngx_svc_png_error(png_structp png, png_const_charp message);
static png_voidp ngx_svc_png_alloc(png_structp png, png_alloc_size_t size);
static void ngx_svc_png_free(png_structp png, png_voidp p);


ngx_int_t
ngx_svc_image_check_png(const u_char *data, size_t len, ngx_svc_error_t *err)
{
    ngx_int_t      rc;
    png_infop      info;
    png_structp    png;
    ngx_svc_png_t  ctx;

    rc = ngx_svc_png_walk(data, len, err);
    if (rc != NGX_OK) {
        return rc;
    }

    ngx_memzero(&ctx, sizeof(ngx_svc_png_t));
    ctx.err = err;

    /* warnings are errors, too: see ngx_svc_png_options() */

    png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &ctx,
                                   ngx_svc_png_error, ngx_svc_png_error, &ctx,
                                   ngx_svc_png_alloc, ngx_svc_png_free);
    if (png == NULL) {
        return NGX_ERROR;
    }

    info = png_create_info_struct(png);

    if (info) {
        rc = ngx_svc_png_decode(png, info, data, len, &ctx);

    } else {
        rc = NGX_ERROR;
    }

    png_destroy_read_struct(&png, &info, NULL);

    return rc;
}


/* IHDR must be first, IEND last, with nothing behind it. */

static ngx_int_t
ngx_svc_png_walk(const u_char *data, size_t len, ngx_svc_error_t *err)
{
    size_t         pos, rest;
    uint32_t       size;
    const u_char  *chunk;

    for (pos = NGX_SVC_PNG_MAGIC; /* void */; pos += size + NGX_SVC_PNG_CHUNK) {
        chunk = data + pos;
        rest = len - pos;

        size = rest < NGX_SVC_PNG_CHUNK ? 0 : ngx_svc_image_be32(chunk);

        if (rest < NGX_SVC_PNG_CHUNK || rest - NGX_SVC_PNG_CHUNK < size) {
            return ngx_svc_image_invalid(err,
                                 "The PNG breaks off: the chunk at byte %uz"
                                 " goes beyond the %uz bytes of the body; the"
                                 " last chunk must be IEND.", pos, len);
        }

        if (pos == NGX_SVC_PNG_MAGIC
            && ngx_svc_png_header(chunk, size, err) != NGX_OK)
        {
            return NGX_DECLINED;
        }

        if (ngx_memcmp(chunk + 4, "IEND", 4) == 0) {
            break;
        }
    }

    rest -= size + NGX_SVC_PNG_CHUNK;

    if (rest) {
        return ngx_svc_image_invalid(err,
                             "The PNG ends at byte %uz with its IEND chunk,"
                             " but %uz bytes follow; the body must end there.",
                             len - rest, rest);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_png_header(const u_char *chunk, uint32_t size, ngx_svc_error_t *err)
{
    if (size != 13 || ngx_memcmp(chunk + 4, "IHDR", 4) != 0) {
        return ngx_svc_image_invalid(err,
                             "The PNG's first chunk, at byte %d, is not IHDR"
                             " of 13 bytes.", NGX_SVC_PNG_MAGIC);
    }

    return ngx_svc_image_sides(ngx_svc_image_be32(chunk + 8),
                               ngx_svc_image_be32(chunk + 12), err);
}


static ngx_int_t
ngx_svc_png_decode(png_structp png, png_infop info, const u_char *data,
    size_t len, ngx_svc_png_t *ctx)
{
    if (setjmp(png_jmpbuf(png))) {
        return ctx->no_memory ? NGX_ERROR : NGX_DECLINED;
    }

    ngx_svc_png_options(png, len);
    png_set_progressive_read_fn(png, ctx, ngx_svc_png_info, ngx_svc_png_row,
                                ngx_svc_png_end);

    /* libpng only reads the data: its interface is older than const */

    png_process_data(png, info, (png_bytep) data, len);

    if (!ctx->ended || ctx->rows != ctx->expected) {
        return ngx_svc_image_invalid(ctx->err,
                             "The PNG has pixels for %ui rows of %ui.",
                             ctx->rows, ctx->expected);
    }

    return NGX_OK;
}


/*
 * Skips ancillary chunks, of which only the CRC is checked: a text or a profile
 * that inflates to gigabytes is never inflated.  The warnings that libpng can
 * still give are about pixels.
 */

static void
ngx_svc_png_options(png_structp png, size_t len)
{
    static const png_byte  transparency[] = "tRNS";

    png_set_user_limits(png, NGX_SVC_IMAGE_SIDE, NGX_SVC_IMAGE_SIDE);
    png_set_chunk_malloc_max(png, len);
    png_set_chunk_cache_max(png, 1);

    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);

    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, transparency, 1);
}


/* libpng calls this before the first row. */

static void
ngx_svc_png_info(png_structp png, png_infop info)
{
    int             pass;
    png_uint_32     width, height;
    ngx_svc_png_t  *ctx;

    ctx = png_get_progressive_ptr(png);

    width = png_get_image_width(png, info);
    height = png_get_image_height(png, info);

    if (png_get_interlace_type(png, info) == PNG_INTERLACE_NONE) {
        ctx->expected = height;

    } else {
        for (pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
            if (PNG_PASS_COLS(width, pass)) {
                ctx->expected += PNG_PASS_ROWS(height, pass);
            }
        }
    }

    png_start_read_image(png);
}


static void
ngx_svc_png_row(png_structp png, png_bytep row, png_uint_32 n, int pass)
{
    ngx_svc_png_t  *ctx;

    ctx = png_get_progressive_ptr(png);
    ctx->rows++;
}


static void
ngx_svc_png_end(png_structp png, png_infop info)
{
    ngx_svc_png_t  *ctx;

    ctx = png_get_progressive_ptr(png);
    ctx->ended = 1;
}


static void
ngx_svc_png_error(png_structp png, png_const_charp message)
{
    ngx_svc_png_t  *ctx;

    ctx = png_get_error_ptr(png);

    if (!ctx->no_memory) {
        (void) ngx_svc_image_invalid(ctx->err,
                                     "The PNG cannot be decoded: %s.", message);
    }

    png_longjmp(png, 1);
}


static png_voidp
ngx_svc_png_alloc(png_structp png, png_alloc_size_t size)
{
    void           *p;
    ngx_svc_png_t  *ctx;

    p = malloc(size);

    if (p == NULL) {
        ctx = png_get_mem_ptr(png);
        ctx->no_memory = 1;
    }

    return p;
}


static void
ngx_svc_png_free(png_structp png, png_voidp p)
{
    free(p);
}
