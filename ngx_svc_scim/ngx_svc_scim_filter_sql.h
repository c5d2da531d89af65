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


/* What clients ask for mostly has a statement of its own. */

typedef enum {
    NGX_SVC_SCIM_WHERE_ALL = 0,
    NGX_SVC_SCIM_WHERE_NOBODY,
    NGX_SVC_SCIM_WHERE_ACTIVE,
    NGX_SVC_SCIM_WHERE_INACTIVE,
    NGX_SVC_SCIM_WHERE_USER_NAME,       /* params[0] */
    NGX_SVC_SCIM_WHERE_EXTERNAL_ID,
    NGX_SVC_SCIM_WHERE_ID,
    NGX_SVC_SCIM_WHERE_OTHER
} ngx_svc_scim_where_e;


/*
 * sql: the condition, of a row "u" of svc.user_account, and true or false of
 * each; of all, of nobody, and of a kind with a parameter there is none.
 * first: one that it implies and that an index answers, "true" if there is
 * none; cheap: that leaves a user or two for each of its values.
 *
 * Their parameters follow NGX_SVC_SCIM_WHERE_BEFORE others of the statement,
 * each a text or 16 bytes of an uuid, so that its type is that of its place.
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
 * users: the URL before a user's id in meta.location; it, and the filter's
 * text, live as long as the pool, in which what is written is allocated.
 *
 * NGX_OK; NGX_DECLINED with err, NGX_SVC_E_INVALID_FILTER that says where and
 * why; NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_scim_where(ngx_pool_t *pool, const ngx_str_t *filter,
    const ngx_str_t *users, ngx_svc_scim_where_t *where,
    ngx_svc_error_t *err);


#endif /* _NGX_SVC_SCIM_FILTER_SQL_H_INCLUDED_ */
