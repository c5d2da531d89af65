/*
 * The check that svc_key_file has all keys that rows are sealed under.
 */

#ifndef _NGX_SVC_KEYS_CHECK_H_INCLUDED_
#define _NGX_SVC_KEYS_CHECK_H_INCLUDED_


#include "ngx_svc_crypto.h"


typedef enum {
    NGX_SVC_KEYS_OFF = 0,               /* there is no svc_key_file */
    NGX_SVC_KEYS_UNKNOWN,               /* PostgreSQL has not said yet */
    NGX_SVC_KEYS_MISSING,
    NGX_SVC_KEYS_THERE
} ngx_svc_keys_state_e;


/*
 * Called when a worker starts, after its connections to PostgreSQL are begun.
 * Asks PostgreSQL as soon as it can, and then once a minute.  The first worker
 * of a node logs which keys are missing.
 */
void ngx_svc_keys_check_init(ngx_cycle_t *cycle, const ngx_svc_keys_t *keys);

/* Called when a worker ends, before its connections are closed. */
void ngx_svc_keys_check_exit(void);

/* Returns what the last check has found. */
ngx_svc_keys_state_e ngx_svc_keys_check_state(void);


#endif /* _NGX_SVC_KEYS_CHECK_H_INCLUDED_ */
