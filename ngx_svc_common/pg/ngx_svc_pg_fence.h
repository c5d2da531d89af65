/*
 * The fence: no work on a server that another one has taken the place of.
 */

#ifndef _NGX_SVC_PG_FENCE_H_INCLUDED_
#define _NGX_SVC_PG_FENCE_H_INCLUDED_


#include "ngx_svc_pg.h"


#define NGX_SVC_PG_FENCE_PERIOD  1000   /* ms between looks at it */
#define NGX_SVC_PG_FENCE_TEXT    128    /* bytes */

/*
 * What a session is asked.  That of a checkpoint lags behind a promotion; a
 * standby, which has none of its own yet, says 0.
 */

extern const ngx_svc_pg_statement_t  ngx_svc_sql_pg_timeline;


/* Where a session is; zeroed: unknown, which is never fenced. */

typedef struct {
    uint64_t                   system;      /* PostgreSQL's identifier of the
                                               cluster; standbys share it */
    uint32_t                   timeline;    /* each promotion adds to it */
} ngx_svc_pg_timeline_t;


/*
 * The highest that is known of a cluster.  Timelines count within a generation,
 * which an operator raises after a restore: they may begin anew then.
 */

typedef struct {
    uint64_t                   system;      /* 0: free */
    uint32_t                   generation;
    uint32_t                   timeline;
    ngx_uint_t                 shared;      /* what other nodes know is in it */
} ngx_svc_pg_fence_t;


/* Who of all processes of an nginx does something, once in a period. */

typedef enum {
    NGX_SVC_PG_TURN_PROBE = 0,
    NGX_SVC_PG_TURN_SHARE,
    NGX_SVC_PG_TURNS
} ngx_svc_pg_turn_e;


/*
 * While the configuration is read: the shared memory, which outlives a reload
 * and is the module's whose object the tag is; NULL: memory.  When nginx has
 * allocated it, or has none: NULL.
 */
ngx_shm_zone_t *ngx_svc_pg_fence_zone(ngx_conf_t *cf, void *tag);
void ngx_svc_pg_fence_open(ngx_shm_zone_t *zone);

/* Reads the two columns, of which the first one is at n. */
ngx_svc_pg_timeline_t ngx_svc_pg_fence_read(PGresult *res, int n);

/* Takes note of where a session is. */
void ngx_svc_pg_fence_note(const ngx_svc_pg_timeline_t *timeline);

/* The timeline that is higher than this one; 0: there is none. */
uint32_t ngx_svc_pg_fence_above(const ngx_svc_pg_timeline_t *timeline);

/* The same in words; buf has NGX_SVC_PG_FENCE_TEXT bytes. */
const char *ngx_svc_pg_fence_text(const ngx_svc_pg_timeline_t *timeline,
    uint32_t above, u_char *buf);

/*
 * For who shares them with other nodes.  The i-th of the clusters, NGX_DECLINED
 * behind the last one; what others know of one: a generation that is lower
 * changes nothing.  1 when it is the caller's turn.
 */
ngx_int_t ngx_svc_pg_fence_get(ngx_uint_t i, ngx_svc_pg_fence_t *fence);
void ngx_svc_pg_fence_merge(const ngx_svc_pg_fence_t *fence);
ngx_uint_t ngx_svc_pg_fence_turn(ngx_svc_pg_turn_e turn, ngx_msec_t period);

/*
 * In a process: whether new sessions wait until other nodes were asked, which
 * they do not when nobody can be; and whether one of this cluster has to.
 */
void ngx_svc_pg_fence_asks(ngx_uint_t asks);
ngx_uint_t ngx_svc_pg_fence_waits(const ngx_svc_pg_timeline_t *timeline);


#endif /* _NGX_SVC_PG_FENCE_H_INCLUDED_ */
