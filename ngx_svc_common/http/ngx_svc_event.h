/*
 * Events of users, for the module that delivers them to subscribers.
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
    ngx_str_t         subscribers;  /* UUIDs of webhook endpoints, with ","
                                       between; empty: none */
    ngx_str_t         user;         /* the user's UUID, as text */
    ngx_str_t         email;        /* for NGX_SVC_EVENT_USER_CREATED alone */
    ngx_str_t         number;       /* the audit event's number, for an event
                                       that a user can have more than once;
                                       otherwise without data */
    ngx_str_t         at;           /* the transaction's time, as PostgreSQL
                                       writes it; no data: now */
} ngx_svc_event_t;

typedef void (*ngx_svc_event_pt)(const ngx_svc_event_t *event);


/* Returns the name of an event, as subscribers know it. */
NGX_SVC_API const ngx_str_t *ngx_svc_event_name(ngx_svc_event_e kind);

/*
 * Tells the handler of an event; a committed hook of an op calls this.  It does
 * not wait, and keeps nothing of the event.
 */
NGX_SVC_API void ngx_svc_event_emit(const ngx_svc_event_t *event);

/* Sets the handler of events in this worker; NULL: there is none. */
NGX_SVC_API void ngx_svc_event_listen(ngx_svc_event_pt handler);

/*
 * Returns 1 if there is a handler.  If there is none a statement need not read
 * the subscribers.
 */
NGX_SVC_API ngx_uint_t ngx_svc_event_listens(void);


#endif /* _NGX_SVC_EVENT_H_INCLUDED_ */
