/*
 * The formats of pictures; for the ngx_svc_admin_image*.c.
 */

#ifndef _NGX_SVC_ADMIN_IMAGE_FORMAT_H_INCLUDED_
#define _NGX_SVC_ADMIN_IMAGE_FORMAT_H_INCLUDED_


#include "ngx_svc_admin_image.h"


/* Each checks one format; the bytes begin with the format's magic. */

/* ngx_svc_admin_image_png.c */
ngx_int_t ngx_svc_image_check_png(const u_char *data, size_t len,
    ngx_svc_error_t *err);

/* ngx_svc_admin_image_jpeg.c */
ngx_int_t ngx_svc_image_check_jpeg(const u_char *data, size_t len,
    ngx_svc_error_t *err);

/* ngx_svc_admin_image_webp.c */
ngx_int_t ngx_svc_image_check_webp(const u_char *data, size_t len,
    ngx_svc_error_t *err);

/*
 * Used by these: NGX_OK when both sides are from 1 to NGX_SVC_IMAGE_SIDE, else
 * NGX_DECLINED with err set.
 */
ngx_int_t ngx_svc_image_sides(uint32_t width, uint32_t height,
    ngx_svc_error_t *err);


#define ngx_svc_image_invalid(err, ...)                                       \
    ngx_svc_fail(err, NGX_SVC_E_INVALID_IMAGE, __VA_ARGS__)

#define ngx_svc_image_be16(p)                                                 \
    ((uint32_t) (p)[0] << 8 | (uint32_t) (p)[1])

#define ngx_svc_image_be32(p)                                                 \
    (ngx_svc_image_be16(p) << 16 | ngx_svc_image_be16((p) + 2))

#define ngx_svc_image_le32(p)                                                 \
    ((uint32_t) (p)[3] << 24 | (uint32_t) (p)[2] << 16                        \
     | (uint32_t) (p)[1] << 8 | (uint32_t) (p)[0])


#endif /* _NGX_SVC_ADMIN_IMAGE_FORMAT_H_INCLUDED_ */
