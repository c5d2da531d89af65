/*
 * In a thread: finds a user's entry, and compares a password.
 */

#ifndef _NGX_SVC_LDAP_USER_H_INCLUDED_
#define _NGX_SVC_LDAP_USER_H_INCLUDED_


#include "ngx_svc_ldap_job.h"


/*
 * Looks for the entry that fits the filter, binds as it, and looks for its
 * groups, as job->in says; without a filter it looks whether "baseDn" exists.
 * The connection stays bound as the service, or is gone.  The answer is in
 * job->out.
 */
void ngx_svc_ldap_user(ngx_svc_ldap_job_t *job);

/*
 * Says why a search has failed, with the code that it has ended with, and frees
 * its result.  Returns NGX_ERROR.
 */
ngx_int_t ngx_svc_ldap_searched(ngx_svc_ldap_job_t *job, int rc,
    LDAPMessage *result);


#endif /* _NGX_SVC_LDAP_USER_H_INCLUDED_ */
