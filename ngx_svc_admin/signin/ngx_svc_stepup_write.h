/*
 * What a step-up writes.
 */

#ifndef _NGX_SVC_STEPUP_WRITE_H_INCLUDED_
#define _NGX_SVC_STEPUP_WRITE_H_INCLUDED_


#include "ngx_svc_stepup.h"


/*
 * Runs the write that follows on rc, which verify() has returned, or answers.
 * Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_stepup_verdict(ngx_svc_stepup_t *step, ngx_int_t rc);

/* Looks again, under the user's lock, whether the session may step up. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_check;

/*
 * The "use" of a method that begins sessions: under the user's lock it makes
 * sure that the user still has no second factor, and the same password.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_first;

/*
 * For the reply to a write with the first, and with the statement that uses up
 * the proof.  Returns 1 when both went well.  Otherwise refuses the request,
 * and sets *rc to what goes to ngx_http_finalize_request().
 */
ngx_uint_t ngx_svc_stepup_used(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *use, ngx_int_t *rc);


#endif /* _NGX_SVC_STEPUP_WRITE_H_INCLUDED_ */
