/*
 * The rotation of tenants' signing keys.
 */

#ifndef _NGX_SVC_OAUTH_ROTATE_H_INCLUDED_
#define _NGX_SVC_OAUTH_ROTATE_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_pg.h"


/*
 * Call these at the start and at the end of a worker; one worker of a node
 * rotates keys.  keys: those of svc_key_file, which live as long as the worker.
 */
void ngx_svc_oauth_rotate_init_worker(ngx_cycle_t *cycle,
    const ngx_svc_keys_t *keys);
void ngx_svc_oauth_rotate_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_ROTATE_H_INCLUDED_ */
