/*
 * Mails that tell a user of a change of the account.  The row of the statement
 * that makes the change has what the mail needs, and the mail is sent after the
 * commit, whatever has become of the request.
 */

#ifndef _NGX_SVC_NOTICE_H_INCLUDED_
#define _NGX_SVC_NOTICE_H_INCLUDED_


#include "ngx_svc_base_url.h"
#include "ngx_svc_http.h"
#include "ngx_svc_mail.h"


/* A parameter: the base URL; NULL: there is none, or svc_mail is off. */
#define ngx_svc_param_notice()  { .bind = ngx_svc_notice_bind }


NGX_SVC_API ngx_int_t ngx_svc_notice_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * Zeroes a mail, and fills it in from columns of the result's first row.
 * Returns NGX_OK, or NGX_DECLINED when there is no row, or it has no mail.
 */
NGX_SVC_API ngx_int_t ngx_svc_notice_read(ngx_svc_mail_t *mail,
    PGresult *res);

/*
 * Sends the mail that the result has, if it has one.  A committed hook calls
 * this.
 */
NGX_SVC_API void ngx_svc_notice(ngx_svc_mail_kind_e kind, PGresult *res);

/*
 * Does what ngx_svc_request_committed() does, and mails NGX_SVC_MAIL_CHANGED if
 * res has a mail.  A committed hook calls this.
 */
NGX_SVC_API void ngx_svc_notice_changed(const ngx_svc_pg_results_t *results,
    PGresult *res);


#endif /* _NGX_SVC_NOTICE_H_INCLUDED_ */
