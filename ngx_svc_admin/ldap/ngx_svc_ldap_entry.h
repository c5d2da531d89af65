/*
 * What an entry of a directory says of a user.
 */

#ifndef _NGX_SVC_LDAP_ENTRY_H_INCLUDED_
#define _NGX_SVC_LDAP_ENTRY_H_INCLUDED_


#include "ngx_svc_ldap_job.h"


#define NGX_SVC_LDAP_WANTED  (NGX_SVC_ATTRIBUTES + 16)


/* Sets the names of the attributes that are asked for, and NULL behind them. */
void ngx_svc_ldap_wanted(const ngx_svc_ldap_in_t *in,
    char *names[NGX_SVC_LDAP_WANTED]);

/*
 * Takes an entry: its DN, subject, attributes, and whether it is disabled.
 * Returns NGX_OK; NGX_DECLINED when it has no subject; or NGX_ERROR.
 */
ngx_int_t ngx_svc_ldap_entry(ngx_svc_ldap_job_t *job, LDAPMessage *entry);

/*
 * Sets a copy of the first value of an attribute, of the job's pool, with a
 * zero behind it; no data: there is none.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_ldap_first(ngx_svc_ldap_job_t *job, LDAPMessage *entry,
    const char *name, ngx_str_t *value);


#endif /* _NGX_SVC_LDAP_ENTRY_H_INCLUDED_ */
