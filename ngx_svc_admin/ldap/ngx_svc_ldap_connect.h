/*
 * In a thread: connects to a directory, encrypted, and binds as its service.
 */

#ifndef _NGX_SVC_LDAP_CONNECT_H_INCLUDED_
#define _NGX_SVC_LDAP_CONNECT_H_INCLUDED_


#include "ngx_svc_ldap_job.h"


/*
 * Connects job->conn to one of the checked addresses.  Returns NGX_OK, or
 * NGX_ERROR with the step that has failed.
 */
ngx_int_t ngx_svc_ldap_connect(ngx_svc_ldap_job_t *job);

/* Binds as the service, or as nobody, and returns what libldap does. */
int ngx_svc_ldap_bind(ngx_svc_ldap_job_t *job);


#endif /* _NGX_SVC_LDAP_CONNECT_H_INCLUDED_ */
