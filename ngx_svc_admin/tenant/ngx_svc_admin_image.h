/*
 * Checks whether bytes are a picture that a browser can show.
 *
 * A header and a right end do not tell: pixels that are missing, damaged or
 * have a wrong checksum are only found by decoding them, and would be a broken
 * picture on the sign-in page.
 *
 * Meant for a thread: uses no pool, no log, no file and nothing shared.  Memory
 * comes from malloc() and is freed before a check returns.
 */

#ifndef _NGX_SVC_ADMIN_IMAGE_H_INCLUDED_
#define _NGX_SVC_ADMIN_IMAGE_H_INCLUDED_


#include "ngx_svc_error.h"


/* the most for PNG and JPEG */
#define NGX_SVC_IMAGE_SIDE    2000

/* the most for WebP, whose sides are not limited: decoding may cost so much */
#define NGX_SVC_IMAGE_PIXELS  (4096 * 4096)

/* the most for one JPEG */
#define NGX_SVC_IMAGE_SCANS   100


typedef enum {
    NGX_SVC_IMAGE_PNG = 0,
    NGX_SVC_IMAGE_JPEG,
    NGX_SVC_IMAGE_WEBP,
    NGX_SVC_IMAGE_LAST
} ngx_svc_image_type_e;


/*
 * Finds the type by the bytes alone, and decodes all pixels.
 *
 * Returns NGX_OK with *type; NGX_DECLINED with err set (UNSUPPORTED_IMAGE,
 * INVALID_IMAGE or IMAGE_DIMENSIONS); NGX_ERROR when memory is short.
 */
ngx_int_t ngx_svc_image_check(const u_char *data, size_t len,
    ngx_svc_image_type_e *type, ngx_svc_error_t *err);

const ngx_str_t *ngx_svc_image_content_type(ngx_svc_image_type_e type);


#endif /* _NGX_SVC_ADMIN_IMAGE_H_INCLUDED_ */
