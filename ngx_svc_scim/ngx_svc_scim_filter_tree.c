/*
 * Filters (RFC 7644, 3.4.2.2), and what is in the brackets of a path (3.5.2).
 */

#include "ngx_svc_scim_filter_tree.h"


#define NGX_SVC_SCIM_GRAMMAR_DEPTH  32      /* parentheses */


/*
 * Without a filter only the syntax matters, and all nodes of the tree are
 * written into "scratch".
 */

typedef struct {
    ngx_svc_scim_cursor_t        in;
    ngx_uint_t                   depth;
    ngx_uint_t                   values;    /* 1: brackets are allowed */
    ngx_svc_scim_attr_path_t    *scope;     /* attribute of the brackets */
    ngx_svc_scim_filter_tree_t  *filter;    /* NULL: only the syntax */
    ngx_svc_scim_node_t          scratch;
} ngx_svc_scim_reader_t;


static ngx_svc_scim_node_t *ngx_svc_scim_filter_node(
    ngx_svc_scim_reader_t *r, ngx_svc_scim_node_e type,
    ngx_svc_scim_node_t *left, ngx_svc_scim_node_t *right);
static ngx_svc_scim_node_t *ngx_svc_scim_filter_wrong(
    ngx_svc_scim_reader_t *r, const u_char *at, const char *why);
static ngx_svc_scim_node_t *ngx_svc_scim_filter_or(ngx_svc_scim_reader_t *r);
static ngx_svc_scim_node_t *ngx_svc_scim_filter_and(ngx_svc_scim_reader_t *r);
static ngx_int_t ngx_svc_scim_filter_join(ngx_svc_scim_reader_t *r,
    const ngx_str_t *word);
static ngx_svc_scim_node_t *ngx_svc_scim_filter_term(
    ngx_svc_scim_reader_t *r);
static void ngx_svc_scim_filter_scope(ngx_svc_scim_reader_t *r,
    ngx_svc_scim_attr_path_t *path);
static ngx_svc_scim_node_t *ngx_svc_scim_filter_value_path(
    ngx_svc_scim_reader_t *r, ngx_str_t *token);
static ngx_svc_scim_node_t *ngx_svc_scim_filter_group(
    ngx_svc_scim_reader_t *r);
static ngx_svc_scim_node_t *ngx_svc_scim_filter_compare(
    ngx_svc_scim_reader_t *r, ngx_svc_scim_attr_path_t *path,
    const u_char *at);


static const ngx_str_t  ngx_svc_scim_filter_and_word = ngx_string("and");
static const ngx_str_t  ngx_svc_scim_filter_or_word = ngx_string("or");
static const ngx_str_t  ngx_svc_scim_filter_not = ngx_string("not");


ngx_int_t
ngx_svc_scim_value_filter(const u_char *p, const u_char *end)
{
    const u_char           *q;
    ngx_svc_scim_reader_t   r;

    ngx_memzero(&r, sizeof(ngx_svc_scim_reader_t));

    r.in.pos = p;
    r.in.end = end;

    if (ngx_svc_scim_filter_or(&r) == NULL
        || r.in.pos == end || *r.in.pos++ != ']')
    {
        return NGX_ERROR;
    }

    if (r.in.pos == end) {
        return NGX_OK;
    }

    if (*r.in.pos++ != '.') {
        return NGX_ERROR;
    }

    q = ngx_svc_scim_sub_attr(r.in.pos, end);

    return (q > r.in.pos && q == end) ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_scim_filter_read(const ngx_str_t *text,
    ngx_svc_scim_filter_tree_t *filter)
{
    ngx_svc_scim_reader_t  r;

    ngx_memzero(&r, sizeof(ngx_svc_scim_reader_t));

    r.in.pos = text->data;
    r.in.end = text->data + text->len;
    r.filter = filter;
    r.values = 1;

    filter->n = 0;
    filter->wrong = r.in.pos;
    filter->why = NULL;
    filter->root = ngx_svc_scim_filter_or(&r);

    if (filter->root == NULL) {
        return NGX_DECLINED;
    }

    if (r.in.pos != r.in.end) {
        (void) ngx_svc_scim_filter_wrong(&r, r.in.pos,
                                         "nothing more is expected");
        return NGX_DECLINED;
    }

    return NGX_OK;
}


/* Returns NULL when there are as many nodes as there may be. */

static ngx_svc_scim_node_t *
ngx_svc_scim_filter_node(ngx_svc_scim_reader_t *r, ngx_svc_scim_node_e type,
    ngx_svc_scim_node_t *left, ngx_svc_scim_node_t *right)
{
    ngx_svc_scim_node_t  *node;

    if (r->filter == NULL) {
        return &r->scratch;
    }

    if (r->filter->n == NGX_SVC_SCIM_FILTER_NODES) {
        return ngx_svc_scim_filter_wrong(r, r->in.pos,
                                         "there are too many comparisons");
    }

    node = &r->filter->nodes[r->filter->n++];
    ngx_memzero(node, sizeof(ngx_svc_scim_node_t));

    node->type = type;
    node->left = left;
    node->right = right;

    return node;
}


/* Keeps the first error. */

static ngx_svc_scim_node_t *
ngx_svc_scim_filter_wrong(ngx_svc_scim_reader_t *r, const u_char *at,
    const char *why)
{
    if (r->filter && r->filter->why == NULL) {
        r->filter->wrong = at;
        r->filter->why = why;
    }

    return NULL;
}


static ngx_svc_scim_node_t *
ngx_svc_scim_filter_or(ngx_svc_scim_reader_t *r)
{
    ngx_int_t             rc;
    ngx_svc_scim_node_t  *left, *right;

    left = ngx_svc_scim_filter_and(r);

    while (left) {

        rc = ngx_svc_scim_filter_join(r, &ngx_svc_scim_filter_or_word);

        if (rc != NGX_OK) {
            return rc == NGX_DECLINED ? left : NULL;
        }

        right = ngx_svc_scim_filter_and(r);
        if (right == NULL) {
            return NULL;
        }

        left = ngx_svc_scim_filter_node(r, NGX_SVC_SCIM_NODE_OR, left, right);
    }

    return NULL;
}


static ngx_svc_scim_node_t *
ngx_svc_scim_filter_and(ngx_svc_scim_reader_t *r)
{
    ngx_int_t             rc;
    ngx_svc_scim_node_t  *left, *right;

    (void) ngx_svc_scim_filter_spaces(&r->in);
    left = ngx_svc_scim_filter_term(r);

    while (left) {

        rc = ngx_svc_scim_filter_join(r, &ngx_svc_scim_filter_and_word);

        if (rc != NGX_OK) {
            return rc == NGX_DECLINED ? left : NULL;
        }

        right = ngx_svc_scim_filter_term(r);
        if (right == NULL) {
            return NULL;
        }

        left = ngx_svc_scim_filter_node(r, NGX_SVC_SCIM_NODE_AND, left, right);
    }

    return NULL;
}


/*
 * Reads on behind a term.  Returns NGX_OK when the word follows, and the
 * position is that of the next term; NGX_DECLINED when the other word follows,
 * or nothing.
 */

static ngx_int_t
ngx_svc_scim_filter_join(ngx_svc_scim_reader_t *r, const ngx_str_t *word)
{
    ngx_str_t      token;
    ngx_int_t      spaces;
    const u_char  *start;

    start = r->in.pos;

    spaces = ngx_svc_scim_filter_spaces(&r->in);
    ngx_svc_scim_filter_token(&r->in, &token);

    if (token.len == 0) {
        return NGX_DECLINED;
    }

    if (spaces == NGX_OK && ngx_svc_scim_name_is(word, &token)
        && ngx_svc_scim_filter_spaces(&r->in) == NGX_OK)
    {
        return NGX_OK;
    }

    if (spaces == NGX_OK
        && (ngx_svc_scim_name_is(&ngx_svc_scim_filter_or_word, &token)
            || ngx_svc_scim_name_is(&ngx_svc_scim_filter_and_word, &token))
        && !ngx_svc_scim_name_is(word, &token))
    {
        r->in.pos = start;
        return NGX_DECLINED;
    }

    (void) ngx_svc_scim_filter_wrong(r, token.data,
                       "\"and\" or \"or\" is expected, between blanks");
    return NGX_ERROR;
}


static ngx_svc_scim_node_t *
ngx_svc_scim_filter_term(ngx_svc_scim_reader_t *r)
{
    ngx_str_t                  token;
    ngx_int_t                  spaces;
    ngx_svc_scim_node_t       *node;
    ngx_svc_scim_attr_path_t   path;

    ngx_svc_scim_filter_token(&r->in, &token);

    if (token.len == 0) {
        return ngx_svc_scim_filter_group(r);
    }

    if (r->values && r->in.pos < r->in.end && *r->in.pos == '[') {
        return ngx_svc_scim_filter_value_path(r, &token);
    }

    spaces = ngx_svc_scim_filter_spaces(&r->in);

    if (r->in.pos < r->in.end && *r->in.pos == '('
        && ngx_svc_scim_name_is(&ngx_svc_scim_filter_not, &token))
    {
        node = ngx_svc_scim_filter_group(r);

        return node ? ngx_svc_scim_filter_node(r, NGX_SVC_SCIM_NODE_NOT, node,
                                               NULL)
                    : NULL;
    }

    if (ngx_svc_scim_attr_path(token.data, token.data + token.len, &path)
        != NGX_OK)
    {
        return ngx_svc_scim_filter_wrong(r, token.data,
                                         "an attribute is expected");
    }

    if (spaces != NGX_OK) {
        return ngx_svc_scim_filter_wrong(r, r->in.pos,
                                         "an operator is expected");
    }

    ngx_svc_scim_filter_scope(r, &path);

    return ngx_svc_scim_filter_compare(r, &path, token.data);
}


/* A name inside of brackets is that of a sub-attribute. */

static void
ngx_svc_scim_filter_scope(ngx_svc_scim_reader_t *r,
    ngx_svc_scim_attr_path_t *path)
{
    ngx_svc_scim_attr_path_t  whole;

    if (r->scope == NULL) {
        return;
    }

    whole = *r->scope;
    whole.sub = path->name;

    if (path->urn.len || path->sub.len) {
        ngx_str_null(&whole.name);
    }

    *path = whole;
}


/*
 * Reads attrPath "[" valFilter "]", which a sub-attribute and a comparison may
 * follow.
 */

static ngx_svc_scim_node_t *
ngx_svc_scim_filter_value_path(ngx_svc_scim_reader_t *r, ngx_str_t *token)
{
    const u_char              *sub;
    ngx_svc_scim_node_t       *node, *compare;
    ngx_svc_scim_attr_path_t   path;

    if (ngx_svc_scim_attr_path(token->data, token->data + token->len, &path)
        != NGX_OK || path.sub.len)
    {
        return ngx_svc_scim_filter_wrong(r, token->data,
                                         "an attribute is expected");
    }

    r->in.pos++;
    r->scope = &path;
    r->values = 0;

    node = ngx_svc_scim_filter_or(r);

    r->scope = NULL;
    r->values = 1;

    if (node == NULL) {
        return NULL;
    }

    if (r->in.pos == r->in.end || *r->in.pos != ']') {
        return ngx_svc_scim_filter_wrong(r, r->in.pos, "\"]\" is expected");
    }

    node = ngx_svc_scim_filter_node(r, NGX_SVC_SCIM_NODE_PATH, node, NULL);
    r->in.pos++;

    if (node) {
        node->path = path;
        node->at = token->data;
    }

    if (node == NULL || r->in.pos == r->in.end || *r->in.pos != '.') {
        return node;
    }

    sub = ++r->in.pos;
    r->in.pos = ngx_svc_scim_sub_attr(sub, r->in.end);

    path.sub.data = (u_char *) sub;
    path.sub.len = r->in.pos - sub;

    if (path.sub.len == 0 || ngx_svc_scim_filter_spaces(&r->in) != NGX_OK) {
        return ngx_svc_scim_filter_wrong(r, r->in.pos,
                              "a sub-attribute and an operator are expected");
    }

    compare = ngx_svc_scim_filter_compare(r, &path, token->data);

    return compare ? ngx_svc_scim_filter_node(r, NGX_SVC_SCIM_NODE_AND, node,
                                              compare)
                   : NULL;
}


static ngx_svc_scim_node_t *
ngx_svc_scim_filter_group(ngx_svc_scim_reader_t *r)
{
    ngx_svc_scim_node_t  *node;

    if (r->in.pos == r->in.end || *r->in.pos != '(') {
        return ngx_svc_scim_filter_wrong(r, r->in.pos,
                                         "a comparison is expected");
    }

    if (++r->depth > NGX_SVC_SCIM_GRAMMAR_DEPTH) {
        return ngx_svc_scim_filter_wrong(r, r->in.pos,
                                         "there are too many parentheses");
    }

    r->in.pos++;

    node = ngx_svc_scim_filter_or(r);
    if (node == NULL) {
        return NULL;
    }

    if (r->in.pos == r->in.end || *r->in.pos != ')') {
        return ngx_svc_scim_filter_wrong(r, r->in.pos, "\")\" is expected");
    }

    r->in.pos++;
    r->depth--;

    return node;
}


static ngx_svc_scim_node_t *
ngx_svc_scim_filter_compare(ngx_svc_scim_reader_t *r,
    ngx_svc_scim_attr_path_t *path, const u_char *at)
{
    const u_char         *start;
    ngx_svc_scim_op_e     op;
    ngx_svc_scim_node_t  *node;

    start = r->in.pos;

    if (ngx_svc_scim_filter_operator(&r->in, &op) != NGX_OK) {
        return ngx_svc_scim_filter_wrong(r, start, "this is not an operator");
    }

    node = ngx_svc_scim_filter_node(r, NGX_SVC_SCIM_NODE_COMPARE, NULL, NULL);
    if (node == NULL) {
        return NULL;
    }

    node->path = *path;
    node->at = at;
    node->op = op;

    if (node->op == NGX_SVC_SCIM_OP_PR) {
        return node;
    }

    if (ngx_svc_scim_filter_spaces(&r->in) != NGX_OK
        || ngx_svc_scim_filter_value(&r->in, &node->kind, &node->value)
           != NGX_OK)
    {
        return ngx_svc_scim_filter_wrong(r, r->in.pos,
                                    "a string, number, true, false or null is "
                                    "expected, behind a blank");
    }

    return node;
}
