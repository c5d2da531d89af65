/*
 * What happens to users, for those who subscribe to it.
 */

#ifndef _NGX_SVC_EVENT_H_INCLUDED_
#define _NGX_SVC_EVENT_H_INCLUDED_


#include "ngx_svc_column.h"


typedef enum {
    NGX_SVC_EVENT_USER_CREATED = 0,
    NGX_SVC_EVENT_USER_LOGIN,
    NGX_SVC_EVENT_USER_DELETED,
    NGX_SVC_EVENTS
} ngx_svc_event_e;


typedef struct {
    ngx_svc_event_e   kind;
    ngx_str_t         tenant;       /* its UUID, as text */
    ngx_str_t         subscribers;  /* as above; empty: nobody */
    ngx_str_t         user;         /* the user's UUID, as text */
    ngx_str_t         email;        /* of NGX_SVC_EVENT_USER_CREATED */
    ngx_str_t         number;       /* the audit event's, of what happens to a
                                       user more than once; or no data */
    ngx_str_t         at;           /* the transaction's time, PostgreSQL's text
                                       of it; no data: now */
} ngx_svc_event_t;

typedef void (*ngx_svc_event_pt)(const ngx_svc_event_t *event);


/* The name of an event, as subscribers know it. */
NGX_SVC_API const ngx_str_t *ngx_svc_event_name(ngx_svc_event_e kind);

/*
 * For a committed hook of an op: tells of what has happened.  Never waits, and
 * keeps nothing of the event.
 */
NGX_SVC_API void ngx_svc_event_emit(const ngx_svc_event_t *event);

/* Who is told, in this worker; NULL: nobody. */
NGX_SVC_API void ngx_svc_event_listen(ngx_svc_event_pt handler);

/* 1: somebody is.  Else a statement needs no subscribers. */
NGX_SVC_API ngx_uint_t ngx_svc_event_listens(void);


#endif /* _NGX_SVC_EVENT_H_INCLUDED_ */
