/*
 * A page that posts the response to an authorization request (OAuth 2.0 Form
 * Post Response Mode).
 */

#ifndef _NGX_SVC_OAUTH_FORM_POST_H_INCLUDED_
#define _NGX_SVC_OAUTH_FORM_POST_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * A parameter of the response; an array of them ends with a name that is NULL.
 */

typedef struct {
    const char  *name;      /* of letters and "_" */
    ngx_str_t    value;     /* no data: it is left out */
} ngx_svc_oauth_field_t;


/* The Content-Security-Policy that goes with the page. */
extern ngx_str_t  ngx_svc_oauth_form_post_policy;

/*
 * Writes the page, in the pool. uri and the values may be any UTF-8.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_form_post(ngx_pool_t *pool, const ngx_str_t *uri,
    const ngx_svc_oauth_field_t *fields, ngx_str_t *page);


#endif /* _NGX_SVC_OAUTH_FORM_POST_H_INCLUDED_ */
