/*
 * In a thread: finds the groups of a user.
 */

#ifndef _NGX_SVC_LDAP_GROUPS_H_INCLUDED_
#define _NGX_SVC_LDAP_GROUPS_H_INCLUDED_


#include "ngx_svc_ldap_job.h"


/*
 * Takes what the user's own entry says of groups.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_ldap_groups_take(ngx_svc_ldap_job_t *job,
    LDAPMessage *entry);

/*
 * Completes them: in Active Directory with the primary group, and with those
 * that have a group of the user as a member; in a directory without memberOf
 * with those that have the user as one.  Returns NGX_OK, or NGX_ERROR with the
 * step that has failed.
 */
ngx_int_t ngx_svc_ldap_groups(ngx_svc_ldap_job_t *job);


#endif /* _NGX_SVC_LDAP_GROUPS_H_INCLUDED_ */
