/*
 * Checks what the check of images says about some bytes, and makes small images
 * to begin with.
 */

#ifndef _NGX_UNIT_IMAGE_CHECK_H_INCLUDED_
#define _NGX_UNIT_IMAGE_CHECK_H_INCLUDED_


#include "ngx_unit.h"
#include "ngx_unit_image.h"
#include "ngx_svc_admin_image.h"


#define NONE         NGX_SVC_E_NONE
#define UNSUPPORTED  NGX_SVC_E_UNSUPPORTED_IMAGE
#define INVALID      NGX_SVC_E_INVALID_IMAGE
#define DIMENSIONS   NGX_SVC_E_IMAGE_DIMENSIONS

#define bytes(s)     (s), sizeof(s) - 1


static const unit_png_t   tiny_png = { 5, 3, PNG_COLOR_TYPE_RGB, 8, 0, 0 };
static const unit_jpeg_t  tiny_jpeg = { 9, 7, 3, 0, 0, 0, 0, NULL, 0 };
static const unit_webp_t  tiny_lossy = { 9, 7, 0, 0, 0 };
static const unit_webp_t  tiny_lossless = { 9, 7, 1, 0, 0 };
static const unit_webp_t  tiny_alpha = { 9, 7, 0, 1, 0 };


/* Copies the bytes to memory of exactly their length, for ASan. */

static inline void
check(const char *row, ngx_str_t image, ngx_svc_error_e kind,
    const char *detail)
{
    u_char                *exact;
    ngx_int_t              rc;
    ngx_svc_error_t        err;
    ngx_svc_image_type_e   type;

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    exact = malloc(image.len);
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


static inline ngx_str_t
text(ngx_pool_t *pool, const char *data, size_t len)
{
    return unit_image_copy(pool, data, len);
}


/*
 * Checks that no part from the beginning is an image, nor one with a byte more.
 */

static inline void
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


#endif /* _NGX_UNIT_IMAGE_CHECK_H_INCLUDED_ */
