/*
 * JPEG (ITU-T T.81): the markers, then the pixels by libjpeg.
 *
 * The one frame header (SOF) has the size; the size in a thumbnail or Exif, in
 * an APPn segment, does not matter.
 */

#include "ngx_svc_admin_image_format.h"

#include <jpeglib.h>
#include <jerror.h>
#include <setjmp.h>


#define NGX_SVC_JPEG_TEM      0x01
#define NGX_SVC_JPEG_SOF0     0xc0
#define NGX_SVC_JPEG_SOF2     0xc2
#define NGX_SVC_JPEG_DHT      0xc4
#define NGX_SVC_JPEG_JPG      0xc8
#define NGX_SVC_JPEG_DAC      0xcc
#define NGX_SVC_JPEG_SOF15    0xcf
#define NGX_SVC_JPEG_RST0     0xd0
#define NGX_SVC_JPEG_RST7     0xd7
#define NGX_SVC_JPEG_SOI      0xd8
#define NGX_SVC_JPEG_EOI      0xd9
#define NGX_SVC_JPEG_SOS      0xda

/*
 * A progressive picture of 2000 x 2000 pixels with four components takes 32M;
 * more would go to a file, which libjpeg-turbo's own allocator refuses.
 */
#define NGX_SVC_JPEG_MEMORY   (64 * 1024 * 1024)


typedef struct {
    const u_char     *data;
    size_t            len;
    size_t            pos;
    ngx_uint_t        frames;
    ngx_uint_t        scans;
    ngx_svc_error_t  *err;
} ngx_svc_jpeg_walk_t;


typedef struct {
    struct jpeg_error_mgr  base;        /* first: libjpeg knows this */
    jmp_buf                jump;
    ngx_svc_error_t       *err;
    unsigned               no_memory:1;
} ngx_svc_jpeg_error_t;


static ngx_int_t ngx_svc_jpeg_walk(ngx_svc_jpeg_walk_t *w);
static ngx_uint_t ngx_svc_jpeg_marker(ngx_svc_jpeg_walk_t *w);
static ngx_int_t ngx_svc_jpeg_segment(ngx_svc_jpeg_walk_t *w,
    ngx_uint_t code);
static ngx_int_t ngx_svc_jpeg_frame(ngx_svc_jpeg_walk_t *w, ngx_uint_t code,
    size_t size);
static ngx_int_t ngx_svc_jpeg_scan(ngx_svc_jpeg_walk_t *w);
static ngx_int_t ngx_svc_jpeg_broken_off(ngx_svc_jpeg_walk_t *w);
static ngx_int_t ngx_svc_jpeg_end(ngx_svc_jpeg_walk_t *w);
static ngx_int_t ngx_svc_jpeg_decode(struct jpeg_decompress_struct *jpeg,
    const u_char *data, size_t len);
static void ngx_svc_jpeg_exit(j_common_ptr jpeg);
static void ngx_svc_jpeg_warning(j_common_ptr jpeg, int level);
static void ngx_svc_jpeg_silent(j_common_ptr jpeg);


ngx_int_t
ngx_svc_image_check_jpeg(const u_char *data, size_t len, ngx_svc_error_t *err)
{
    ngx_int_t                      rc;
    ngx_svc_jpeg_walk_t            w;
    ngx_svc_jpeg_error_t           error;
    struct jpeg_decompress_struct  jpeg;

    ngx_memzero(&w, sizeof(ngx_svc_jpeg_walk_t));
    w.data = data;
    w.len = len;
    w.err = err;

    rc = ngx_svc_jpeg_walk(&w);
    if (rc != NGX_OK) {
        return rc;
    }

    ngx_memzero(&jpeg, sizeof(struct jpeg_decompress_struct));
    ngx_memzero(&error, sizeof(ngx_svc_jpeg_error_t));

    jpeg.err = jpeg_std_error(&error.base);
    error.base.error_exit = ngx_svc_jpeg_exit;
    error.base.emit_message = ngx_svc_jpeg_warning;
    error.base.output_message = ngx_svc_jpeg_silent;
    error.err = err;

    rc = ngx_svc_jpeg_decode(&jpeg, data, w.pos);

    jpeg_destroy_decompress(&jpeg);

    return rc;
}


/*
 * Checks for one frame, its scans, EOI, and nothing but zeros behind it; pos is
 * left behind EOI.
 */

static ngx_int_t
ngx_svc_jpeg_walk(ngx_svc_jpeg_walk_t *w)
{
    ngx_int_t   rc;
    ngx_uint_t  code;

    w->pos = 2;

    for ( ;; ) {
        code = ngx_svc_jpeg_marker(w);

        if (code == 0) {
            return NGX_DECLINED;
        }

        if (code == NGX_SVC_JPEG_EOI) {
            return ngx_svc_jpeg_end(w);
        }

        rc = ngx_svc_jpeg_segment(w, code);
        if (rc != NGX_OK) {
            return rc;
        }
    }
}


/*
 * Returns the code of the marker at pos, and moves pos behind it; 0 with the
 * error set.
 */

static ngx_uint_t
ngx_svc_jpeg_marker(ngx_svc_jpeg_walk_t *w)
{
    size_t      start;
    ngx_uint_t  code;

    start = w->pos;

    while (w->pos < w->len && w->data[w->pos] == 0xff) {
        w->pos++;
    }

    if (w->pos == w->len) {
        (void) ngx_svc_jpeg_broken_off(w);
        return 0;
    }

    code = w->data[w->pos++];

    if (w->pos - start == 1 || code <= NGX_SVC_JPEG_TEM
        || (code >= NGX_SVC_JPEG_RST0 && code <= NGX_SVC_JPEG_SOI))
    {
        (void) ngx_svc_image_invalid(w->err,
                                     "The JPEG is damaged: no segment begins"
                                     " at byte %uz.", start);
        return 0;
    }

    return code;
}


static ngx_int_t
ngx_svc_jpeg_segment(ngx_svc_jpeg_walk_t *w, ngx_uint_t code)
{
    size_t     size;
    ngx_int_t  rc;

    if (w->len - w->pos < 2) {
        return ngx_svc_jpeg_broken_off(w);
    }

    size = ngx_svc_image_be16(w->data + w->pos);

    if (size < 2 || w->len - w->pos < size) {
        return ngx_svc_jpeg_broken_off(w);
    }

    if (code >= NGX_SVC_JPEG_SOF0 && code <= NGX_SVC_JPEG_SOF15
        && code != NGX_SVC_JPEG_DHT && code != NGX_SVC_JPEG_JPG
        && code != NGX_SVC_JPEG_DAC)
    {
        rc = ngx_svc_jpeg_frame(w, code, size);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    w->pos += size;

    return code == NGX_SVC_JPEG_SOS ? ngx_svc_jpeg_scan(w) : NGX_OK;
}


static ngx_int_t
ngx_svc_jpeg_frame(ngx_svc_jpeg_walk_t *w, ngx_uint_t code, size_t size)
{
    ngx_int_t      rc;
    const u_char  *p;

    if (w->frames++) {
        return ngx_svc_image_invalid(w->err,
                                     "The JPEG has a second frame at byte"
                                     " %uz; it must have one.", w->pos - 2);
    }

    if (size < 8) {
        return ngx_svc_jpeg_broken_off(w);
    }

    p = w->data + w->pos;

    rc = ngx_svc_image_sides(ngx_svc_image_be16(p + 5),
                             ngx_svc_image_be16(p + 3), w->err);
    if (rc != NGX_OK) {
        return rc;
    }

    /* libjpeg supports arithmetic coding, browsers do not */

    if (code > NGX_SVC_JPEG_SOF2) {
        return ngx_svc_image_invalid(w->err,
                                     "The JPEG's coding (SOF%ui) is one that"
                                     " browsers do not know; it must be"
                                     " baseline or progressive.",
                                     code - NGX_SVC_JPEG_SOF0);
    }

    if (p[7] != 1 && p[7] != 3 && p[7] != 4) {
        return ngx_svc_image_invalid(w->err,
                                     "The JPEG has %ui color components; it"
                                     " must have 1, 3 or 4.",
                                     (ngx_uint_t) p[7]);
    }

    return NGX_OK;
}


/* Skips the entropy-coded data, up to the marker behind it. */

static ngx_int_t
ngx_svc_jpeg_scan(ngx_svc_jpeg_walk_t *w)
{
    u_char         code;
    const u_char  *p, *end;

    if (++w->scans > NGX_SVC_IMAGE_SCANS) {
        return ngx_svc_image_invalid(w->err,
                                     "The JPEG has more than %d scans.",
                                     NGX_SVC_IMAGE_SCANS);
    }

    p = w->data + w->pos;
    end = w->data + w->len;

    for ( ;; ) {
        p = memchr(p, 0xff, end - p);

        if (p == NULL || end - p < 2) {
            return ngx_svc_jpeg_broken_off(w);
        }

        code = p[1];

        if (code != 0
            && (code < NGX_SVC_JPEG_RST0 || code > NGX_SVC_JPEG_RST7))
        {
            w->pos = p - w->data;
            return NGX_OK;
        }

        p += 2;
    }
}


static ngx_int_t
ngx_svc_jpeg_broken_off(ngx_svc_jpeg_walk_t *w)
{
    return ngx_svc_image_invalid(w->err,
                                 "The JPEG breaks off: what begins at byte %uz"
                                 " goes beyond its end; the last bytes must be"
                                 " FF D9.", w->pos);
}


static ngx_int_t
ngx_svc_jpeg_end(ngx_svc_jpeg_walk_t *w)
{
    size_t  i;

    if (w->frames == 0 || w->scans == 0) {
        return ngx_svc_image_invalid(w->err, "The JPEG has no picture in it.");
    }

    for (i = w->pos; i < w->len; i++) {
        if (w->data[i] != 0) {
            return ngx_svc_image_invalid(w->err,
                                         "The JPEG ends at byte %uz with"
                                         " FF D9, but %uz bytes follow; the"
                                         " body must end there.", w->pos,
                                         w->len - w->pos);
        }
    }

    return NGX_OK;
}


/* The caller destroys *jpeg, and the row with it. */

static ngx_int_t
ngx_svc_jpeg_decode(struct jpeg_decompress_struct *jpeg, const u_char *data,
    size_t len)
{
    JSAMPARRAY             row;
    ngx_svc_jpeg_error_t  *error;

    error = (ngx_svc_jpeg_error_t *) jpeg->err;

    if (setjmp(error->jump)) {
        return error->no_memory ? NGX_ERROR : NGX_DECLINED;
    }

    jpeg_create_decompress(jpeg);
    jpeg->mem->max_memory_to_use = NGX_SVC_JPEG_MEMORY;

    jpeg_mem_src(jpeg, data, len);
    jpeg_read_header(jpeg, TRUE);

    jpeg->do_block_smoothing = FALSE;
    jpeg_start_decompress(jpeg);

    row = jpeg->mem->alloc_sarray((j_common_ptr) jpeg, JPOOL_IMAGE,
                          jpeg->output_width * jpeg->output_components, 1);

    while (jpeg->output_scanline < jpeg->output_height) {
        jpeg_read_scanlines(jpeg, row, 1);
    }

    jpeg_finish_decompress(jpeg);

    return NGX_OK;
}


static void
ngx_svc_jpeg_exit(j_common_ptr jpeg)
{
    char                   message[JMSG_LENGTH_MAX];
    ngx_svc_jpeg_error_t  *error;

    error = (ngx_svc_jpeg_error_t *) jpeg->err;

    if (error->base.msg_code == JERR_OUT_OF_MEMORY) {
        error->no_memory = 1;

    } else {
        error->base.format_message(jpeg, message);
        (void) ngx_svc_image_invalid(error->err,
                                     "The JPEG cannot be decoded: %s.",
                                     message);
    }

    longjmp(error->jump, 1);
}


/* Damage is a warning of libjpeg (level -1), and an error here. */

static void
ngx_svc_jpeg_warning(j_common_ptr jpeg, int level)
{
    if (level >= 0 || jpeg->err->msg_code == JWRN_ADOBE_XFORM
        || jpeg->err->msg_code == JWRN_JFIF_MAJOR)
    {
        return;
    }

    ngx_svc_jpeg_exit(jpeg);
}


static void
ngx_svc_jpeg_silent(j_common_ptr jpeg)
{
}
