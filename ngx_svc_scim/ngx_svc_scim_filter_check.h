/*
 * What a filter's comparisons mean.
 */

#ifndef _NGX_SVC_SCIM_FILTER_CHECK_H_INCLUDED_
#define _NGX_SVC_SCIM_FILTER_CHECK_H_INCLUDED_


#include "ngx_svc_error.h"
#include "ngx_svc_scim_filter_tree.h"


/* Of a node, for all users. */

enum {
    NGX_SVC_SCIM_SOME = 0,
    NGX_SVC_SCIM_EVERY,
    NGX_SVC_SCIM_NONE
};


/*
 * Reads a filter, and of each node says its truth; of each comparison attr, an
 * ngx_svc_scim_attr_t or NULL, and value, a parameter of its statement, which
 * is allocated from the pool: text, the 16 bytes of an id that is compared with
 * "eq" or "ne", or the milliseconds of a time; of "active" param, which is 1
 * when it is to be true.
 *
 * NGX_OK; NGX_DECLINED with err, NGX_SVC_E_INVALID_FILTER; NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_scim_filter_check(ngx_pool_t *pool, const ngx_str_t *filter,
    ngx_svc_scim_filter_tree_t *tree, ngx_svc_error_t *err);

/* Of a comparison: only that counts, with "pr" and with null. */
ngx_uint_t ngx_svc_scim_filter_presence(const ngx_svc_scim_node_t *node);


#endif /* _NGX_SVC_SCIM_FILTER_CHECK_H_INCLUDED_ */
