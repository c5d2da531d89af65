/*
 * What the two routes for invited people share: the token, and its invitation.
 */

#ifndef _NGX_SVC_INVITATION_H_INCLUDED_
#define _NGX_SVC_INVITATION_H_INCLUDED_


#include "ngx_svc_account_take.h"


#define NGX_SVC_INVITATION_TOKEN_MAX  128       /* bytes */


/* sr->data, in the request's pool.  It begins with the account. */

typedef struct {
    ngx_svc_account_t          account;
    u_char                     digest[NGX_SVC_SHA256_LEN];
    ngx_str_t                  token;           /* points to digest */
} ngx_svc_invitation_t;


#define ngx_svc_invitation_param(field)                                       \
    ngx_svc_param_data(ngx_svc_invitation_t, field)


extern const ngx_svc_member_t  ngx_svc_invitation_lookup_members[];
extern const ngx_svc_member_t  ngx_svc_invitation_accept_members[];

/* Reads the tenant of the token's invitation, and sets it. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_tenant;

/*
 * What a write begins with that accepts an invitation, after the lock of the
 * governance; and what makes the account of it, or unsets the tenant.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_lock;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_groups;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_user;


/* The prepare of both routes. */
ngx_int_t ngx_svc_invitation_prepare(ngx_svc_request_t *sr);

/* Digests a token that is presented.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_invitation_token(ngx_svc_invitation_t *in,
    const ngx_str_t *token);

/*
 * Sets sr->error to that of an invitation that is not good.  Returns
 * NGX_DECLINED.
 */
ngx_int_t ngx_svc_invitation_over(ngx_svc_request_t *sr);

/*
 * For the replies of both routes: tells whether the invitation is good, in
 * which case "row" is not empty, and takes its tenant, whose slug is
 * login->asked.slug from then on.  Returns NGX_OK; NGX_DECLINED with sr->error
 * set; NGX_ERROR.
 */
ngx_int_t ngx_svc_invitation_good(ngx_svc_request_t *sr, PGresult *row);


#endif /* _NGX_SVC_INVITATION_H_INCLUDED_ */
