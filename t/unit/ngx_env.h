/*
 * What nginx's core objects in the unit tests need from the rest of nginx.
 */

#ifndef _NGX_ENV_H_INCLUDED_
#define _NGX_ENV_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* Must be called once, before any function of nginx. */
void ngx_env_init(void);

/* Returns a log that writes to stderr. */
ngx_log_t *ngx_env_log(void);

/* Sets both clocks, in ms: the wall clock and the monotonic one. */
void ngx_env_time(uint64_t msec);

/* Runs posted events, as the event loop does. */
void ngx_env_events(void);

/*
 * Lets ngx_alloc() succeed n more times, and then fail; a negative n lifts the
 * limit.  It applies to all allocations from pools except the pool's own block,
 * because NGX_DEBUG_PALLOC makes each of them by ngx_alloc().
 */
void ngx_env_alloc_limit(ngx_int_t n);


#endif /* _NGX_ENV_H_INCLUDED_ */
