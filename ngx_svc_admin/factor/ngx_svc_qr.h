/*
 * QR codes as SVG.
 */

#ifndef _NGX_SVC_QR_H_INCLUDED_
#define _NGX_SVC_QR_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_QR_TEXT_MAX  1536       /* bytes */
#define NGX_SVC_QR_QUIET     4          /* modules around it: ISO/IEC 18004 */


/*
 * Makes an <svg> element for an HTML page or a file, allocated from the pool: a
 * white square and one path, no scripts, no styles, no ids; a unit is a module.
 * It has at most 64 KB, for a usual otpauth URI 4 KB.
 *
 * Returns NGX_OK; NGX_DECLINED when the text is empty or longer than
 * NGX_SVC_QR_TEXT_MAX; NGX_ERROR when there is no memory.
 */
ngx_int_t ngx_svc_qr_svg(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_str_t *svg);


#endif /* _NGX_SVC_QR_H_INCLUDED_ */
