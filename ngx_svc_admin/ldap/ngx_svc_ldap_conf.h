/*
 * The directives about directories.
 */

#ifndef _NGX_SVC_LDAP_CONF_H_INCLUDED_
#define _NGX_SVC_LDAP_CONF_H_INCLUDED_


#include "ngx_svc_admin_conf.h"


/* Checks the file of "svc_ldap_ca_file": a post handler. */
char *ngx_svc_conf_ldap_ca_file(ngx_conf_t *cf, void *post, void *data);

/*
 * The directive "svc_federation_jobs ldap=number queue=number"; sets an
 * ngx_svc_admin_jobs_conf_t.
 */
char *ngx_svc_conf_jobs(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Sets the defaults, when the configuration has been read. */
void ngx_svc_ldap_conf_done(ngx_svc_admin_main_conf_t *amcf);


#endif /* _NGX_SVC_LDAP_CONF_H_INCLUDED_ */
