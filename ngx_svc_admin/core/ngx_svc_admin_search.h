/*
 * Lists that are searched.
 */

#ifndef _NGX_SVC_ADMIN_SEARCH_H_INCLUDED_
#define _NGX_SVC_ADMIN_SEARCH_H_INCLUDED_


#include "ngx_svc_admin.h"


/*
 * The check hook of a list with a "q" that has no bound: a search is slow work,
 * as is a page far behind.
 */
ngx_int_t ngx_svc_admin_search_check(ngx_svc_request_t *sr, void *body);


#endif /* _NGX_SVC_ADMIN_SEARCH_H_INCLUDED_ */
