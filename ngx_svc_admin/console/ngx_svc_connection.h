/*
 * What all connections of a tenant have in common: those with providers of
 * OpenID Connect, with an identity provider of SAML, and with a directory.
 */

#ifndef _NGX_SVC_CONNECTION_H_INCLUDED_
#define _NGX_SVC_CONNECTION_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_bind.h"


#define NGX_SVC_CONNECTION_GROUPED                                            \
    { "grouped", NGX_SVC_E_FORBIDDEN,                                         \
      "\"groupMapping\" needs the permission \"groups:manage\", as adding a"  \
      " member to a group does." }


/* The values that a body has for any connection: its struct begins with it. */

typedef struct {
    ngx_svc_value_t  label;
    ngx_svc_value_t  domains;
    ngx_svc_value_t  jit_provisioning;
    ngx_svc_value_t  jit_role;
    ngx_svc_value_t  link_by_email;
    ngx_svc_value_t  trust_mfa;
    ngx_svc_value_t  mfa_contexts;
    ngx_svc_value_t  show_on_page;
    ngx_svc_value_t  group_mapping;
    ngx_svc_value_t  keep_links;
    ngx_svc_value_t  vouch;
} ngx_svc_connection_t;


/* The column of a member. */

typedef struct {
    const char  *column;        /* NULL ends the table */
    const char  *member;
    const char  *absent;        /* JSON: of a member that is absent or null;
                                   NULL: the statement has it from elsewhere */
    size_t       offset;        /* of an ngx_svc_value_t in the body's struct */
} ngx_svc_connection_column_t;

#define ngx_svc_connection_column(type, field, member, absent)                \
    { #field, member, absent, offsetof(type, field) }

/* For what all have, and not all by the same default. */

#define ngx_svc_connection_shared(field, member, absent)                      \
    ngx_svc_connection_column(ngx_svc_connection_t, field, member, absent)

#define ngx_svc_connection_column_end  { NULL, NULL, NULL, 0 }


/* sr->data: what statements read of a body. */

typedef struct {
    ngx_str_t       said;       /* JSON: its members by their columns */
    ngx_str_t       names;      /* JSON: columns with their members' names */
} ngx_svc_connection_said_t;


extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_connections_lock;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_connection_judge;


/*
 * Checks the common members of a body, and makes sr->data of them and of the
 * columns.  What is absent is as the columns say, but with PATCH it is left
 * out.  Returns NGX_OK, NGX_DECLINED with sr->error set, or NGX_ERROR.  For a
 * check, when it has put everything into its final form.
 */
ngx_int_t ngx_svc_connection_take(ngx_svc_request_t *sr, void *body,
    const ngx_svc_connection_column_t *columns);


#endif /* _NGX_SVC_CONNECTION_H_INCLUDED_ */
