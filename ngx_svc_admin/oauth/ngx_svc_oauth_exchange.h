/*
 * The grant type token-exchange: what its files share.
 */

#ifndef _NGX_SVC_OAUTH_EXCHANGE_H_INCLUDED_
#define _NGX_SVC_OAUTH_EXCHANGE_H_INCLUDED_


#include "ngx_svc_oauth_client_row.h"
#include "ngx_svc_oauth_delegation.h"
#include "ngx_svc_oauth_lives.h"


#define NGX_SVC_OAUTH_EXCHANGE                                                \
    "urn:ietf:params:oauth:grant-type:token-exchange"


/* o->data; the subject's token is o->token. */

typedef struct {

    /* of the form */

    ngx_str_t                            issuer;    /* of the subject's JWT:
                                                       its slug */
    ngx_str_t                            audience;  /* a clientId */
    ngx_svc_oauth_bearer_t               actor;
    unsigned                             acts:1;    /* there is that one, */
    const ngx_svc_pg_statement_t        *acts_by;   /*     which this reads */

    /* what was read: it lives as long as the results, but for the arrays */

    PGresult                            *read;      /* the token, */
    PGresult                            *res;       /*     and the clients */
    int                                  row;       /* of who asks */
    const ngx_svc_oauth_lives_client_t  *asks;
    ngx_svc_oauth_client_row_t           client;    /* of it, too */
    ngx_svc_oauth_lives_t                subject;
    ngx_svc_oauth_lives_t                acting;    /* of the actor's token */
    ngx_svc_oauth_lives_today_t          today;     /* of the subject's */
    ngx_str_t                            signed_in; /* when its user did, */
    ngx_str_t                            methods;   /*     and by which */
    ngx_svc_pg_array_t                   consent;
    ngx_svc_pg_array_t                   asked;     /* scopes */

    /* what is decided; all that is below is of the pool */

    const char                          *verdict;   /* NULL: none */
    ngx_svc_pg_array_t                   chain;     /* who act then, */
    ngx_svc_pg_array_t                   principals;    /* and all clients */
    ngx_svc_pg_array_t                   scopes;    /* that it may have */
    ngx_str_t                            key;       /* of the target; no data:
                                                       it is the issuer */
    ngx_str_t                            uri;
    ngx_int_t                            ttl;
    ngx_svc_oauth_refused_t              refused;

    /* what is given */

    ngx_svc_oauth_issued_t               token;
    ngx_str_t                            ms;        /* as the token's */
    ngx_str_t                            ttl_text;
    ngx_str_t                            user_id;
    ngx_str_t                            grant_id;
    ngx_str_t                            parent_jti;
    ngx_str_t                            root_jti;
    ngx_str_t                            principals_text;
    ngx_str_t                            secret_hash;   /* of an opaque one */
    ngx_str_t                            name;      /* of the client */
    ngx_str_t                            target;    /* as the journal has it */
    ngx_str_t                            clients;   /* an array of ids, and */
    ngx_str_t                            places;    /*     of their rows' */
    ngx_str_t                            versions;  /*     ctid and xmin */
} ngx_svc_oauth_exchange_t;

#define ngx_svc_oauth_exchange_param(field)                                   \
    ngx_svc_oauth_data_param(ngx_svc_oauth_exchange_t, field)


/*
 * Takes what was read.  NGX_OK; NGX_DECLINED: there is no such client any
 * more; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_exchange_take(ngx_svc_oauth_t *o, PGresult *res);

/* Of who asks, 1: that column is true. */
ngx_uint_t ngx_svc_oauth_exchange_true(ngx_svc_oauth_exchange_t *ex,
    ngx_uint_t column);

/*
 * Sets who act when the subject's token is exchanged, the current one first,
 * and all that the new one is to live by; of one that is not found the client
 * alone.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_exchange_chain(ngx_svc_oauth_t *o);

/*
 * Sets the verdict, the first one of the order, or NULL, and what is given
 * then.  NGX_OK; NGX_AGAIN: it is to be read again, and more of it if o->wider
 * has been set; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_exchange_judge(ngx_svc_oauth_t *o);

/*
 * Of these the last ones but the key's: of the target, ex->key and ex->uri; and
 * of the scopes, ex->scopes, of what lives of the subject's those that remain
 * at each step.
 */
ngx_int_t ngx_svc_oauth_exchange_judge_target(ngx_svc_oauth_t *o);
ngx_int_t ngx_svc_oauth_exchange_judge_scopes(ngx_svc_oauth_t *o);

/* The grant type's decide. */
ngx_int_t ngx_svc_oauth_exchange_decide(ngx_svc_oauth_t *o, PGresult *res);

/* The name that a tenant without a key has for a verdict. */
#define NGX_SVC_OAUTH_EXCHANGE_KEY  "key"


#endif /* _NGX_SVC_OAUTH_EXCHANGE_H_INCLUDED_ */
