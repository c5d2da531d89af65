/*
 * The common parts of the formats of pictures.
 */

#include "ngx_svc_admin_image_format.h"


ngx_int_t
ngx_svc_image_sides(uint32_t width, uint32_t height, ngx_svc_error_t *err)
{
    if (width == 0 || height == 0) {
        return ngx_svc_image_invalid(err,
                             "The image is %uD x %uD pixels; a side must have"
                             " 1 at least.", width, height);
    }

    if (width > NGX_SVC_IMAGE_SIDE || height > NGX_SVC_IMAGE_SIDE) {
        return ngx_svc_fail(err, NGX_SVC_E_IMAGE_DIMENSIONS,
                            "The image is %uD x %uD pixels; a side may have"
                            " %d at most.", width, height, NGX_SVC_IMAGE_SIDE);
    }

    return NGX_OK;
}
