/*
 * The common parts of the directory's resources.
 */

#ifndef _NGX_SVC_ADMIN_USER_H_INCLUDED_
#define _NGX_SVC_ADMIN_USER_H_INCLUDED_


#include "ngx_svc_admin.h"


#define NGX_SVC_ADMIN_NO_USER    "There is no user with this id."
#define NGX_SVC_ADMIN_NO_GROUP   "There is no group with this id."
#define NGX_SVC_ADMIN_NO_MEMBER  "The group has no member with this id."


#define NGX_SVC_ADMIN_ROLE_VERDICTS                                           \
    { "unknown", NGX_SVC_E_INVALID_VALUE,                                     \
      "\"role\" must be the key of a role: there is no \"%V\"." },            \
    { "lacks", NGX_SVC_E_FORBIDDEN,                                           \
      "\"role\" grants what the caller does not have." }

#define NGX_SVC_ADMIN_ROLE_MAX  63      /* bytes of a role's key */

#define NGX_SVC_ADMIN_TOKEN_MAY                                               \
    "A token acts on owners, or makes one, only if an owner has made it, and" \
    " never on the user who has made it: use a session."

#define NGX_SVC_ADMIN_TOKEN_VERDICT                                           \
    { "token", NGX_SVC_E_FORBIDDEN, NGX_SVC_ADMIN_TOKEN_MAY }

#define NGX_SVC_ADMIN_REFUSALS                                                \
    { "beyond", NGX_SVC_E_FORBIDDEN,                                          \
      "The role of this user grants what the caller does not have." },        \
    NGX_SVC_ADMIN_TOKEN_VERDICT

#define NGX_SVC_ADMIN_LAST_VERDICT                                            \
    { "last", NGX_SVC_E_LAST_ADMIN,                                           \
      "The tenant would be left without an active owner." }


/*
 * ngx_svc_admin_user_change.c.  Takes the lock that the fragment role_beyond
 * needs.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_lock;

/* Does the same, and also locks all owners when the user is one. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_owners_lock;

/*
 * ngx_svc_admin_users.c.  Reads a user, also after a statement that changed it.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_users_get;

/*
 * ngx_svc_admin_ids.c.  Returns whether a text is an id in the case that ids
 * have, so that another spelling is no id.
 */
ngx_uint_t ngx_svc_admin_id_exact(const ngx_str_t *text);

/*
 * For the functions of parameters: binds n strings that are ids, of which id is
 * the first, as the text of a PostgreSQL array.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_bind_ids(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const cJSON *id, size_t n);


#endif /* _NGX_SVC_ADMIN_USER_H_INCLUDED_ */
