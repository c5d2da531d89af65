/*
 * A check that admits only JSON that every reader reads the same way.
 *
 * cJSON alone takes text after the value, numbers such as "01" or "1e999", raw
 * control characters, NUL, and bytes that are no UTF-8; its tree does not show
 * them any more.
 */

#ifndef _NGX_SVC_JSON_CHECK_H_INCLUDED_
#define _NGX_SVC_JSON_CHECK_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_error.h"


#define NGX_SVC_JSON_MAX_DEPTH     64       /* nested arrays and objects */
#define NGX_SVC_JSON_MAX_VALUES    262144   /* in one body */


/*
 * Checks that a text is JSON as of RFC 8259 and, beyond it: valid UTF-8, no NUL
 * (raw or \u0000), no lone surrogate, finite numbers of at most 63 bytes (cJSON
 * reads no more), and within NGX_SVC_JSON_MAX_DEPTH and
 * NGX_SVC_JSON_MAX_VALUES.  The text is not changed, and no memory allocated.
 *
 * Returns NGX_OK, or NGX_DECLINED with err set (NGX_SVC_E_INVALID_SYNTAX; the
 * detail says what is wrong, and at which byte).
 */
NGX_SVC_API ngx_int_t ngx_svc_json_check(const u_char *text, size_t len,
    ngx_svc_error_t *err);


#endif /* _NGX_SVC_JSON_CHECK_H_INCLUDED_ */
