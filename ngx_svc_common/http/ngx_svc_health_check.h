/*
 * Whether PostgreSQL answers reads, and whether writes commit.
 */

#ifndef _NGX_SVC_HEALTH_CHECK_H_INCLUDED_
#define _NGX_SVC_HEALTH_CHECK_H_INCLUDED_


#include "ngx_svc_keys_check.h"
#include "ngx_svc_pg.h"


#define NGX_SVC_HEALTH_TIMEOUT  1000    /* ms of a check */


typedef enum {
    NGX_SVC_HEALTH_DOWN = 0,
    NGX_SVC_HEALTH_READ_ONLY,           /* of writes alone */
    NGX_SVC_HEALTH_FULL,                /* the disk; the same */
    NGX_SVC_HEALTH_UP
} ngx_svc_health_state_e;


/* As of the worker that is asked. */

typedef struct {
    ngx_svc_health_state_e    reads;
    ngx_svc_health_state_e    writes;
    ngx_svc_keys_state_e      keys;
    ngx_svc_pg_trouble_e      trouble;  /* of the pools' connections */
} ngx_svc_health_report_t;


/*
 * Begins what has to be checked anew.  The outcome of a check counts for a
 * while, and there is one at a time, however many ask for it.
 */
void ngx_svc_health_check(void);

/*
 * 1: a report would say all there is to say; 0: a check is under way, which
 * counts as failed when it takes too long.
 */
ngx_uint_t ngx_svc_health_known(void);
void ngx_svc_health_report(ngx_svc_health_report_t *report);

/* Called whenever a check has ended.  One handler in a process. */
void ngx_svc_health_on_known(void (*handler)(void));


#endif /* _NGX_SVC_HEALTH_CHECK_H_INCLUDED_ */
