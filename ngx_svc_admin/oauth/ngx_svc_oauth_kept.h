/*
 * The rows of clients' own tokens: they are written in batches after the
 * answer, and no decision depends on them.
 */

#ifndef _NGX_SVC_OAUTH_KEPT_H_INCLUDED_
#define _NGX_SVC_OAUTH_KEPT_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Keeps a copy of a token that is about to be answered, with the address and
 * country of its client, until its row is stored: that is within
 * NGX_SVC_OAUTH_KEPT_DELAY ms while PostgreSQL answers.  A row for which there
 * is no room or no memory is lost, which is counted and logged.
 */
#define NGX_SVC_OAUTH_KEPT_DELAY  100

void ngx_svc_oauth_kept_add(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_own_t *own);

/*
 * Adds a call that stores the row of a client's own token, so that the calls
 * behind it find the row; adds none unless the token's signature is known to be
 * good and it has not expired.  Call it in a prepare, behind the client's
 * login.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_kept_call(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_bearer_t *bearer);

/*
 * The same for a token that is known to be ours.  ip and country: of the client
 * that it was issued to; no data: unknown.  An op may have the statement twice,
 * but not where its result is looked at.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_kept_row;
ngx_int_t ngx_svc_oauth_kept_row(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_own_t *own, const ngx_str_t *ip,
    const ngx_str_t *country);

/* Call these at the start and at the end of a worker. */
void ngx_svc_oauth_kept_init_worker(ngx_cycle_t *cycle);
void ngx_svc_oauth_kept_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_KEPT_H_INCLUDED_ */
