/*
 * Requests take turns by tenant, and only the credential's statement knows the
 * tenant.  So a worker remembers which tenant a token had when PostgreSQL last
 * told it.  This decides whose turn a request takes, and nothing else: whether
 * the token is good is decided by the credential's statement, each time.
 */

#include "ngx_svc_turn.h"


#define NGX_SVC_TURN_SETS  512          /* a power of two */
#define NGX_SVC_TURN_WAYS  8


/* The beginning of a token's digest is enough: nobody can choose it. */

typedef struct {
    u_char    digest[8];
    u_char    tenant[NGX_SVC_UUID_LEN];
    uint32_t  used;                     /* when it was used last, by the clock
                                           below; 0: this one is empty */
} ngx_svc_turn_t;


static ngx_svc_turn_t *ngx_svc_turn_set(const u_char *digest);
static void ngx_svc_turn_remember(const u_char *digest,
    const u_char *tenant);


static ngx_svc_turn_t  ngx_svc_turns[NGX_SVC_TURN_SETS * NGX_SVC_TURN_WAYS];
static uint32_t        ngx_svc_turn_clock;


ngx_int_t
ngx_svc_turn_learn(ngx_svc_request_t *sr, const ngx_str_t *id)
{
    if (ngx_svc_uuid_parse(id->data, id->len, sr->tenant) != NGX_OK) {
        return NGX_DECLINED;
    }

    sr->tenant_known = 1;
    ngx_svc_turn_remember(sr->token_hash, sr->tenant);

    return NGX_OK;
}


static ngx_svc_turn_t *
ngx_svc_turn_set(const u_char *digest)
{
    ngx_uint_t  n;

    /* the set is chosen by other bytes than those that are compared */

    n = (digest[8] << 8 | digest[9]) & (NGX_SVC_TURN_SETS - 1);

    return &ngx_svc_turns[n * NGX_SVC_TURN_WAYS];
}


ngx_int_t
ngx_svc_turn_find(ngx_svc_request_t *sr)
{
    ngx_uint_t       i;
    ngx_svc_turn_t  *turn;

    if (sr->tenant_known) {
        return NGX_OK;
    }

    turn = ngx_svc_turn_set(sr->token_hash);

    for (i = 0; i < NGX_SVC_TURN_WAYS; i++, turn++) {

        if (turn->used
            && ngx_memcmp(turn->digest, sr->token_hash, sizeof(turn->digest))
               == 0)
        {
            turn->used = ++ngx_svc_turn_clock;
            ngx_memcpy(sr->tenant, turn->tenant, NGX_SVC_UUID_LEN);
            sr->tenant_known = 1;
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


/*
 * Replaces the token of the set that was used least recently.  When the tenant
 * has two or more there it must be one of them, so that many tokens of one
 * tenant do not make those of others unknown.
 */

static void
ngx_svc_turn_remember(const u_char *digest, const u_char *tenant)
{
    ngx_uint_t       i, n;
    ngx_svc_turn_t  *turn, *oldest, *own;

    turn = ngx_svc_turn_set(digest);
    oldest = turn;
    own = NULL;
    n = 0;

    for (i = 0; i < NGX_SVC_TURN_WAYS; i++, turn++) {

        if (turn->used < oldest->used) {
            oldest = turn;
        }

        if (turn->used == 0
            || ngx_memcmp(turn->tenant, tenant, NGX_SVC_UUID_LEN) != 0)
        {
            continue;
        }

        if (ngx_memcmp(turn->digest, digest, sizeof(turn->digest)) == 0) {
            turn->used = ++ngx_svc_turn_clock;
            return;
        }

        if (n++ == 0 || turn->used < own->used) {
            own = turn;
        }
    }

    turn = (n >= 2) ? own : oldest;

    ngx_memcpy(turn->digest, digest, sizeof(turn->digest));
    ngx_memcpy(turn->tenant, tenant, NGX_SVC_UUID_LEN);
    turn->used = ++ngx_svc_turn_clock;
}
