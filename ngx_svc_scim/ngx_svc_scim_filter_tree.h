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
    NGX_SVC_SCIM_NODE_NOT,          /* has left alone */
    NGX_SVC_SCIM_NODE_PATH          /* brackets: has left alone */
} ngx_svc_scim_node_e;

typedef struct ngx_svc_scim_node_s  ngx_svc_scim_node_t;

struct ngx_svc_scim_node_s {
    ngx_svc_scim_node_e        type;
    ngx_svc_scim_node_t       *left;
    ngx_svc_scim_node_t       *right;

    /* set in comparisons; at and path also in brackets */

    const u_char              *at;
    ngx_svc_scim_attr_path_t   path;    /* in brackets: with the attribute;
                                           no name: there is none */
    ngx_svc_scim_op_e          op;
    ngx_svc_scim_value_e       kind;
    ngx_str_t                  value;   /* as it is spelled */

    /* set when the tree is checked and compiled */

    const void                *attr;
    ngx_uint_t                 param;
    ngx_uint_t                 truth;
};

typedef struct {
    ngx_svc_scim_node_t       *root;
    ngx_uint_t                 n;
    const u_char              *wrong;   /* where the text is wrong, and why */
    const char                *why;
    ngx_svc_scim_node_t        nodes[NGX_SVC_SCIM_FILTER_NODES];
} ngx_svc_scim_filter_tree_t;


/*
 * Reads a whole filter into a tree, whose texts point into the filter's: "and"
 * binds more tightly than "or".  Returns NGX_OK; NGX_DECLINED with "wrong" and
 * "why" set.
 */
ngx_int_t ngx_svc_scim_filter_read(const ngx_str_t *text,
    ngx_svc_scim_filter_tree_t *filter);

/*
 * Checks what follows the bracket of a value path, valFilter "]" ["." subAttr],
 * and nothing else.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_scim_value_filter(const u_char *p, const u_char *end);


#endif /* _NGX_SVC_SCIM_FILTER_TREE_H_INCLUDED_ */
