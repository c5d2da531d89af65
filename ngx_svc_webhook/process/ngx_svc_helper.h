/*
 * The worker's side of the helper process: worker 0 forks and watches it.
 */

#ifndef _NGX_SVC_HELPER_H_INCLUDED_
#define _NGX_SVC_HELPER_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* Called at a worker's start: the event loop will fork the helper. */
void ngx_svc_helper_init(ngx_cycle_t *cycle);

/* Called at a worker's end: the helper, if it still runs, must end at once. */
void ngx_svc_helper_exit(void);


#endif /* _NGX_SVC_HELPER_H_INCLUDED_ */
