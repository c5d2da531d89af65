/*
 * The fence, which keeps work off a server that another one has taken the place
 * of.
 */

#ifndef _NGX_SVC_PG_FENCE_H_INCLUDED_
#define _NGX_SVC_PG_FENCE_H_INCLUDED_


#include "ngx_svc_pg.h"
#include "ngx_svc_pg_fence.row.h"


#define NGX_SVC_PG_FENCE_PERIOD  1000   /* ms between looks at timelines */
#define NGX_SVC_PG_FENCE_TEXT    128    /* bytes */

/*
 * The statement that asks a connection for its cluster and its timeline.  The
 * timeline of a checkpoint would come too late after a promotion.  A standby,
 * which has no timeline of its own yet, answers 0.
 */

extern const ngx_svc_pg_statement_t  ngx_svc_sql_pg_timeline;


/*
 * The cluster and the timeline of a connection's server; zeroed: unknown, which
 * is never fenced.
 */

typedef struct {
    uint64_t                   system;      /* PostgreSQL's identifier of the
                                               cluster; standbys share it */
    uint32_t                   timeline;    /* each promotion adds to it */
} ngx_svc_pg_timeline_t;


/*
 * The highest timeline that is known of a cluster.  Timelines count within a
 * generation, which an operator raises after a restore, when timelines may
 * begin anew.
 */

typedef struct {
    uint64_t                   system;      /* 0: this place is free */
    uint32_t                   generation;
    uint32_t                   timeline;
    ngx_uint_t                 shared;      /* 1: what other nodes know is part
                                               of it */
} ngx_svc_pg_fence_t;


/* Work that one of all processes of an nginx does, once in a period. */

typedef enum {
    NGX_SVC_PG_DUE_PROBE = 0,
    NGX_SVC_PG_DUE_SHARE,
    NGX_SVC_PG_DUES
} ngx_svc_pg_due_e;


/*
 * Adds the shared memory while the configuration is read.  It outlives a
 * reload.  tag: an object of the module that owns it.  Returns NULL when memory
 * runs out.
 */
ngx_shm_zone_t *ngx_svc_pg_fence_zone(ngx_conf_t *cf, void *tag);

/* Takes the zone into use when nginx has allocated it; NULL: there is none. */
void ngx_svc_pg_fence_open(ngx_shm_zone_t *zone);

/* Reads the cluster and the timeline from a row. */
ngx_svc_pg_timeline_t ngx_svc_pg_fence_read(
    const ngx_svc_row_pg_timeline_t *row);

/* Notes the timeline that a connection has told. */
void ngx_svc_pg_fence_note(const ngx_svc_pg_timeline_t *timeline);

/* Returns the cluster's highest timeline if it is above this one; or 0. */
uint32_t ngx_svc_pg_fence_above(const ngx_svc_pg_timeline_t *timeline);

/* Writes both in words; buf has room for NGX_SVC_PG_FENCE_TEXT bytes. */
const char *ngx_svc_pg_fence_text(const ngx_svc_pg_timeline_t *timeline,
    uint32_t above, u_char *buf);

/*
 * The next two are for sharing timelines with other nodes.  This one copies
 * what is known of the i-th cluster.  Returns NGX_OK, or NGX_DECLINED after the
 * last cluster.
 */
ngx_int_t ngx_svc_pg_fence_get(ngx_uint_t i, ngx_svc_pg_fence_t *fence);

/* Adds what other nodes know of a cluster; a lower generation is ignored. */
void ngx_svc_pg_fence_merge(const ngx_svc_pg_fence_t *fence);

/* Returns 1 if it is the caller's turn to do the work of this period. */
ngx_uint_t ngx_svc_pg_fence_due(ngx_svc_pg_due_e due, ngx_msec_t period);

/*
 * Sets whether this process's new connections wait until other nodes have been
 * asked; 0: they cannot be asked now.
 */
void ngx_svc_pg_fence_asks(ngx_uint_t asks);

/* Returns 1 if a new connection to this cluster has to wait. */
ngx_uint_t ngx_svc_pg_fence_waits(const ngx_svc_pg_timeline_t *timeline);


#endif /* _NGX_SVC_PG_FENCE_H_INCLUDED_ */
