/*
 * svc_password_hash.
 */

#ifndef _NGX_SVC_PASSWORD_CONF_H_INCLUDED_
#define _NGX_SVC_PASSWORD_CONF_H_INCLUDED_


#include "ngx_svc_admin_conf.h"


/* Called when the configuration is created: sets all to "not set". */
void ngx_svc_password_conf_init(ngx_svc_admin_hash_conf_t *hash);

/* The directive's set function; its offset is that of the structure above. */
char *ngx_svc_password_conf_set(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * Called when the configuration has been read: sets the defaults.  If the
 * directive was there, warns of a cost that is too low, and says under nginx -t
 * how much memory the workers may take.
 */
void ngx_svc_password_conf_done(ngx_conf_t *cf,
    ngx_svc_admin_hash_conf_t *hash);


#endif /* _NGX_SVC_PASSWORD_CONF_H_INCLUDED_ */
