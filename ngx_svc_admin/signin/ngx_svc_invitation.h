/*
 * What the two routes of who is invited share: the token, and what it is of.
 */

#ifndef _NGX_SVC_INVITATION_H_INCLUDED_
#define _NGX_SVC_INVITATION_H_INCLUDED_


#include "ngx_svc_account.h"


/* Of the request's pool: the part of an account comes first, in sr->data. */

typedef struct {
    ngx_svc_account_t          account;
    u_char                     digest[NGX_SVC_SHA256_LEN];
    ngx_str_t                  token;           /* that */
} ngx_svc_invitation_t;


#define ngx_svc_invitation_param(field)                                       \
    ngx_svc_param_data(ngx_svc_invitation_t, field)


extern const ngx_svc_member_t  ngx_svc_invitation_lookup_members[];
extern const ngx_svc_member_t  ngx_svc_invitation_accept_members[];

/* What reads the tenant, and sets it, by the token. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_tenant;


/* Their prepare. */
ngx_int_t ngx_svc_invitation_prepare(ngx_svc_request_t *sr);

/*
 * For their reply: that the invitation is good, of which there is a row then,
 * and its tenant, which is named by its slug from then on.  NGX_OK;
 * NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_invitation_good(ngx_svc_request_t *sr, PGresult *row);


#endif /* _NGX_SVC_INVITATION_H_INCLUDED_ */
