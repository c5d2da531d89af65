/*
 * The groups of whoever signs in by a directory.
 */

#ifndef _NGX_SVC_DIRECTORY_GROUPS_H_INCLUDED_
#define _NGX_SVC_DIRECTORY_GROUPS_H_INCLUDED_


#include "ngx_svc_federation_flow.h"
#include "ngx_svc_ldap.h"


/*
 * Sets flow->proof.groups, in the words of the directory's mapping, by the DNs
 * of ldap's answer.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_directory_groups(ngx_svc_federation_flow_t *flow,
    const ngx_svc_ldap_directory_t *directory, const ngx_svc_ldap_t *ldap);


#endif /* _NGX_SVC_DIRECTORY_GROUPS_H_INCLUDED_ */
