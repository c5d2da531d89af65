/*
 * Whether a token with a row lives, and what it is good for today, by the rows
 * that one small statement reads.
 */

#ifndef _NGX_SVC_OAUTH_LIVES_H_INCLUDED_
#define _NGX_SVC_OAUTH_LIVES_H_INCLUDED_


#include "ngx_svc_pg_array.h"


/* A client: one that the token lives by, or who asks. */

typedef struct {
    ngx_str_t            client_id;
    ngx_str_t            auth_method;
    ngx_str_t            slug;          /* of its tenant */
    ngx_str_t            resource_key;
    ngx_svc_pg_array_t   scopes;
    ngx_svc_pg_array_t   allowed_scopes;
    ngx_svc_pg_array_t   allowed_keys;
    ngx_int_t            ttl;           /* seconds */
    ngx_int_t            max_ttl;       /* NGX_ERROR: there is no ceiling */
    unsigned             scope_ceiling:1;
    unsigned             audience_ceiling:1;
    unsigned             suspended:1;   /* its tenant is */
    unsigned             enabled:1;
    unsigned             expired:1;
    unsigned             orphaned:1;
    unsigned             unread:1;      /* its owner, or what its user lets it,
                                           was not looked at, and may matter */
    unsigned             stale:1;       /* the token is older than a cut-off */
    unsigned             refused:1;     /* the user does not let it */
} ngx_svc_oauth_lives_client_t;


/* What was read.  Times are in milliseconds, of the database's clock. */

typedef struct {
    unsigned                       found:1;
    unsigned                       revoked:1;   /* or what it came of */
    unsigned                       keyless:1;   /* its key is revoked */
    unsigned                       user_active:1;
    unsigned                       user_inactive:1; /* and is there */
    unsigned                       user_stale:1;
    unsigned                       grant_good:1;    /* or it has none */
    ngx_str_t                      user_id;     /* no data: a client's own */
    ngx_str_t                      client_id;
    ngx_str_t                      audience;    /* no data: the issuer */
    ngx_str_t                      audience_key;
    ngx_str_t                      jkt;         /* as a bytea's text */
    ngx_str_t                      issuer;      /* of the tenant */
    ngx_svc_pg_array_t             chain;
    ngx_svc_pg_array_t             principals;
    ngx_svc_pg_array_t             scopes;
    int64_t                        ms;          /* when it was issued */
    int64_t                        now;
    ngx_int_t                      ttl;         /* as it was issued */
    ngx_svc_oauth_lives_client_t  *clients;
    ngx_uint_t                     nclients;
} ngx_svc_oauth_lives_t;


/* What is left of it. */

typedef struct {
    ngx_svc_pg_array_t             scopes;
    int64_t                        ends;        /* ms */
} ngx_svc_oauth_lives_today_t;


/*
 * NGX_OK: it lives; NGX_DECLINED: it is dead; NGX_AGAIN: that depends on what
 * is to be read of a client; NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_oauth_lives(ngx_pool_t *pool,
    const ngx_svc_oauth_lives_t *lives, ngx_svc_oauth_lives_today_t *today);

/* Of those that were read the one with this id; NULL: there is none. */
const ngx_svc_oauth_lives_client_t *ngx_svc_oauth_lives_client(
    const ngx_svc_oauth_lives_t *lives, const ngx_str_t *id);

/* Whether a client may act today: as above, but for NGX_ERROR. */
ngx_int_t ngx_svc_oauth_lives_state(const ngx_svc_oauth_lives_client_t *client);


/* 1: all that it lives by may have this scope today. */
ngx_uint_t ngx_svc_oauth_lives_keeps(const ngx_svc_oauth_lives_t *lives,
    const ngx_str_t *scope);


#endif /* _NGX_SVC_OAUTH_LIVES_H_INCLUDED_ */
