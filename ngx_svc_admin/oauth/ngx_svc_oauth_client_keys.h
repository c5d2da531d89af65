/*
 * The public keys of clients that a worker has read, and which of them has
 * signed an assertion.
 *
 * A signature that a key has made stays good; whether the key is still the
 * client's is checked each time, by the digest that is kept with the keys.
 * The statement oauth_client_keys computes that digest.
 */

#ifndef _NGX_SVC_OAUTH_CLIENT_KEYS_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLIENT_KEYS_H_INCLUDED_


#include "ngx_svc_oauth.h"
#include "ngx_svc_oauth_assertion.h"


/* Reads the keys that the client has now, by its id. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_client_keys;

/*
 * Verifies an assertion by the keys that are kept of a->client_id, and as the
 * client's profile wants it.  Returns NGX_OK, with the digest that finds the
 * client while its keys stay the same; with a->why set, NGX_AGAIN: none of the
 * kept keys is meant, or NGX_DECLINED: it has not signed it; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_keys_verify(ngx_svc_oauth_assertion_t *a,
    u_char digest[NGX_SVC_SHA256_LEN]);

/*
 * Keeps the keys of a client, as a row of the statement has them, unless the
 * same are kept.  Returns NGX_OK; NGX_AGAIN: the client has no keys;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_keys_learn(ngx_pool_t *pool,
    const ngx_str_t *client_id, PGresult *res);

/* Frees all keys at a worker's end. */
void ngx_svc_oauth_client_keys_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_CLIENT_KEYS_H_INCLUDED_ */
