/*
 * SQL of what a user has granted: a read by which is decided, and writes that
 * take place if what was read still holds.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_SQL_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_SQL_H_INCLUDED_


#include "ngx_svc_oauth_claims.h"
#include "ngx_svc_oauth_client_row.h"
#include "ngx_svc_oauth_delegation.h"
#include "ngx_svc_oauth_bind.h"
#include "ngx_svc_oauth_own_live.h"


/* --- the read --- */

/* The columns of the client, after those of all grant types. */

typedef enum {
    NGX_SVC_OAUTH_GRANTED_NAME = NGX_SVC_OAUTH_CLIENT_COLUMNS,
    NGX_SVC_OAUTH_GRANTED_CLIENT_XMIN,
    NGX_SVC_OAUTH_GRANTED_CLIENT_CTID,
    NGX_SVC_OAUTH_GRANTED_ID_TOKEN_TTL,
    NGX_SVC_OAUTH_GRANTED_IDLE_DAYS,
    NGX_SVC_OAUTH_GRANTED_REFRESH_TOKENS,
    NGX_SVC_OAUTH_GRANTED_ID_TOKEN_CLAIMS,
    NGX_SVC_OAUTH_GRANTED_PROFILE,
    NGX_SVC_OAUTH_GRANTED_CLIENT_COLUMNS,

    /* only where the client has a statement of its own */

    NGX_SVC_OAUTH_GRANTED_ASSIGNMENT = NGX_SVC_OAUTH_GRANTED_CLIENT_COLUMNS,
    NGX_SVC_OAUTH_GRANTED_CONSENTS,
    NGX_SVC_OAUTH_GRANTED_CUT_AT
} ngx_svc_oauth_granted_client_e;

/*
 * The columns of what is presented: after the client's, or in a statement of
 * their own.
 */

typedef enum {
    NGX_SVC_OAUTH_GRANTED_PRESENTED = 0,
    NGX_SVC_OAUTH_GRANTED_TAKEN,
    NGX_SVC_OAUTH_GRANTED_AGAIN,
    NGX_SVC_OAUTH_GRANTED_NONCE,
    NGX_SVC_OAUTH_GRANTED_UNASKED,
    NGX_SVC_OAUTH_GRANTED_ID,
    NGX_SVC_OAUTH_GRANTED_USER,
    NGX_SVC_OAUTH_GRANTED_SCOPES,
    NGX_SVC_OAUTH_GRANTED_RESOURCES,
    NGX_SVC_OAUTH_GRANTED_RESOURCE_KEYS,
    NGX_SVC_OAUTH_GRANTED_AUTH_TIME,
    NGX_SVC_OAUTH_GRANTED_METHODS,
    NGX_SVC_OAUTH_GRANTED_CLAIMS,
    NGX_SVC_OAUTH_GRANTED_EXPIRES_AT,
    NGX_SVC_OAUTH_GRANTED_SESSION_ID,
    NGX_SVC_OAUTH_GRANTED_SESSION_AT,
    NGX_SVC_OAUTH_GRANTED_XMIN,
    NGX_SVC_OAUTH_GRANTED_CTID,
    NGX_SVC_OAUTH_GRANTED_PRESENTED_CTID,
    NGX_SVC_OAUTH_GRANTED_COLUMNS,

    NGX_SVC_OAUTH_GRANTED_CREATED_AT = NGX_SVC_OAUTH_GRANTED_COLUMNS,

    NGX_SVC_OAUTH_GRANTED_ASSIGNED = NGX_SVC_OAUTH_GRANTED_COLUMNS,
    NGX_SVC_OAUTH_GRANTED_REGISTERED,
    NGX_SVC_OAUTH_GRANTED_IGNORES
} ngx_svc_oauth_granted_column_e;


/* --- the writes --- */


/* Sources of parameters. */

#define ngx_svc_oauth_granted_as(type, field)                                 \
    ngx_svc_oauth_bind_as(type, ngx_svc_oauth_granted_t, field)


#endif /* _NGX_SVC_OAUTH_GRANTED_SQL_H_INCLUDED_ */
