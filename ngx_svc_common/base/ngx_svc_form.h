/*
 * application/x-www-form-urlencoded.
 */

#ifndef _NGX_SVC_FORM_H_INCLUDED_
#define _NGX_SVC_FORM_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_error.h"


#define NGX_SVC_FORM_MAX  1024      /* parameters that have a value */


typedef struct {
    ngx_str_t             name;
    ngx_str_t             value;        /* never empty */
} ngx_svc_form_pair_t;

/*
 * Pairs are sorted by name; those with the same name are in the order of the
 * text.
 */

typedef struct {
    ngx_uint_t            n;
    ngx_svc_form_pair_t  *pairs;
} ngx_svc_form_t;


/*
 * Decodes "+" and %XX in a text, into memory of the pool; the text itself is
 * not changed.  A NUL follows each name and value.  Pairs with an empty value
 * are dropped: they count as absent (RFC 6749, 3.1).
 *
 * Returns NGX_OK; NGX_DECLINED with err set (NGX_SVC_E_INVALID_REQUEST) for bad
 * percent-encoding, a NUL, a text that is not UTF-8, or more than
 * NGX_SVC_FORM_MAX parameters; or NGX_ERROR when memory runs out.  A detail,
 * here and below, is ASCII without '"' and "\" (RFC 6749, 5.2), whatever the
 * parameter's name is.
 */
NGX_SVC_API ngx_int_t ngx_svc_form_parse(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_form_t *form, ngx_svc_error_t *err);

/*
 * Finds the parameter with that name.  Returns NGX_OK, with value->data NULL
 * when it is absent; or NGX_DECLINED with err set when it is there more than
 * once.
 */
NGX_SVC_API ngx_int_t ngx_svc_form_value(const ngx_svc_form_t *form,
    const char *name, ngx_str_t *value, ngx_svc_error_t *err);

/*
 * Finds the i-th parameter with that name, from 0.  Returns NGX_OK, or
 * NGX_DECLINED when there are fewer.
 */
NGX_SVC_API ngx_int_t ngx_svc_form_nth(const ngx_svc_form_t *form,
    const char *name, ngx_uint_t i, ngx_str_t *value);

/*
 * Checks that no parameter is there twice but those of repeatable, which ends
 * with NULL.  Returns NGX_OK, or NGX_DECLINED with err set.
 */
NGX_SVC_API ngx_int_t ngx_svc_form_unique(const ngx_svc_form_t *form,
    const char *const *repeatable, ngx_svc_error_t *err);


#endif /* _NGX_SVC_FORM_H_INCLUDED_ */
