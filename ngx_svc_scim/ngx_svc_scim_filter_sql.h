/*
 * Filters as conditions of SQL.
 */

#ifndef _NGX_SVC_SCIM_FILTER_SQL_H_INCLUDED_
#define _NGX_SVC_SCIM_FILTER_SQL_H_INCLUDED_


#include "ngx_svc_error.h"
#include "ngx_svc_scim_filter_tree.h"


#define NGX_SVC_SCIM_FILTER_MAX     8192    /* bytes of a filter */
#define NGX_SVC_SCIM_WHERE_BEFORE   2
#define NGX_SVC_SCIM_WHERE_PARAMS   NGX_SVC_SCIM_FILTER_NODES


/* The filters that clients send most have statements of their own. */

typedef enum {
    NGX_SVC_SCIM_WHERE_ALL = 0,
    NGX_SVC_SCIM_WHERE_NOBODY,
    NGX_SVC_SCIM_WHERE_ACTIVE,
    NGX_SVC_SCIM_WHERE_INACTIVE,
    NGX_SVC_SCIM_WHERE_USER_NAME,       /* these three: params[0] is the key */
    NGX_SVC_SCIM_WHERE_EXTERNAL_ID,
    NGX_SVC_SCIM_WHERE_ID,
    NGX_SVC_SCIM_WHERE_OTHER
} ngx_svc_scim_where_e;


/*
 * sql: the condition, true or false for each row "account"; empty
 * for all users, for nobody, and for a kind with a parameter.  first: a
 * condition that sql implies and that an index answers; "true" if there is
 * none; cheap: 1: first leaves a user or two for each of its values.
 *
 * The parameters follow NGX_SVC_SCIM_WHERE_BEFORE others of the statement.
 * Each is a text or the 16 bytes of a uuid, so that its type is that of its
 * place.
 */

typedef struct {
    ngx_svc_scim_where_e  kind;
    ngx_str_t             sql;
    ngx_str_t             first;
    ngx_uint_t            cheap;
    ngx_uint_t            nparams;
    ngx_str_t             params[NGX_SVC_SCIM_WHERE_PARAMS];
} ngx_svc_scim_where_t;


/*
 * Compiles a filter.  users: the URL before a user's id in meta.location; it
 * and the filter's text must live as long as the pool, from which all that is
 * written is allocated.
 *
 * Returns NGX_OK; NGX_DECLINED with err, NGX_SVC_E_INVALID_FILTER that says
 * where and why; NGX_ERROR when memory is short.
 */
ngx_int_t ngx_svc_scim_where(ngx_pool_t *pool, const ngx_str_t *filter,
    const ngx_str_t *users, ngx_svc_scim_where_t *where,
    ngx_svc_error_t *err);


#endif /* _NGX_SVC_SCIM_FILTER_SQL_H_INCLUDED_ */
