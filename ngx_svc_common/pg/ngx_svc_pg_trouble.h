/*
 * The reasons why there are no connections.
 */

#ifndef _NGX_SVC_PG_TROUBLE_H_INCLUDED_
#define _NGX_SVC_PG_TROUBLE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <libpq-fe.h>


#define NGX_SVC_PG_TROUBLE_TEXT  1024   /* bytes */


/* What was wrong with PostgreSQL when a worker last tried to connect. */

typedef enum {
    NGX_SVC_PG_UP = 0,
    NGX_SVC_PG_DOWN,            /* or any other reason */
    NGX_SVC_PG_FULL,
    NGX_SVC_PG_LOGIN_REFUSED,
    NGX_SVC_PG_DATABASE_MISSING,
    NGX_SVC_PG_SCHEMA_MISSING,
    NGX_SVC_PG_SCHEMA_OLD,
    NGX_SVC_PG_SCHEMA_NEW,      /* newer than the modules, and works */
    NGX_SVC_PG_SCHEMA_AHEAD,    /* newer, and does not work: its migrations say
                                   so */
    NGX_SVC_PG_ROLE_UNSAFE,
    NGX_SVC_PG_ROLE_DENIED,
    NGX_SVC_PG_STALE_PRIMARY    /* another one has been promoted */
} ngx_svc_pg_trouble_e;


typedef struct {
    const char                *state;       /* for machines */
    const char                *message;     /* for readers of the health
                                               location; or NULL */
    const char                *remedy;      /* for the log; or NULL */
} ngx_svc_pg_trouble_t;


/* Returns the texts for a reason. */
NGX_SVC_API const ngx_svc_pg_trouble_t *ngx_svc_pg_trouble_row(
    ngx_svc_pg_trouble_e trouble);

/* Returns the reason for an SQLSTATE, which may be NULL. */
ngx_svc_pg_trouble_e ngx_svc_pg_trouble_state(const char *state);

/* Returns the reason why a connection could not be made. */
ngx_svc_pg_trouble_e ngx_svc_pg_trouble_connecting(PGconn *pg);

/*
 * Returns libpq's message on one line, with the remedy after it, in a buffer
 * that the next call overwrites.
 */
ngx_str_t ngx_svc_pg_trouble_text(ngx_svc_pg_trouble_e trouble,
    const char *message);


#endif /* _NGX_SVC_PG_TROUBLE_H_INCLUDED_ */
