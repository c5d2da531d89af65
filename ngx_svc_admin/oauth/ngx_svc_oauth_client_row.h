/*
 * A client's row, by which the grant types decide, and the decisions that all
 * of them make by it.
 */

#ifndef _NGX_SVC_OAUTH_CLIENT_ROW_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLIENT_ROW_H_INCLUDED_


#include "ngx_svc_oauth_fragments.row.h"
#include "ngx_svc_oauth_issue.h"
#include "ngx_svc_pg_array.h"


/*
 * A client's row.  It lives as long as the result; its arrays are in the
 * request's pool.
 */

typedef struct {
    ngx_svc_pg_array_t       grants;
    ngx_svc_pg_array_t       scopes;
    ngx_svc_pg_array_t       allowed_scopes;
    ngx_svc_pg_array_t       allowed;       /* audiences */
    ngx_svc_pg_array_t       allowed_keys;  /* the audiences' keys */
    ngx_str_t                slug;          /* of its tenant */
    ngx_str_t                format;        /* of its tokens; this and the
                                               next three are set by ..._read()
                                               alone */
    ngx_str_t                kid;           /* of the tenant's key */
    ngx_str_t                now;           /* ms */
    ngx_int_t                ttl;           /* seconds that a token lives if it
                                               is issued now */
    const char              *state;         /* why it may not act; or NULL */
    unsigned                 public:1;      /* 1: it has no secret */
    unsigned                 suspended:1;   /* 1: its tenant is suspended */
    unsigned                 dpop:1;        /* 1: it must present a proof */
    unsigned                 scope_ceiling:1;
    unsigned                 audience_ceiling:1;
    unsigned                 ignores:1;     /* 1: scopes that it does not
                                               have are ignored; the caller
                                               sets it */
    ngx_str_t                refused;       /* a scope that the verdict
                                               refuses */
} ngx_svc_oauth_client_row_t;


/* Reads the columns of a row.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_client_row_read(ngx_svc_oauth_t *o,
    const ngx_svc_row_grant_client_t *columns,
    ngx_svc_oauth_client_row_t *row);

/*
 * Returns the first verdict of those that come before the grant type's, in
 * their order, as the table of ngx_svc_oauth_refuse() names it; NULL: none.
 * ngx_svc_oauth_once_take() must have been called.
 */
const char *ngx_svc_oauth_client_row_judge(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_client_row_t *row);

/*
 * For the check of a grant type with a wider statement, which is for agents
 * and for resources.  Returns 1 if the client is an agent, or asks for a
 * resource.
 */
ngx_uint_t ngx_svc_oauth_client_row_wider(ngx_svc_oauth_t *o);

/*
 * Returns 1 for a scope of users, which a client's own token and an exchanged
 * one never have.
 */
ngx_uint_t ngx_svc_oauth_client_row_of_users(const ngx_str_t *scope);

/*
 * Removes from asked the scopes of OpenID Connect that are not in given: no
 * client is refused because of them.  Removes the scopes that the client does
 * not have, too, if it ignores those.  Returns NGX_OK; NGX_DECLINED with
 * row->refused set: some of the latter were removed, and nothing is left.
 */
ngx_int_t ngx_svc_oauth_client_row_ignore(ngx_svc_oauth_client_row_t *row,
    ngx_svc_pg_array_t *asked, const ngx_svc_pg_array_t *given);

/* Returns 1 if o->fault is this one. */
ngx_uint_t ngx_svc_oauth_client_row_fault(ngx_svc_oauth_t *o,
    const char *fault);

/*
 * Joins scopes by spaces into *text, in the pool.  Returns NGX_OK;
 * NGX_DECLINED: they are too long for a token; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_row_scope(ngx_svc_oauth_t *o,
    const ngx_svc_pg_array_t *scopes, ngx_str_t *text);

/*
 * Returns 1 if the key is that of the tenant's issuer, for which a token has
 * no audience; else 0; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_row_issuer(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_client_row_t *row, const ngx_str_t *key);

/*
 * For a decide: refuses by a verdict.  If a ceiling refuses, what it allows is
 * recorded.  Returns what a reply does.
 */
ngx_int_t ngx_svc_oauth_client_row_refuse(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_client_row_t *row, const char *verdict);


#endif /* _NGX_SVC_OAUTH_CLIENT_ROW_H_INCLUDED_ */
