/*
 * WebP (RFC 9649): the RIFF container, then the pixels by libwebp.
 */

#include "ngx_svc_admin_image_format.h"

#include <webp/decode.h>


#define NGX_SVC_WEBP_HEADER    12   /* "RIFF", length, "WEBP" */
#define NGX_SVC_WEBP_CHUNK     8    /* type and length */
#define NGX_SVC_WEBP_ANIMATED  0x02
#define NGX_SVC_WEBP_LOSSLESS  5    /* bytes of VP8L's own header */


static ngx_int_t ngx_svc_webp_walk(const u_char *data, size_t len,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_webp_first(const u_char *chunk, uint32_t size,
    size_t rest, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_webp_size(const u_char *data, size_t len,
    WebPDecoderConfig *config, ngx_svc_error_t *err);
static VP8StatusCode ngx_svc_webp_decode(const u_char *data, size_t len,
    WebPDecoderConfig *config);
static VP8StatusCode ngx_svc_webp_alpha(const u_char *data, size_t len,
    const WebPBitstreamFeatures *image);
static const u_char *ngx_svc_webp_find(const u_char *data, size_t len,
    const char *type);
static VP8StatusCode ngx_svc_webp_alpha_lossless(const u_char *data,
    size_t len, const WebPBitstreamFeatures *image);
static ngx_int_t ngx_svc_webp_failed(VP8StatusCode status,
    ngx_svc_error_t *err);


ngx_int_t
ngx_svc_image_check_webp(const u_char *data, size_t len, ngx_svc_error_t *err)
{
    ngx_int_t          rc;
    VP8StatusCode      status;
    WebPDecoderConfig  config;

    rc = ngx_svc_webp_walk(data, len, err);
    if (rc != NGX_OK) {
        return rc;
    }

    if (!WebPInitDecoderConfig(&config)) {
        return NGX_ERROR;
    }

    rc = ngx_svc_webp_size(data, len, &config, err);
    if (rc != NGX_OK) {
        return rc;
    }

    status = ngx_svc_webp_decode(data, len, &config);

    if (status == VP8_STATUS_OUT_OF_MEMORY) {
        status = ngx_svc_webp_alpha(data, len, &config.input);
    }

    return ngx_svc_webp_failed(status, err);
}


/* Checks that the chunks fill the RIFF's length, and that it fills the body. */

static ngx_int_t
ngx_svc_webp_walk(const u_char *data, size_t len, ngx_svc_error_t *err)
{
    size_t         pos, rest;
    uint32_t       size;
    ngx_int_t      rc;
    const u_char  *chunk;

    size = ngx_svc_image_le32(data + 4);

    if (size != len - NGX_SVC_WEBP_CHUNK) {
        return ngx_svc_image_invalid(err,
                             "The WebP's RIFF header says that %uD bytes"
                             " follow it, but %uz do.", size,
                             len - NGX_SVC_WEBP_CHUNK);
    }

    pos = NGX_SVC_WEBP_HEADER;

    do {
        chunk = data + pos;
        rest = len - pos;

        size = rest < NGX_SVC_WEBP_CHUNK ? 0 : ngx_svc_image_le32(chunk + 4);

        if (rest < NGX_SVC_WEBP_CHUNK || rest - NGX_SVC_WEBP_CHUNK < size) {
            return ngx_svc_image_invalid(err,
                                 "The WebP breaks off: the chunk at byte %uz"
                                 " goes beyond the %uz bytes of the body.",
                                 pos, len);
        }

        if (pos == NGX_SVC_WEBP_HEADER) {
            rc = ngx_svc_webp_first(chunk, size, rest, err);
            if (rc != NGX_OK) {
                return rc;
            }
        }

        pos += NGX_SVC_WEBP_CHUNK + size;

        /*
         * the byte that makes a size even; some writers leave out the last one
         */

        if ((size & 1) && pos < len) {
            pos++;
        }

    } while (pos < len);

    return NGX_OK;
}


/*
 * Checks the first chunk.  Without VP8X it is the only one.  An animation is
 * refused: it has no still picture that a page could show instead.
 */

static ngx_int_t
ngx_svc_webp_first(const u_char *chunk, uint32_t size, size_t rest,
    ngx_svc_error_t *err)
{
    size_t  filled;

    if (ngx_memcmp(chunk, "VP8X", 4) == 0) {

        if (size && (chunk[NGX_SVC_WEBP_CHUNK] & NGX_SVC_WEBP_ANIMATED)) {
            return ngx_svc_fail(err, NGX_SVC_E_UNSUPPORTED_IMAGE,
                                "The WebP is animated; it must be a still"
                                " image.");
        }

        return NGX_OK;
    }

    if (ngx_memcmp(chunk, "VP8 ", 4) != 0
        && ngx_memcmp(chunk, "VP8L", 4) != 0)
    {
        return ngx_svc_image_invalid(err,
                             "The WebP's first chunk, at byte %d, is not VP8,"
                             " VP8L or VP8X.", NGX_SVC_WEBP_HEADER);
    }

    filled = NGX_SVC_WEBP_CHUNK + size;

    if (rest - filled > (size & 1)) {
        return ngx_svc_image_invalid(err,
                             "The WebP ends at byte %uz with its picture, but"
                             " %uz bytes follow; only with a VP8X chunk there"
                             " may be more.", NGX_SVC_WEBP_HEADER + filled,
                             rest - filled);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webp_size(const u_char *data, size_t len, WebPDecoderConfig *config,
    ngx_svc_error_t *err)
{
    VP8StatusCode  status;

    status = WebPGetFeatures(data, len, &config->input);

    if (status != VP8_STATUS_OK) {
        return ngx_svc_webp_failed(status, err);
    }

    if ((int64_t) config->input.width * config->input.height
        > NGX_SVC_IMAGE_PIXELS)
    {
        return ngx_svc_fail(err, NGX_SVC_E_IMAGE_DIMENSIONS,
                            "The image is %d x %d pixels; a WebP may have %d in"
                            " all at most.", config->input.width,
                            config->input.height, NGX_SVC_IMAGE_PIXELS);
    }

    return NGX_OK;
}


/* Everything is decoded up to the last pixel, which alone is kept. */

static VP8StatusCode
ngx_svc_webp_decode(const u_char *data, size_t len, WebPDecoderConfig *config)
{
    VP8StatusCode  status;

    config->options.use_cropping = 1;
    config->options.crop_left = config->input.width - 1;
    config->options.crop_top = config->input.height - 1;
    config->options.crop_width = 1;
    config->options.crop_height = 1;
    config->output.colorspace = MODE_RGBA;

    status = WebPDecode(data, len, config);

    WebPFreeDecBuffer(&config->output);

    return status;
}


/*
 * Finds out why an alpha plane failed: libwebp from 1.3 on says that memory ran
 * out when it cannot begin to decode one, although it may be damaged.  The
 * header is that of RFC 9649, 2.7.1.2.
 */

static VP8StatusCode
ngx_svc_webp_alpha(const u_char *data, size_t len,
    const WebPBitstreamFeatures *image)
{
    size_t         size;
    ngx_uint_t     compression, preprocessing;
    const u_char  *chunk;

    chunk = ngx_svc_webp_find(data, len, "ALPH");
    if (chunk == NULL) {
        return VP8_STATUS_OUT_OF_MEMORY;
    }

    size = ngx_svc_image_le32(chunk + 4);
    chunk += NGX_SVC_WEBP_CHUNK;

    if (size < 2) {
        return VP8_STATUS_NOT_ENOUGH_DATA;
    }

    compression = chunk[0] & 3;
    preprocessing = chunk[0] >> 4 & 3;

    if (compression > 1 || preprocessing > 1 || chunk[0] >> 6) {
        return VP8_STATUS_BITSTREAM_ERROR;
    }

    chunk++;
    size--;

    if (compression == 1) {
        return ngx_svc_webp_alpha_lossless(chunk, size, image);
    }

    return size < (size_t) image->width * image->height
           ? VP8_STATUS_NOT_ENOUGH_DATA : VP8_STATUS_OUT_OF_MEMORY;
}


/* Finds a chunk of a container that has been checked. */

static const u_char *
ngx_svc_webp_find(const u_char *data, size_t len, const char *type)
{
    size_t    pos;
    uint32_t  size;

    for (pos = NGX_SVC_WEBP_HEADER; pos < len; /* void */) {

        if (ngx_memcmp(data + pos, type, 4) == 0) {
            return data + pos;
        }

        size = ngx_svc_image_le32(data + pos + 4);
        pos += NGX_SVC_WEBP_CHUNK + size + (size & 1);
    }

    return NULL;
}


/* The plane is a lossless image that lacks the header. */

static VP8StatusCode
ngx_svc_webp_alpha_lossless(const u_char *data, size_t len,
    const WebPBitstreamFeatures *image)
{
    u_char             *copy, *p;
    uint32_t            sides;
    VP8StatusCode       status;
    WebPDecoderConfig   config;

    copy = malloc(NGX_SVC_WEBP_LOSSLESS + len);
    if (copy == NULL || !WebPInitDecoderConfig(&config)) {
        free(copy);
        return VP8_STATUS_OUT_OF_MEMORY;
    }

    sides = (uint32_t) (image->width - 1)
            | (uint32_t) (image->height - 1) << 14;

    p = copy;
    *p++ = 0x2f;
    *p++ = (u_char) sides;
    *p++ = (u_char) (sides >> 8);
    *p++ = (u_char) (sides >> 16);
    *p++ = (u_char) (sides >> 24);
    ngx_memcpy(p, data, len);

    config.input = *image;
    status = ngx_svc_webp_decode(copy, NGX_SVC_WEBP_LOSSLESS + len, &config);

    free(copy);

    return status == VP8_STATUS_OK ? VP8_STATUS_OUT_OF_MEMORY : status;
}


static ngx_int_t
ngx_svc_webp_failed(VP8StatusCode status, ngx_svc_error_t *err)
{
    switch (status) {

    case VP8_STATUS_OK:
        return NGX_OK;

    case VP8_STATUS_OUT_OF_MEMORY:
        return NGX_ERROR;

    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
        return ngx_svc_image_invalid(err,
                             "The WebP cannot be decoded: the picture's data"
                             " break off.");

    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return ngx_svc_image_invalid(err,
                             "The WebP cannot be decoded: it uses what libwebp"
                             " does not know.");

    default:
        return ngx_svc_image_invalid(err,
                             "The WebP cannot be decoded: the picture's data"
                             " are damaged.");
    }
}
