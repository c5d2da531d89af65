/*
 * What the public sees of a tenant, from rows to answers.
 */

#ifndef _NGX_SVC_ADMIN_PUBLIC_ANSWER_H_INCLUDED_
#define _NGX_SVC_ADMIN_PUBLIC_ANSWER_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_cache.h"


/*
 * A row as an object, or a logo's.  Results are gone when the answer is still
 * being sent: all is copied to the request's pool.  Without a logo nothing is
 * found.  NGX_ERROR: memory, or a column that is not what it must be.
 */
ngx_int_t ngx_svc_admin_json_answer(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer);
ngx_int_t ngx_svc_admin_logo_answer(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer);


#endif /* _NGX_SVC_ADMIN_PUBLIC_ANSWER_H_INCLUDED_ */
