/*
 * Tokens of what a user has granted: what the grant types of codes and of
 * refresh tokens share.
 *
 * One round trip reads what is shown, and what it is decided on; what follows
 * from that is written in a second one, where what was read still holds, and is
 * read again where it does not.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_H_INCLUDED_


#include "ngx_svc_oauth_claims.h"
#include "ngx_svc_oauth_client_row.h"
#include "ngx_svc_oauth_refresh_token.h"


#define NGX_SVC_OAUTH_SHOWN_MAX  512    /* bytes, of what is looked up */


/* What is different of codes and of refresh tokens. */

typedef struct {
    /* Gives a token, and takes what is shown; and of an agent. */
    const ngx_svc_pg_statement_t    *give[2];

    /* The first one, where claims are told besides: what they are made of. */
    const ngx_svc_pg_statement_t    *told;

    /* Gives one for what was taken a moment ago, likewise; or NULL. */
    const ngx_svc_pg_statement_t    *again[2];

    /* Gives one for what stays as it is, likewise; or NULL. */
    const ngx_svc_pg_statement_t    *kept[2];

    /* Takes what is shown though it is refused; or NULL. */
    const ngx_svc_pg_statement_t    *spend;

    /* 1: a refresh token is part of each answer, unless it stays. */
    ngx_uint_t                       refreshes;

    /* Verdicts: of what is not the client's; of a user in no group, and of one
       who was not asked. */
    const char                      *unknown;
    const char                      *group;
    const char                      *unasked;

    /* The one that ends the grant, with this as its reason. */
    ngx_str_t                        replayed;
} ngx_svc_oauth_granted_type_t;


/* o->data of both; of the request's pool, as all that it points to. */

typedef struct {
    const ngx_svc_oauth_granted_type_t  *type;
    ngx_str_t                        replayed;      /* the type's */

    ngx_str_t                        digest;        /* of what is shown */
    ngx_str_t                        challenge;     /* of a code's verifier */
    ngx_str_t                        redirect_uri;
    ngx_str_t                        digests;       /* an array, of tokens */
    ngx_svc_oauth_refresh_tokens_t   tokens;        /* that may be answered */

    /* what was read */

    ngx_svc_oauth_client_row_t       client;
    const char                      *verdict;       /* NULL: none */
    ngx_str_t                        shown;         /* one's text, and a 0 */
    ngx_str_t                        name;          /* of the client */
    ngx_str_t                        id;            /* the grant's */
    ngx_str_t                        user_id;
    ngx_str_t                        session_id;    /* of its root */
    ngx_str_t                        session_at;
    ngx_str_t                        xmin;          /* of the grant, */
    ngx_str_t                        client_xmin;   /*     and the client */
    ngx_str_t                        ctid;          /* likewise; and of */
    ngx_str_t                        client_ctid;   /*     what is shown */
    ngx_str_t                        shown_ctid;
    ngx_str_t                        methods;
    ngx_str_t                        nonce;
    ngx_str_t                        registered;    /* of the target */
    ngx_svc_pg_array_t               asked;         /* scopes, */
    ngx_svc_pg_array_t               scopes;        /*     that are granted, */
    ngx_svc_pg_array_t               given;         /*     and that remain */
    ngx_svc_pg_array_t               id_token_claims;   /* scopes */
    ngx_svc_pg_array_t               named;         /* claims, as of the
                                                       grant */
    ngx_svc_pg_array_t               resources;
    ngx_svc_pg_array_t               resource_keys;
    ngx_uint_t                       again;         /* which of the tokens was
                                                       given, from 1; 0: none */
    unsigned                         used:1;        /* it was before */
    unsigned                         assigned:1;    /* the client to the user */
    unsigned                         unasked:1;     /* who is to be asked */
    unsigned                         judged:1;      /* the client is good */
    unsigned                         taken:1;       /* what is shown is, too */
    unsigned                         openid:1;
    unsigned                         always:1;      /* a refresh token is
                                                       given */
    unsigned                         stays:1;       /* and has no successor */

    /* what is given */

    ngx_svc_oauth_issued_t           token;
    ngx_svc_oauth_claims_t           claims;        /* of the ID token */
    const ngx_svc_pg_statement_t    *gives;
    ngx_str_t                        ms;            /* as the token's */
    ngx_str_t                        ttl;
    ngx_str_t                        audience_key;
    ngx_str_t                        secret_hash;   /* of an opaque one */
    ngx_str_t                        refresh;       /* a digest */
    ngx_str_t                        refresh_jkt;
    ngx_str_t                        expires_at;    /* of the grant */
    ngx_str_t                        idle_days;     /* of the refresh token */
    ngx_str_t                        id_token_ttl;  /* seconds */
    ngx_str_t                        issuer;
    ngx_str_t                        kid;           /* of what is signed */
} ngx_svc_oauth_granted_t;

#define ngx_svc_oauth_granted_param(field)                                    \
    ngx_svc_oauth_data_param(ngx_svc_oauth_granted_t, field)


/* For a check: o->data.  NULL: memory. */
ngx_svc_oauth_granted_t *ngx_svc_oauth_granted_new(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_granted_type_t *type);

/* A needed parameter that is looked up; as ngx_svc_oauth_needed(). */
ngx_int_t ngx_svc_oauth_granted_shown(ngx_svc_oauth_t *o, const char *name,
    ngx_str_t *value);

/* A grant type's decide, and its statement behind the first one. */
ngx_int_t ngx_svc_oauth_granted_decide(ngx_svc_oauth_t *o, PGresult *res);
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_granted_client;

/* A grant type's "id_token" and "more": what is beside the access token. */
ngx_int_t ngx_svc_oauth_granted_id_token(ngx_svc_oauth_t *o);
ngx_int_t ngx_svc_oauth_granted_more(ngx_svc_oauth_t *o,
    ngx_svc_json_writer_t *w);


#endif /* _NGX_SVC_OAUTH_GRANTED_H_INCLUDED_ */
