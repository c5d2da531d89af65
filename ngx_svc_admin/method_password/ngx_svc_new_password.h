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
 * Makes a job that checks a password, normalised, by the row in res, and then
 * hashes it.  "row" has the ids of its user.  The caller sets the job's handler
 * and data, and posts it.  Returns NULL when memory runs out.
 */
ngx_svc_password_job_t *ngx_svc_new_password_job(ngx_svc_request_t *sr,
    const ngx_str_t *password, const ngx_svc_stored_row_t *row, PGresult *res);

/*
 * For the job's handler: makes *sealed, which is to be stored.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set when the password is refused or the job was
 * not done in time; NGX_ERROR.
 */
ngx_int_t ngx_svc_new_password_result(ngx_svc_request_t *sr,
    ngx_svc_password_job_t *job, const ngx_svc_stored_row_t *row,
    ngx_str_t *sealed);

/*
 * Normalises the password in a body's member of that name, into the request's
 * pool; both are wiped with the pool.  Returns NGX_OK; NGX_DECLINED with
 * sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_new_password_text(ngx_svc_request_t *sr, const char *name,
    const ngx_str_t *text, ngx_str_t *password);


#endif /* _NGX_SVC_NEW_PASSWORD_H_INCLUDED_ */
