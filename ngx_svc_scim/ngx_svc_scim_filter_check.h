/*
 * The meaning of a filter's comparisons.
 */

#ifndef _NGX_SVC_SCIM_FILTER_CHECK_H_INCLUDED_
#define _NGX_SVC_SCIM_FILTER_CHECK_H_INCLUDED_


#include "ngx_svc_error.h"
#include "ngx_svc_scim_filter_tree.h"


/* The users for whom a node is true. */

enum {
    NGX_SVC_SCIM_SOME = 0,
    NGX_SVC_SCIM_EVERY,
    NGX_SVC_SCIM_NONE
};


/*
 * Reads a filter, and sets truth in each node; in each comparison attr, an
 * ngx_svc_scim_attr_t or NULL, and value, a parameter of its statement, which
 * is allocated from the pool: a text, the 16 bytes of an id that is compared
 * with "eq" or "ne", or the milliseconds of a time; for "active" it sets param,
 * which is 1 when "active" is to be true.
 *
 * Returns NGX_OK; NGX_DECLINED with err, NGX_SVC_E_INVALID_FILTER; NGX_ERROR
 * when memory is short.
 */
ngx_int_t ngx_svc_scim_filter_check(ngx_pool_t *pool, const ngx_str_t *filter,
    ngx_svc_scim_filter_tree_t *tree, ngx_svc_error_t *err);

/* Returns whether a comparison is only about presence: "pr", or with null. */
ngx_uint_t ngx_svc_scim_filter_presence(const ngx_svc_scim_node_t *node);


#endif /* _NGX_SVC_SCIM_FILTER_CHECK_H_INCLUDED_ */
