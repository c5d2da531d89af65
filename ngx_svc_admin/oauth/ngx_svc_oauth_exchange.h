/*
 * The grant type token-exchange: what its files share.
 */

#ifndef _NGX_SVC_OAUTH_EXCHANGE_H_INCLUDED_
#define _NGX_SVC_OAUTH_EXCHANGE_H_INCLUDED_


#include "ngx_svc_oauth_bind.h"
#include "ngx_svc_oauth_client_row.h"
#include "ngx_svc_oauth_delegation.h"
#include "ngx_svc_oauth_exchange.row.h"
#include "ngx_svc_oauth_lives.h"


#define NGX_SVC_OAUTH_EXCHANGE                                                \
    "urn:ietf:params:oauth:grant-type:token-exchange"


/* o->data; the subject's token is o->token. */

typedef struct {

    /* Parameters of the form. */

    ngx_str_t                            issuer;    /* slug in the issuer of
                                                       the subject's JWT */
    ngx_str_t                            audience;  /* a clientId */
    ngx_svc_oauth_bearer_t               actor;
    unsigned                             acts:1;    /* 1: an actor_token is
                                                       there */
    const ngx_svc_pg_statement_t        *acts_by;   /* reads that token */

    /*
     * What was read.  It lives as long as the results; the arrays are in the
     * pool.
     */

    ngx_svc_row_oauth_exchange_token_jwt_t    read;     /* the subject's
                                                           token */
    ngx_svc_row_oauth_exchange_read_wider_t   asking;   /* the requesting
                                                           client; all but
                                                           exchange_client with
                                                           o->wider alone */
    ngx_svc_row_exchange_client_t            *rows;     /* the clients */
    ngx_uint_t                                nrows;

    const ngx_svc_oauth_lives_client_t  *asks;
    ngx_svc_oauth_client_row_t           client;    /* the requesting client */
    ngx_svc_oauth_lives_t                subject;
    ngx_svc_oauth_lives_t                acting;    /* the actor's token */
    ngx_svc_oauth_lives_today_t          today;     /* of the subject's token */
    ngx_str_t                            signed_in; /* when the user signed
                                                       in: seconds since the
                                                       epoch, as text */
    ngx_str_t                            methods;   /* of that sign-in */
    ngx_svc_pg_array_t                   consent;
    ngx_svc_pg_array_t                   asked;     /* scopes */

    /* What is decided.  This and all below is in the pool. */

    const char                          *verdict;   /* NULL: none */
    ngx_svc_pg_array_t                   chain;     /* the actors */
    ngx_svc_pg_array_t                   principals;    /* all clients that
                                                           the new token
                                                           depends on */
    ngx_svc_pg_array_t                   scopes;    /* that the new token may
                                                       have */
    ngx_str_t                            key;       /* of the target; no
                                                       data: the issuer */
    ngx_str_t                            uri;
    ngx_int_t                            ttl;
    ngx_svc_oauth_refused_t              refused;

    /* What is given. */

    ngx_svc_oauth_issued_t               token;
    ngx_str_t                            ms;        /* text of token.ms */
    ngx_str_t                            ttl_text;
    ngx_str_t                            user_id;
    ngx_str_t                            grant_id;
    ngx_str_t                            parent_jti;
    ngx_str_t                            root_jti;
    ngx_str_t                            principals_text;
    ngx_str_t                            secret_hash;   /* of an opaque token */
    ngx_str_t                            name;      /* of the client */
    ngx_str_t                            target;    /* as the journal has it */
    ngx_str_t                            clients;   /* array of ids */
    ngx_str_t                            places;    /* array of their rows'
                                                       ctid */
    ngx_str_t                            versions;  /* array of their rows'
                                                       xmin */
} ngx_svc_oauth_exchange_t;

#define ngx_svc_oauth_exchange_param(field)                                   \
    ngx_svc_oauth_data_param(ngx_svc_oauth_exchange_t, field)
#define ngx_svc_oauth_exchange_as(type, field)                                \
    ngx_svc_oauth_bind_as(type, ngx_svc_oauth_exchange_t, field)


/*
 * Takes what was read into o->data.  Returns NGX_OK; NGX_DECLINED: the client
 * is not there any more; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_exchange_take(ngx_svc_oauth_t *o, PGresult *res);

/*
 * Sets ex->chain, the actors after the exchange of the subject's token, the
 * current one first, and ex->principals, all clients that the new token
 * depends on.  If the subject's token is not found, both are the client alone.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_exchange_chain(ngx_svc_oauth_t *o);

/*
 * Sets ex->verdict to the first verdict of the order, or to NULL, and what is
 * given then.  Returns NGX_OK; NGX_AGAIN: the rows are to be read again, and
 * more of them if o->wider has been set; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_exchange_judge(ngx_svc_oauth_t *o);

/*
 * A step of that: judges the target, and sets ex->key and ex->uri.  Returns as
 * ngx_svc_oauth_exchange_judge() does.
 */
ngx_int_t ngx_svc_oauth_exchange_judge_target(ngx_svc_oauth_t *o);

/*
 * The step after it: judges the scopes. ex->scopes begins with the subject's
 * scopes of today, and each check leaves those that it allows.
 */
ngx_int_t ngx_svc_oauth_exchange_judge_scopes(ngx_svc_oauth_t *o);

/* The grant type's decide. */
ngx_int_t ngx_svc_oauth_exchange_decide(ngx_svc_oauth_t *o, PGresult *res);

/* The verdict for a tenant that has no key yet. */
#define NGX_SVC_OAUTH_EXCHANGE_KEY  "key"


#endif /* _NGX_SVC_OAUTH_EXCHANGE_H_INCLUDED_ */
