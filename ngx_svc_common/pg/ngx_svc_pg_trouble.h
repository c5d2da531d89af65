/*
 * Why there are no connections.
 */

#ifndef _NGX_SVC_PG_TROUBLE_H_INCLUDED_
#define _NGX_SVC_PG_TROUBLE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <libpq-fe.h>


#define NGX_SVC_PG_TROUBLE_TEXT  1024   /* bytes */


/* What is wrong with PostgreSQL, as of a worker's latest attempt to connect. */

typedef enum {
    NGX_SVC_PG_UP = 0,
    NGX_SVC_PG_DOWN,            /* or anything that is not told apart */
    NGX_SVC_PG_FULL,
    NGX_SVC_PG_LOGIN_REFUSED,
    NGX_SVC_PG_DATABASE_MISSING,
    NGX_SVC_PG_SCHEMA_MISSING,
    NGX_SVC_PG_SCHEMA_OLD,
    NGX_SVC_PG_SCHEMA_NEW,      /* works */
    NGX_SVC_PG_SCHEMA_AHEAD,    /* does not, as its migrations say */
    NGX_SVC_PG_ROLE_UNSAFE,
    NGX_SVC_PG_ROLE_DENIED,
    NGX_SVC_PG_STALE_PRIMARY    /* another one has been promoted */
} ngx_svc_pg_trouble_e;


typedef struct {
    const char                *state;       /* for machines */
    const char                *message;     /* for whom the health location
                                               tells; or NULL */
    const char                *remedy;      /* for the log; or NULL */
} ngx_svc_pg_trouble_t;


/* What there is to say of it. */
NGX_SVC_API const ngx_svc_pg_trouble_t *ngx_svc_pg_trouble_row(
    ngx_svc_pg_trouble_e trouble);

/*
 * What an SQLSTATE, or NULL, or a connection that could not be made stands for;
 * libpq's message on one line with the remedy behind it, as of
 * ngx_svc_pg_message().
 */
ngx_svc_pg_trouble_e ngx_svc_pg_trouble_state(const char *state);
ngx_svc_pg_trouble_e ngx_svc_pg_trouble_connecting(PGconn *pg);
ngx_str_t ngx_svc_pg_trouble_text(ngx_svc_pg_trouble_e trouble,
    const char *message);


#endif /* _NGX_SVC_PG_TROUBLE_H_INCLUDED_ */
