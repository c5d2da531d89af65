/*
 * Authorization requests: the resources that the tokens are for.
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_TARGETS_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_TARGETS_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


/*
 * Takes the resources into ar->resources and ar->resource_keys, each once.
 * These are texts of arrays, where nothing is escaped: no URI has a quote or a
 * backslash.  Returns NGX_OK; NGX_DECLINED with sr->error set; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_targets(ngx_svc_oauth_request_t *ar);


#endif /* _NGX_SVC_OAUTH_REQUEST_TARGETS_H_INCLUDED_ */
