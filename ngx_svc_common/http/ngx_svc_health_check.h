/*
 * The checks that PostgreSQL answers reads, and that writes commit.
 */

#ifndef _NGX_SVC_HEALTH_CHECK_H_INCLUDED_
#define _NGX_SVC_HEALTH_CHECK_H_INCLUDED_


#include "ngx_svc_keys_check.h"
#include "ngx_svc_pg.h"


#define NGX_SVC_HEALTH_TIMEOUT  1000    /* ms of a check */


typedef enum {
    NGX_SVC_HEALTH_DOWN = 0,
    NGX_SVC_HEALTH_READ_ONLY,           /* a state of writes alone */
    NGX_SVC_HEALTH_FULL,                /* of writes alone: the disk is full */
    NGX_SVC_HEALTH_UP
} ngx_svc_health_state_e;


/* The state of PostgreSQL and of the keys, as this worker knows it. */

typedef struct {
    ngx_svc_health_state_e    reads;
    ngx_svc_health_state_e    writes;
    ngx_svc_keys_state_e      keys;
    ngx_svc_pg_trouble_e      trouble;  /* with the pools' connections */
} ngx_svc_health_report_t;


/*
 * Begins the checks whose last outcome is too old.  There is one check of reads
 * and one of writes at a time, however many requests ask for them.
 */
void ngx_svc_health_check(void);

/*
 * Returns 1 if a report can be made now; 0: a check is under way, which counts
 * as failed when it takes too long.
 */
ngx_uint_t ngx_svc_health_known(void);

/* Fills in a report from the checks' last outcomes. */
void ngx_svc_health_report(ngx_svc_health_report_t *report);

/* Sets the process's one handler, which is called whenever a check ends. */
void ngx_svc_health_on_known(void (*handler)(void));


#endif /* _NGX_SVC_HEALTH_CHECK_H_INCLUDED_ */
