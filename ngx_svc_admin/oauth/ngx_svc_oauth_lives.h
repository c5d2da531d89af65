/*
 * Tells from the rows that one small statement reads whether a token with a row
 * lives, and what it is good for today.
 */

#ifndef _NGX_SVC_OAUTH_LIVES_H_INCLUDED_
#define _NGX_SVC_OAUTH_LIVES_H_INCLUDED_


#include "ngx_svc_pg_array.h"


/* A client that the token lives by, or the client that asks about it. */

typedef struct {
    ngx_str_t            client_id;
    ngx_str_t            auth_method;
    ngx_str_t            slug;          /* the tenant's */
    ngx_str_t            resource_key;  /* no data: it is no resource */
    ngx_svc_pg_array_t   scopes;
    ngx_svc_pg_array_t   allowed_scopes;
    ngx_svc_pg_array_t   allowed_keys;
    ngx_int_t            ttl;           /* seconds */
    ngx_int_t            max_ttl;       /* seconds; NGX_ERROR: no ceiling */
    unsigned             scope_ceiling:1;       /* allowed_scopes counts */
    unsigned             audience_ceiling:1;    /* allowed_keys counts */
    unsigned             suspended:1;   /* the tenant is suspended */
    unsigned             enabled:1;
    unsigned             expired:1;
    unsigned             orphaned:1;
    unsigned             unread:1;      /* the agent's owner, or whether the
                                           user allows the client, may matter
                                           and was not looked at */
    unsigned             stale:1;       /* the token is older than a cut-off */
    unsigned             refused:1;     /* the user has not allowed it, or may
                                           not use it */
} ngx_svc_oauth_lives_client_t;


/* What was read.  Times are in milliseconds, by the database's clock. */

typedef struct {
    unsigned                       found:1;     /* there is a row */
    unsigned                       revoked:1;   /* or its parent is, or root */
    unsigned                       keyless:1;   /* its key is revoked */
    unsigned                       user_active:1;
    unsigned                       user_inactive:1; /* the user exists, and is
                                                       not active */
    unsigned                       user_stale:1;    /* the token is older than
                                                       the user's cut-off */
    unsigned                       grant_good:1;    /* 1 also without a grant */
    ngx_str_t                      user_id;     /* no data: there is none */
    ngx_str_t                      client_id;
    ngx_str_t                      audience;    /* no data: the issuer */
    ngx_str_t                      audience_key;
    ngx_str_t                      jkt;         /* the text of a bytea */
    ngx_str_t                      jwk;         /* of a JWT's key, if the
                                                   token is not verified */
    ngx_str_t                      issuer;      /* the tenant's */
    ngx_svc_pg_array_t             chain;       /* actors */
    ngx_svc_pg_array_t             principals;  /* clients that it lives by */
    ngx_svc_pg_array_t             scopes;
    int64_t                        ms;          /* when it was issued */
    int64_t                        now;
    ngx_int_t                      ttl;         /* seconds, when issued */
    ngx_svc_oauth_lives_client_t  *clients;
    ngx_uint_t                     nclients;
} ngx_svc_oauth_lives_t;


/* What is left of a token today. */

typedef struct {
    ngx_svc_pg_array_t             scopes;
    int64_t                        ends;        /* ms */
} ngx_svc_oauth_lives_today_t;


/*
 * Returns NGX_OK: the token lives; NGX_DECLINED: it is dead; NGX_AGAIN: that
 * depends on something about a client that must be looked at first; or
 * NGX_ERROR: there is no memory.
 */
ngx_int_t ngx_svc_oauth_lives(ngx_pool_t *pool,
    const ngx_svc_oauth_lives_t *lives, ngx_svc_oauth_lives_today_t *today);

/* Returns the client with this id from those that were read; or NULL. */
const ngx_svc_oauth_lives_client_t *ngx_svc_oauth_lives_client(
    const ngx_svc_oauth_lives_t *lives, const ngx_str_t *id);

/*
 * Tells whether a client may act today.  Returns NGX_OK, NGX_DECLINED or
 * NGX_AGAIN, as above.
 */
ngx_int_t ngx_svc_oauth_lives_state(const ngx_svc_oauth_lives_client_t *client);


/*
 * Returns 1 if every client that the token lives by may have this scope today.
 */
ngx_uint_t ngx_svc_oauth_lives_keeps(const ngx_svc_oauth_lives_t *lives,
    const ngx_str_t *scope);


#endif /* _NGX_SVC_OAUTH_LIVES_H_INCLUDED_ */
