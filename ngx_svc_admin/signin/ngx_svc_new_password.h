/*
 * A new password: what the policy of its user asks of it, and its hash.
 */

#ifndef _NGX_SVC_NEW_PASSWORD_H_INCLUDED_
#define _NGX_SVC_NEW_PASSWORD_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_notice.h"
#include "ngx_svc_password_queue.h"
#include "ngx_svc_stored.h"


/*
 * From the row a job that looks at a password, normalised, and hashes it: the
 * caller sets its handler and its data, and posts it.  NULL: memory.
 */
ngx_svc_password_job_t *ngx_svc_new_password_job(ngx_svc_request_t *sr,
    const ngx_str_t *password, const ngx_svc_stored_row_t *row, PGresult *res);

/*
 * For its handler.  NGX_OK: what is to be stored; NGX_DECLINED with sr->error;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_new_password_result(ngx_svc_request_t *sr,
    ngx_svc_password_job_t *job, const ngx_svc_stored_row_t *row,
    ngx_str_t *sealed);

/*
 * The password of a body's member, normalised, of the request's pool; name: the
 * member's.  NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_new_password_text(ngx_svc_request_t *sr, const char *name,
    const ngx_str_t *text, ngx_str_t *password);


#endif /* _NGX_SVC_NEW_PASSWORD_H_INCLUDED_ */
