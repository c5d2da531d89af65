/*
 * A client that follows the audit log.  ngx_svc_admin_audit_stream.c opens and
 * closes its stream, ngx_svc_admin_audit_follow.c decides what comes next, and
 * ngx_svc_admin_audit_events.c reads and writes the events.
 */

#ifndef _NGX_SVC_ADMIN_AUDIT_FOLLOW_H_INCLUDED_
#define _NGX_SVC_ADMIN_AUDIT_FOLLOW_H_INCLUDED_


#include "ngx_svc_admin_audit.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_ADMIN_FOLLOW_LEASE  30      /* s */
#define NGX_SVC_ADMIN_FOLLOW_KEY    24      /* digits */
#define NGX_SVC_ADMIN_FOLLOW_TIME   40      /* bytes of a time */


/* A place in the order (xid, id), as text. */

typedef struct {
    ngx_str_t  xid;
    ngx_str_t  id;
    u_char     xid_text[NGX_SVC_ADMIN_FOLLOW_KEY];
    u_char     id_text[NGX_SVC_ADMIN_FOLLOW_KEY];
} ngx_svc_admin_place_t;


/*
 * Events behind "cursor" are still to come.  Those up to "skip" that "snapshot"
 * sees were there before; in the order others, which commit later, can slip in
 * between.  "since" is about the time of the cursor, and chooses the
 * partitions.  Allocated from the request's pool; sr->data points to it.
 */

typedef struct {
    ngx_svc_stream_t              stream;
    ngx_svc_request_t            *sr;
    ngx_queue_t                   queue;        /* the worker's followers */
    ngx_str_t                     tenant;
    ngx_svc_admin_audit_filter_t  filter;
    ngx_str_t                     lease;
    u_char                        lease_id[NGX_SVC_UUID_LEN];

    ngx_str_t                     from;         /* Last-Event-ID, or empty */
    ngx_str_t                     after;        /* Last-Event-ID as a number */
    ngx_svc_admin_place_t         cursor;
    ngx_svc_admin_place_t         skip;
    ngx_str_t                     snapshot;
    ngx_str_t                     since;
    u_char                        since_text[NGX_SVC_ADMIN_FOLLOW_TIME];

    ngx_event_t                   timer;
    ngx_msec_t                    polled;       /* when the last poll began */
    ngx_msec_t                    next;         /* when the next one is due */
    ngx_msec_t                    pinged;
    ngx_msec_t                    renewed;
    ngx_msec_t                    backoff;      /* ms; events are not final */
    ngx_msec_t                    waits;        /* since when none is final */

    unsigned                      opening:1;    /* 1: the lease may be there */
    unsigned                      leased:1;
    unsigned                      following:1;  /* 1: in the queue */
    unsigned                      polling:1;    /* 1: an op is under way */
    unsigned                      renewing:1;   /* 1: the op renews the lease */
    unsigned                      woken:1;      /* 1: since the poll began */
    unsigned                      gap:1;
    unsigned                      waiting:1;    /* 1: events are not final */
    unsigned                      told:1;       /* 1: the client knows that */
} ngx_svc_admin_follow_t;


/* Begins to follow.  Returns what ngx_http_finalize_request() takes. */
ngx_int_t ngx_svc_admin_follow_start(ngx_svc_admin_follow_t *f);

/* Ends the stream.  Returns what ngx_http_finalize_request() takes. */
ngx_int_t ngx_svc_admin_follow_end(ngx_svc_admin_follow_t *f);

/* Stops following; for the request's cleanup. */
void ngx_svc_admin_follow_stop(ngx_svc_admin_follow_t *f);

/* Goes on when the client has taken what was sent. */
ngx_int_t ngx_svc_admin_follow_next(ngx_svc_request_t *sr);

/* Handles an error in place of a poll's reply. */
ngx_int_t ngx_svc_admin_follow_failed(ngx_svc_request_t *sr);

/* The statements of a poll, for the route. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_audit_follow;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_audit_follow_renew;


/*
 * ngx_svc_admin_audit_events.c.  Writes the events of a poll, and moves the
 * cursor.  more: there are further events; final: no other event will appear
 * before these.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_follow_events(ngx_svc_admin_follow_t *f, PGresult *res,
    ngx_svc_json_writer_t *w, ngx_uint_t *more, ngx_uint_t *final);

/* Writes a text as it is. */
void ngx_svc_admin_follow_put(ngx_svc_json_writer_t *w, const char *text);


#endif /* _NGX_SVC_ADMIN_AUDIT_FOLLOW_H_INCLUDED_ */
