/*
 * The directive svc_breached_passwords.
 */

#ifndef _NGX_SVC_BREACHED_CONF_H_INCLUDED_
#define _NGX_SVC_BREACHED_CONF_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * The directive's set function: maps the file into memory until the cycle ends,
 * and stores an ngx_svc_breached_t, allocated from the cycle's pool, in the
 * pointer at cmd->offset of conf.
 */
char *ngx_svc_breached_directive(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * Logs at notice that only the list in the module counts when there is no file.
 * Called once by the postconfiguration of a module that checks passwords, if it
 * is on.  (nginx -t shows no notice on its output.)
 */
void ngx_svc_breached_notice(ngx_conf_t *cf);


#endif /* _NGX_SVC_BREACHED_CONF_H_INCLUDED_ */
