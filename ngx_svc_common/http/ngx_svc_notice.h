/*
 * Mails that tell a user what has happened to the account: the statement that
 * does it has what they need in its row, and they are sent behind its commit,
 * whatever has become of the request.
 */

#ifndef _NGX_SVC_NOTICE_H_INCLUDED_
#define _NGX_SVC_NOTICE_H_INCLUDED_


#include "ngx_svc_base_url.h"
#include "ngx_svc_http.h"
#include "ngx_svc_mail.h"


/* A parameter: svc_base_url, NULL: there is none, or no svc_mail. */
#define ngx_svc_param_notice()  { .bind = ngx_svc_notice_bind }


NGX_SVC_API ngx_int_t ngx_svc_notice_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * Zeroes a mail, and fills it in from the columns of the first row that it has.
 * NGX_OK; NGX_DECLINED: there is no row of one.
 */
NGX_SVC_API ngx_int_t ngx_svc_notice_read(ngx_svc_mail_t *mail,
    PGresult *res);

/* For a committed hook: sends the one of that result, if there is one. */
NGX_SVC_API void ngx_svc_notice(ngx_svc_mail_kind_e kind, PGresult *res);

/* Such a hook: the change is told, and its user, if res is a row of one. */
NGX_SVC_API void ngx_svc_notice_changed(const ngx_svc_pg_results_t *results,
    PGresult *res);


#endif /* _NGX_SVC_NOTICE_H_INCLUDED_ */
