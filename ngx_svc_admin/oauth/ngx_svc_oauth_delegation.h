/*
 * The journal of delegations: who acted for whom, and who was refused.
 */

#ifndef _NGX_SVC_OAUTH_DELEGATION_H_INCLUDED_
#define _NGX_SVC_OAUTH_DELEGATION_H_INCLUDED_


#include "ngx_svc_oauth_client.h"
#include "ngx_svc_oauth_sql.h"


/* SQL: what kind of a subject it is: of a user's id, and of a client's. */

#define NGX_SVC_OAUTH_SUBJECT_TYPE(user, subject)                             \
    "CASE WHEN " user " IS NOT NULL THEN 'user'"                              \
    " WHEN " subject " LIKE 'agt\\_%' THEN 'agent'"                           \
    " WHEN " subject " IS NOT NULL THEN 'service' END"

/* SQL: of a delegation that is granted, its columns. */

#define NGX_SVC_OAUTH_DELEGATION_INTO                                         \
    "INSERT INTO svc.delegation (id, created_at, client_id, client_name,"     \
        " subject_type, subject_id, chain, grant_type, audience, scopes,"     \
        " outcome, token_jti, parent_jti, root_jti, expires_at, bound, ip,"   \
        " country, request_id)"

/*
 * SQL: a CTE beside NGX_SVC_OAUTH_INSERT() of the same "v", which inserts the
 * journal's row of the token that is issued there.  There is no row if v.verdict
 * is not NULL, for no token is issued, or if v.chain is NULL, for nobody acts
 * for another.  v needs the columns subject and client_name besides.
 *
 * grant: a literal.  id, issuer: expressions, the row's and the tenant's;
 * created_at is of v.ms, as the token's.  jkt, ip, country, request_id:
 * placeholders of parameters.
 */

#define NGX_SVC_OAUTH_DELEGATION(grant, id, jkt, ip, country, request_id,     \
    issuer)                                                                   \
    NGX_SVC_OAUTH_DELEGATION_INTO                                             \
    " SELECT " id "::uuid, " NGX_SVC_OAUTH_ISSUED_AT("v.ms") ","              \
        " v.client_id, v.client_name, "                                       \
        NGX_SVC_OAUTH_SUBJECT_TYPE("v.user_id", "v.subject") ","              \
        " v.subject, v.chain, " grant ","                                     \
        " coalesce(v.audience, " issuer "), v.scopes,"                        \
        " 'granted', v.jti, v.parent_jti, coalesce(v.root_jti, v.jti), "      \
        NGX_SVC_OAUTH_ISSUED_AT("v.ms") " + make_interval(secs => v.ttl), "   \
        jkt "::bytea IS NOT NULL, " ip "::text, " country "::text, "          \
        request_id "::text"                                                   \
    " FROM v WHERE v.verdict IS NULL AND v.chain IS NOT NULL"


/* What is known of one that is refused; no data: it is not. */

typedef struct {
    ngx_str_t  user_id;
    ngx_str_t  subject;
    ngx_str_t  chain;       /* clientIds with spaces between them */
    ngx_str_t  parent_jti;
    ngx_str_t  root_jti;
    ngx_str_t  audience;    /* as it was asked for */
} ngx_svc_oauth_refused_t;

/*
 * Adds the row to sr->op, behind a login, with the reason of o->verdict.
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_delegation_refused(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_refused_t *refused);

extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_delegation_refused;


#endif /* _NGX_SVC_OAUTH_DELEGATION_H_INCLUDED_ */
