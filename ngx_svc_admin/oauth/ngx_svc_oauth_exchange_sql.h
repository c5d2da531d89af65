/*
 * SQL of a token exchange: a read by which is decided, and a write that takes
 * place if what was read still holds.
 */

#ifndef _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_
#define _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_


#include "ngx_svc_oauth_bind.h"
#include "ngx_svc_oauth_exchange.h"
#include "ngx_svc_oauth_lives_row.h"


/* --- the read --- */

/* The columns of the token. */

typedef enum {
    NGX_SVC_OAUTH_EXCHANGE_JTI = 0,
    NGX_SVC_OAUTH_EXCHANGE_USER_ID,
    NGX_SVC_OAUTH_EXCHANGE_CLIENT_ID,
    NGX_SVC_OAUTH_EXCHANGE_CHAIN,
    NGX_SVC_OAUTH_EXCHANGE_PRINCIPALS,
    NGX_SVC_OAUTH_EXCHANGE_SCOPES,
    NGX_SVC_OAUTH_EXCHANGE_AUDIENCE,
    NGX_SVC_OAUTH_EXCHANGE_AUDIENCE_KEY,
    NGX_SVC_OAUTH_EXCHANGE_JKT,
    NGX_SVC_OAUTH_EXCHANGE_TTL,
    NGX_SVC_OAUTH_EXCHANGE_GRANT_ID,
    NGX_SVC_OAUTH_EXCHANGE_ROOT,
    NGX_SVC_OAUTH_EXCHANGE_REVOKED,
    NGX_SVC_OAUTH_EXCHANGE_USER,
    NGX_SVC_OAUTH_EXCHANGE_GRANT,
    NGX_SVC_OAUTH_EXCHANGE_CONSENT,
    NGX_SVC_OAUTH_EXCHANGE_NOW,
    NGX_SVC_OAUTH_EXCHANGE_SET,
    NGX_SVC_OAUTH_EXCHANGE_PUBLIC       /* of a JWT's key */
} ngx_svc_oauth_exchange_token_e;

/* The columns of each client, after those of :lives_columns. */

#define NGX_SVC_OAUTH_EXCHANGE_SHIFT  NGX_SVC_OAUTH_LIVES_A_ID

typedef enum {
    NGX_SVC_OAUTH_EXCHANGE_ID = 0,
    NGX_SVC_OAUTH_EXCHANGE_SLUG = NGX_SVC_OAUTH_LIVES_A_SLUG
                                  - NGX_SVC_OAUTH_EXCHANGE_SHIFT,
    NGX_SVC_OAUTH_EXCHANGE_GRANTS = NGX_SVC_OAUTH_LIVES_A_LETS + 1
                                    - NGX_SVC_OAUTH_EXCHANGE_SHIFT,
    NGX_SVC_OAUTH_EXCHANGE_FORMAT,
    NGX_SVC_OAUTH_EXCHANGE_DPOP,
    NGX_SVC_OAUTH_EXCHANGE_ACTIVE_KID,
    NGX_SVC_OAUTH_EXCHANGE_ALLOWED,
    NGX_SVC_OAUTH_EXCHANGE_NAME,
    NGX_SVC_OAUTH_EXCHANGE_TTL_LEFT,
    NGX_SVC_OAUTH_EXCHANGE_CONSENTS,
    NGX_SVC_OAUTH_EXCHANGE_VERSION,
    NGX_SVC_OAUTH_EXCHANGE_PLACE,
    NGX_SVC_OAUTH_EXCHANGE_ASSIGNED,

    /* only with o->wider */

    NGX_SVC_OAUTH_EXCHANGE_DEPTH,
    NGX_SVC_OAUTH_EXCHANGE_TARGET_KEY,
    NGX_SVC_OAUTH_EXCHANGE_TARGET_URI,
    NGX_SVC_OAUTH_EXCHANGE_TARGET_ENABLED
} ngx_svc_oauth_exchange_column_e;


/* --- the write --- */


#define ngx_svc_oauth_exchange_as(type, field)                                \
    ngx_svc_oauth_bind_as(type, ngx_svc_oauth_exchange_t, field)


#endif /* _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_ */
