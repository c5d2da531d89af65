/*
 * Filters as trees (RFC 7644, 3.4.2.2).
 */

#ifndef _NGX_SVC_SCIM_FILTER_TREE_H_INCLUDED_
#define _NGX_SVC_SCIM_FILTER_TREE_H_INCLUDED_


#include "ngx_svc_scim_filter_token.h"
#include "ngx_svc_scim_grammar.h"


#define NGX_SVC_SCIM_FILTER_NODES  128

typedef enum {
    NGX_SVC_SCIM_NODE_COMPARE = 0,
    NGX_SVC_SCIM_NODE_AND,
    NGX_SVC_SCIM_NODE_OR,
    NGX_SVC_SCIM_NODE_NOT,          /* left alone */
    NGX_SVC_SCIM_NODE_PATH          /* brackets: left alone */
} ngx_svc_scim_node_e;

typedef struct ngx_svc_scim_node_s  ngx_svc_scim_node_t;

struct ngx_svc_scim_node_s {
    ngx_svc_scim_node_e        type;
    ngx_svc_scim_node_t       *left;
    ngx_svc_scim_node_t       *right;

    /* of a comparison; of brackets the first two */

    const u_char              *at;
    ngx_svc_scim_attr_path_t   path;    /* in brackets: with their attribute;
                                           no name: of none that there is */
    ngx_svc_scim_op_e          op;
    ngx_svc_scim_value_e       kind;
    ngx_str_t                  value;   /* as it is spelled */

    /* for who compiles it */

    const void                *attr;
    ngx_uint_t                 param;
    ngx_uint_t                 truth;
};

typedef struct {
    ngx_svc_scim_node_t       *root;
    ngx_uint_t                 n;
    const u_char              *wrong;   /* where it is, and why */
    const char                *why;
    ngx_svc_scim_node_t        nodes[NGX_SVC_SCIM_FILTER_NODES];
} ngx_svc_scim_filter_tree_t;


/*
 * A whole filter as a tree, whose texts point into that one: "and" binds more
 * tightly than "or".  NGX_OK; or NGX_DECLINED with "wrong" and "why".
 */
ngx_int_t ngx_svc_scim_filter_read(const ngx_str_t *text,
    ngx_svc_scim_filter_tree_t *filter);

/*
 * What follows the bracket of a value path, valFilter "]" ["." subAttr], and
 * nothing else: NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_scim_value_filter(const u_char *p, const u_char *end);


#endif /* _NGX_SVC_SCIM_FILTER_TREE_H_INCLUDED_ */
