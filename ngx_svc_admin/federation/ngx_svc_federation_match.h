/*
 * From a proof to a user: one table of rules, and the function that goes
 * through it.
 */

#ifndef _NGX_SVC_FEDERATION_MATCH_H_INCLUDED_
#define _NGX_SVC_FEDERATION_MATCH_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * What the rules look at.  In a write it says, under the user's lock, whether
 * all is as it was read: it is the "check" of the method.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_match;

/* Reads the user that it has found, and the policies. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_user;

/*
 * Binds the classes by which another server says that somebody has signed in
 * with two factors, where a connection names none.
 */
ngx_int_t ngx_svc_federation_bind_contexts(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * For a reply: decides whom flow->proof is of, by the result of that statement,
 * and whether it is two factors.  Sets flow->match.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_match(ngx_svc_federation_flow_t *flow);

/*
 * For a reply: returns whether a lock keeps a directory's sign-in out, by the
 * result of that statement, if there is one.  *seconds: how many are left if
 * it is that of the typed address; else 0.
 */
ngx_uint_t ngx_svc_federation_locked(ngx_svc_request_t *sr,
    ngx_int_t *seconds);


/* Binds whether the proof's address is proved. */
ngx_int_t ngx_svc_federation_bind_verified(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#endif /* _NGX_SVC_FEDERATION_MATCH_H_INCLUDED_ */
