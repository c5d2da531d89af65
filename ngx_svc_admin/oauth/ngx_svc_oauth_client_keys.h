/*
 * The public keys of clients that a worker has read, and which of them has
 * signed an assertion.
 *
 * That a key has signed is a fact of bytes; whether it is still the client's is
 * asked each time, by the digest that is kept with it: the statement
 * oauth_client_keys makes it.
 */

#ifndef _NGX_SVC_OAUTH_CLIENT_KEYS_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLIENT_KEYS_H_INCLUDED_


#include "ngx_svc_oauth.h"
#include "ngx_svc_oauth_assertion.h"


/* The client's keys, as PostgreSQL has them now, by its id. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_client_keys;

/*
 * NGX_OK: a key that is kept of a->client_id has signed it, as the client's
 * profile wants it; digest finds the client while that is so.  NGX_DECLINED
 * with a->why: none has, or none is kept; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_keys_verify(ngx_svc_oauth_assertion_t *a,
    u_char digest[NGX_SVC_SHA256_LEN]);

/*
 * Keeps what a row of the statement has of a client, unless the same is kept.
 * NGX_OK; NGX_DECLINED: the client has no keys; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_keys_learn(ngx_pool_t *pool,
    const ngx_str_t *client_id, PGresult *res);

/* A worker's end. */
void ngx_svc_oauth_client_keys_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_CLIENT_KEYS_H_INCLUDED_ */
