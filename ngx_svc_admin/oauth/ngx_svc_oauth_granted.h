/*
 * Tokens of what a user has granted: what the grant types authorization_code
 * and refresh_token share.
 *
 * One round trip reads the code or refresh token that is presented, and all by
 * which is decided.  A second one writes what follows from that, if what was
 * read still holds; else it is read again.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_H_INCLUDED_


#include "ngx_svc_oauth_bind.h"
#include "ngx_svc_oauth_claims.h"
#include "ngx_svc_oauth_client_row.h"
#include "ngx_svc_oauth_refresh_token.h"


#define NGX_SVC_OAUTH_PRESENTED_MAX  512  /* bytes of a code or a refresh
                                             token */


/* What differs between codes and refresh tokens. */

typedef struct {
    /* Gives a token, and takes what is presented; [1]: for an agent. */
    const ngx_svc_pg_statement_t    *give[2];

    /* Does what give[0] does, and reads what the claims are made of. */
    const ngx_svc_pg_statement_t    *told;

    /*
     * Gives a token for what was taken a moment ago; [1]: for an agent.  NULL:
     * none.
     */
    const ngx_svc_pg_statement_t    *again[2];

    /* Gives a token for what stays as it is; [1]: for an agent.  NULL: none. */
    const ngx_svc_pg_statement_t    *kept[2];

    /* Takes what is presented although it is refused; or NULL. */
    const ngx_svc_pg_statement_t    *spend;

    /* 1: each answer has a refresh token, unless the old one stays. */
    ngx_uint_t                       refreshes;

    /*
     * Verdicts: what is presented is not the client's; the user is in none of
     * the client's groups; the user has not been asked for consent.
     */
    const char                      *unknown;
    const char                      *group;
    const char                      *unasked;

    /* The verdict that ends the grant, and the reason that is recorded then. */
    ngx_str_t                        replayed;
} ngx_svc_oauth_granted_type_t;


/*
 * o->data of both grant types.  It and all that it points to are in the
 * request's pool.
 */

typedef struct {
    const ngx_svc_oauth_granted_type_t  *type;
    ngx_str_t                        replayed;      /* type->replayed */

    ngx_str_t                        digest;        /* of what is presented */
    ngx_str_t                        challenge;     /* SHA-256 of verifier */
    ngx_str_t                        redirect_uri;
    ngx_str_t                        digests;       /* tokens.digests as text */
    ngx_svc_oauth_refresh_tokens_t   tokens;        /* one may be answered */

    /* What was read. */

    ngx_svc_oauth_client_row_t       client;
    const char                      *verdict;       /* NULL: none */
    ngx_str_t                        refusal;       /* a verdict, with its 0;
                                                       or none */
    ngx_str_t                        name;          /* of the client */
    ngx_str_t                        id;            /* the grant's */
    ngx_str_t                        user_id;
    ngx_str_t                        session_id;    /* the session's root */
    ngx_str_t                        session_at;
    ngx_str_t                        xmin;          /* version of the grant */
    ngx_str_t                        client_xmin;   /* version of the client */
    ngx_str_t                        ctid;          /* place of the grant */
    ngx_str_t                        client_ctid;   /* place of the client */
    ngx_str_t                        presented_ctid;
    ngx_str_t                        methods;
    ngx_str_t                        nonce;
    ngx_str_t                        registered;    /* the target's URI as an
                                                       application has it */
    ngx_svc_pg_array_t               asked;         /* scopes of the request */
    ngx_svc_pg_array_t               scopes;        /* scopes of the grant */
    ngx_svc_pg_array_t               given;         /* scopes of the token */
    ngx_svc_pg_array_t               id_token_claims;   /* scopes whose
                                                           claims are in it */
    ngx_svc_pg_array_t               named;         /* claims, as
                                                       svc.oauth_grant keeps
                                                       them */
    ngx_svc_pg_array_t               resources;
    ngx_svc_pg_array_t               resource_keys;
    ngx_uint_t                       again;         /* which of tokens was
                                                       given for it before,
                                                       from 1; 0: none */
    unsigned                         used:1;        /* 1: it has a successor */
    unsigned                         assigned:1;    /* 1: the user may use
                                                       the client */
    unsigned                         unasked:1;     /* 1: consent is missing */
    unsigned                         judged:1;      /* 1: the client is good */
    unsigned                         taken:1;       /* 1: the code is unused */
    unsigned                         openid:1;
    unsigned                         always:1;      /* 1: the client always
                                                       gets a refresh token */
    unsigned                         stays:1;       /* 1: a refresh token is
                                                       used again and again */

    /* What is given. */

    ngx_svc_oauth_issued_t           token;
    ngx_svc_oauth_claims_t           claims;        /* of the ID token */
    const ngx_svc_pg_statement_t    *gives;
    ngx_str_t                        ms;            /* text of token.ms */
    ngx_str_t                        ttl;
    ngx_str_t                        audience_key;
    ngx_str_t                        secret_hash;   /* of an opaque token */
    ngx_str_t                        refresh;       /* digest of the new one */
    ngx_str_t                        refresh_jkt;
    ngx_str_t                        expires_at;    /* of the grant */
    ngx_str_t                        idle_days;     /* of the refresh token */
    ngx_str_t                        id_token_ttl;  /* seconds */
    ngx_str_t                        issuer;
    ngx_str_t                        kid;           /* of the key that signs */
} ngx_svc_oauth_granted_t;

#define ngx_svc_oauth_granted_param(field)                                    \
    ngx_svc_oauth_data_param(ngx_svc_oauth_granted_t, field)
#define ngx_svc_oauth_granted_as(type, field)                                 \
    ngx_svc_oauth_bind_as(type, ngx_svc_oauth_granted_t, field)


/* For a check: makes o->data.  Returns NULL when memory runs out. */
ngx_svc_oauth_granted_t *ngx_svc_oauth_granted_new(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_granted_type_t *type);

/*
 * Gets the parameter that is looked up, and refuses a request without it, or
 * one that is too long.  Returns as ngx_svc_oauth_needed() does.
 */
ngx_int_t ngx_svc_oauth_granted_presented(ngx_svc_oauth_t *o, const char *name,
    ngx_str_t *value);

/* The decide of both grant types, and their statement after the first one. */
ngx_int_t ngx_svc_oauth_granted_decide(ngx_svc_oauth_t *o, PGresult *res);
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_granted_client;

/* The "id_token" of both grant types. */
ngx_int_t ngx_svc_oauth_granted_id_token(ngx_svc_oauth_t *o);

/* The "more" of both grant types: a refresh token. */
ngx_int_t ngx_svc_oauth_granted_more(ngx_svc_oauth_t *o,
    ngx_svc_json_writer_t *w);


#endif /* _NGX_SVC_OAUTH_GRANTED_H_INCLUDED_ */
