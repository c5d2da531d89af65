/*
 * The journal of delegations: which client acted for whom, and which one was
 * refused.
 */

#ifndef _NGX_SVC_OAUTH_DELEGATION_H_INCLUDED_
#define _NGX_SVC_OAUTH_DELEGATION_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


/* What is known of a refused delegation; no data: it is not known. */

typedef struct {
    ngx_str_t  user_id;
    ngx_str_t  subject;
    ngx_str_t  chain;       /* clientIds with spaces between them */
    ngx_str_t  parent_jti;
    ngx_str_t  root_jti;
    ngx_str_t  audience;    /* as it was asked for */
} ngx_svc_oauth_refused_t;

/*
 * Adds the journal's row to sr->op, after a login, with the reason of
 * o->verdict.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_delegation_refused(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_refused_t *refused);

extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_delegation_refused;


#endif /* _NGX_SVC_OAUTH_DELEGATION_H_INCLUDED_ */
