/*
 * The rows of clients' own tokens: they come behind the answer, in batches, and
 * decide nothing.
 */

#ifndef _NGX_SVC_OAUTH_KEPT_H_INCLUDED_
#define _NGX_SVC_OAUTH_KEPT_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Keeps a token that is about to be answered, with where it is issued to, until
 * it is stored, within NGX_SVC_OAUTH_KEPT_DELAY ms while PostgreSQL answers.
 * What does not fit, or finds no memory, is counted, and logged.
 */
#define NGX_SVC_OAUTH_KEPT_DELAY  100

void ngx_svc_oauth_kept_add(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_own_t *own);

/*
 * For a prepare, behind the client's statement: has the row of a token that is
 * shown stored now, when it says all of itself and its signature is good, for
 * statements of the same op that look for it.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_kept_call(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_bearer_t *bearer);

/*
 * Likewise of a token that is issued, or was.  ip, country: where to; or
 * without data.  Its statement, which an op may have twice: who looks at the
 * result has one.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_kept_row;
ngx_int_t ngx_svc_oauth_kept_row(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_own_t *own, const ngx_str_t *ip,
    const ngx_str_t *country);

/* A worker's start and end. */
void ngx_svc_oauth_kept_init_worker(ngx_cycle_t *cycle);
void ngx_svc_oauth_kept_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_KEPT_H_INCLUDED_ */
