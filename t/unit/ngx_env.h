/*
 * What a few of nginx's core objects need of the rest of nginx.
 */

#ifndef _NGX_ENV_H_INCLUDED_
#define _NGX_ENV_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* To be called once, before anything of nginx. */
void ngx_env_init(void);

/* A log that goes to stderr. */
ngx_log_t *ngx_env_log(void);

/* Sets both clocks, in ms: that of the wall, and the monotonic one. */
void ngx_env_time(uint64_t msec);

/* Runs what was posted, as the event loop does. */
void ngx_env_events(void);

/*
 * Lets ngx_alloc() succeed n more times, and then fail; a negative n lifts the
 * limit.  Of pools it decides over all allocations, which NGX_DEBUG_PALLOC
 * makes one by one, except the pool's own block.
 */
void ngx_env_alloc_limit(ngx_int_t n);


#endif /* _NGX_ENV_H_INCLUDED_ */
