/*
 * A thread's question is a copy of the request's, and the request's answer is
 * one of the thread's: a request may end at any time.
 */

#ifndef _NGX_SVC_LDAP_MAKE_H_INCLUDED_
#define _NGX_SVC_LDAP_MAKE_H_INCLUDED_


#include "ngx_svc_ldap_job.h"


/*
 * Makes a job for a question.  Its secrets are wiped, and its connection is
 * closed, when it is freed.  Returns NULL when there is no memory.
 */
ngx_svc_ldap_job_t *ngx_svc_ldap_make(ngx_svc_work_queue_t *queue,
    ngx_svc_ldap_t *ldap, const ngx_str_t *ca_file);

/*
 * Gives the job a connection that is not connected yet.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_ldap_make_conn(ngx_svc_ldap_job_t *job);

/*
 * Copies the answer of a job to the question's pool.  Returns NGX_OK, or
 * NGX_ERROR when there is no memory.
 */
ngx_int_t ngx_svc_ldap_give(ngx_svc_ldap_job_t *job, ngx_svc_ldap_t *ldap);


#endif /* _NGX_SVC_LDAP_MAKE_H_INCLUDED_ */
