/*
 * The helper's lanes: they begin with the process; before it ends they drain,
 * then leave the rest to other helpers.
 */

#ifndef _NGX_SVC_HELPER_LANES_H_INCLUDED_
#define _NGX_SVC_HELPER_LANES_H_INCLUDED_


#include "ngx_svc_webhook.h"


/*
 * Called at the helper's start, after PostgreSQL's and Redis'.  worker: socket
 * on which the worker is told of new ids of the helper.  id, before: see
 * ngx_svc_webhook_queue_start().
 */
ngx_int_t ngx_svc_helper_lanes_init(ngx_cycle_t *cycle, ngx_socket_t worker,
    const u_char *id, const ngx_str_t *before);

/* Called at the helper's end, after Redis' and before PostgreSQL's. */
void ngx_svc_helper_lanes_exit(void);

/*
 * Drains all lanes, for svc_webhook_shutdown_timeout at most; then they leave.
 * May be called more than once.
 */
void ngx_svc_helper_lanes_drain(void);

/* Lets all lanes leave at once.  May be called more than once. */
void ngx_svc_helper_lanes_leave(void);

/* Returns 1 if all have left, or take too long: the process can exit. */
ngx_uint_t ngx_svc_helper_lanes_ended(void);


#endif /* _NGX_SVC_HELPER_LANES_H_INCLUDED_ */
