/*
 * A sign-in by a proof of another server: what it writes.
 */

#ifndef _NGX_SVC_FEDERATION_LOGIN_H_INCLUDED_
#define _NGX_SVC_FEDERATION_LOGIN_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


extern const ngx_svc_login_method_t  ngx_svc_federation_login_method;

/* The "proof" of such methods: links the user, or notes a use of the link. */
ngx_int_t ngx_svc_federation_login_proof(ngx_svc_request_t *sr);

/* Their "committed": mails whom it has linked. */
void ngx_svc_federation_login_committed(const ngx_svc_pg_results_t *results);

/*
 * Store the link of the user to the proof's identity, that it was used, and the
 * session.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_link;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_used;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_session;


/* Sets the stage of a session by the proof, and the session's methods. */
void ngx_svc_federation_stage(ngx_svc_login_t *login);


#endif /* _NGX_SVC_FEDERATION_LOGIN_H_INCLUDED_ */
