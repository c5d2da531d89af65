/*
 * Filters (RFC 7644, 3.4.2.2), and what is in the brackets of a path (3.5.2).
 */

#include "ngx_svc_scim_filter_tree.h"
#include "ngx_svc_scim_text.h"


#define NGX_SVC_SCIM_GRAMMAR_DEPTH  32      /* parentheses */


/*
 * Without a filter only the syntax matters, and whatever would be a node of
 * its tree is written into the same one.
 */

typedef struct {
    const u_char                *pos;
    const u_char                *end;
    ngx_uint_t                   depth;
    ngx_uint_t                   values;    /* brackets are allowed */
    ngx_svc_scim_attr_path_t    *scope;     /* whose brackets these are */
    ngx_svc_scim_filter_tree_t  *filter;    /* or NULL */
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
static ngx_int_t ngx_svc_scim_filter_value(ngx_svc_scim_reader_t *r,
    ngx_svc_scim_node_t *node);
static ngx_int_t ngx_svc_scim_filter_number(ngx_str_t *text);
static void ngx_svc_scim_filter_token(ngx_svc_scim_reader_t *r,
    ngx_str_t *token);
static ngx_uint_t ngx_svc_scim_filter_one_of(const ngx_str_t *names,
    const ngx_str_t *token);
static ngx_int_t ngx_svc_scim_filter_spaces(ngx_svc_scim_reader_t *r);


/* In the order of the enumerations. */

static const ngx_str_t  ngx_svc_scim_filter_operators[] = {
    ngx_string("eq"),
    ngx_string("ne"),
    ngx_string("co"),
    ngx_string("sw"),
    ngx_string("ew"),
    ngx_string("gt"),
    ngx_string("ge"),
    ngx_string("lt"),
    ngx_string("le"),
    ngx_string("pr"),
    ngx_null_string
};


static const ngx_str_t  ngx_svc_scim_filter_literals[] = {
    ngx_string("true"),
    ngx_string("false"),
    ngx_string("null"),
    ngx_null_string
};


static const ngx_str_t  ngx_svc_scim_filter_and_word = ngx_string("and");
static const ngx_str_t  ngx_svc_scim_filter_or_word = ngx_string("or");
static const ngx_str_t  ngx_svc_scim_filter_not = ngx_string("not");


ngx_int_t
ngx_svc_scim_value_filter(const u_char *p, const u_char *end)
{
    const u_char           *q;
    ngx_svc_scim_reader_t   r;

    ngx_memzero(&r, sizeof(ngx_svc_scim_reader_t));

    r.pos = p;
    r.end = end;

    if (ngx_svc_scim_filter_or(&r) == NULL
        || r.pos == end || *r.pos++ != ']')
    {
        return NGX_ERROR;
    }

    if (r.pos == end) {
        return NGX_OK;
    }

    if (*r.pos++ != '.') {
        return NGX_ERROR;
    }

    q = ngx_svc_scim_sub_attr(r.pos, end);

    return (q > r.pos && q == end) ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_scim_filter_read(const ngx_str_t *text,
    ngx_svc_scim_filter_tree_t *filter)
{
    ngx_svc_scim_reader_t  r;

    ngx_memzero(&r, sizeof(ngx_svc_scim_reader_t));

    r.pos = text->data;
    r.end = text->data + text->len;
    r.filter = filter;
    r.values = 1;

    filter->n = 0;
    filter->wrong = r.pos;
    filter->why = NULL;
    filter->root = ngx_svc_scim_filter_or(&r);

    if (filter->root == NULL) {
        return NGX_DECLINED;
    }

    if (r.pos != r.end) {
        (void) ngx_svc_scim_filter_wrong(&r, r.pos,
                                         "nothing more is expected");
        return NGX_DECLINED;
    }

    return NGX_OK;
}


/* NULL: there are as many as there may be. */

static ngx_svc_scim_node_t *
ngx_svc_scim_filter_node(ngx_svc_scim_reader_t *r, ngx_svc_scim_node_e type,
    ngx_svc_scim_node_t *left, ngx_svc_scim_node_t *right)
{
    ngx_svc_scim_node_t  *node;

    if (r->filter == NULL) {
        return &r->scratch;
    }

    if (r->filter->n == NGX_SVC_SCIM_FILTER_NODES) {
        return ngx_svc_scim_filter_wrong(r, r->pos,
                                         "there are too many comparisons");
    }

    node = &r->filter->nodes[r->filter->n++];
    ngx_memzero(node, sizeof(ngx_svc_scim_node_t));

    node->type = type;
    node->left = left;
    node->right = right;

    return node;
}


/* The first thing that is wrong stays. */

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

    (void) ngx_svc_scim_filter_spaces(r);
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
 * Behind a term: NGX_OK when that word follows, and the position is that of
 * the next term; NGX_DECLINED when the other one does, or nothing.
 */

static ngx_int_t
ngx_svc_scim_filter_join(ngx_svc_scim_reader_t *r, const ngx_str_t *word)
{
    ngx_str_t      token;
    ngx_int_t      spaces;
    const u_char  *start;

    start = r->pos;

    spaces = ngx_svc_scim_filter_spaces(r);
    ngx_svc_scim_filter_token(r, &token);

    if (token.len == 0) {
        return NGX_DECLINED;
    }

    if (spaces == NGX_OK && ngx_svc_scim_name_is(word, &token)
        && ngx_svc_scim_filter_spaces(r) == NGX_OK)
    {
        return NGX_OK;
    }

    if (spaces == NGX_OK
        && (ngx_svc_scim_name_is(&ngx_svc_scim_filter_or_word, &token)
            || ngx_svc_scim_name_is(&ngx_svc_scim_filter_and_word, &token))
        && !ngx_svc_scim_name_is(word, &token))
    {
        r->pos = start;
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

    ngx_svc_scim_filter_token(r, &token);

    if (token.len == 0) {
        return ngx_svc_scim_filter_group(r);
    }

    if (r->values && r->pos < r->end && *r->pos == '[') {
        return ngx_svc_scim_filter_value_path(r, &token);
    }

    spaces = ngx_svc_scim_filter_spaces(r);

    if (r->pos < r->end && *r->pos == '('
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
        return ngx_svc_scim_filter_wrong(r, r->pos, "an operator is expected");
    }

    ngx_svc_scim_filter_scope(r, &path);

    return ngx_svc_scim_filter_compare(r, &path, token.data);
}


/* Inside of brackets a name is that of a sub-attribute. */

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


/* attrPath "[" valFilter "]", or that with a sub-attribute and a comparison. */

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

    r->pos++;
    r->scope = &path;
    r->values = 0;

    node = ngx_svc_scim_filter_or(r);

    r->scope = NULL;
    r->values = 1;

    if (node == NULL) {
        return NULL;
    }

    if (r->pos == r->end || *r->pos != ']') {
        return ngx_svc_scim_filter_wrong(r, r->pos, "\"]\" is expected");
    }

    node = ngx_svc_scim_filter_node(r, NGX_SVC_SCIM_NODE_PATH, node, NULL);
    r->pos++;

    if (node) {
        node->path = path;
        node->at = token->data;
    }

    if (node == NULL || r->pos == r->end || *r->pos != '.') {
        return node;
    }

    sub = ++r->pos;
    r->pos = ngx_svc_scim_sub_attr(sub, r->end);

    path.sub.data = (u_char *) sub;
    path.sub.len = r->pos - sub;

    if (path.sub.len == 0 || ngx_svc_scim_filter_spaces(r) != NGX_OK) {
        return ngx_svc_scim_filter_wrong(r, r->pos,
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

    if (r->pos == r->end || *r->pos != '(') {
        return ngx_svc_scim_filter_wrong(r, r->pos, "a comparison is expected");
    }

    if (++r->depth > NGX_SVC_SCIM_GRAMMAR_DEPTH) {
        return ngx_svc_scim_filter_wrong(r, r->pos,
                                         "there are too many parentheses");
    }

    r->pos++;

    node = ngx_svc_scim_filter_or(r);
    if (node == NULL) {
        return NULL;
    }

    if (r->pos == r->end || *r->pos != ')') {
        return ngx_svc_scim_filter_wrong(r, r->pos, "\")\" is expected");
    }

    r->pos++;
    r->depth--;

    return node;
}


static ngx_svc_scim_node_t *
ngx_svc_scim_filter_compare(ngx_svc_scim_reader_t *r,
    ngx_svc_scim_attr_path_t *path, const u_char *at)
{
    ngx_str_t             token;
    ngx_uint_t            op;
    ngx_svc_scim_node_t  *node;

    ngx_svc_scim_filter_token(r, &token);

    op = ngx_svc_scim_filter_one_of(ngx_svc_scim_filter_operators, &token);
    if (op == 0) {
        return ngx_svc_scim_filter_wrong(r, token.data,
                                         "this is not an operator");
    }

    node = ngx_svc_scim_filter_node(r, NGX_SVC_SCIM_NODE_COMPARE, NULL, NULL);
    if (node == NULL) {
        return NULL;
    }

    node->path = *path;
    node->at = at;
    node->op = op - 1;

    if (node->op == NGX_SVC_SCIM_OP_PR) {
        return node;
    }

    if (ngx_svc_scim_filter_spaces(r) != NGX_OK
        || ngx_svc_scim_filter_value(r, node) != NGX_OK)
    {
        return ngx_svc_scim_filter_wrong(r, r->pos,
                                    "a string, number, true, false or null is "
                                    "expected, behind a blank");
    }

    return node;
}


static ngx_int_t
ngx_svc_scim_filter_value(ngx_svc_scim_reader_t *r, ngx_svc_scim_node_t *node)
{
    ngx_str_t      token;
    ngx_uint_t     literal;
    const u_char  *start;

    start = r->pos;

    if (r->pos < r->end && *r->pos == '"') {

        node->kind = NGX_SVC_SCIM_VALUE_STRING;

        if (ngx_svc_scim_string(&r->pos, r->end, NULL) == NGX_ERROR) {
            return NGX_ERROR;
        }

    } else {
        ngx_svc_scim_filter_token(r, &token);

        literal = ngx_svc_scim_filter_one_of(ngx_svc_scim_filter_literals,
                                             &token);
        if (literal) {
            node->kind = NGX_SVC_SCIM_VALUE_TRUE + literal - 1;

        } else if (ngx_svc_scim_filter_number(&token) == NGX_OK) {
            node->kind = NGX_SVC_SCIM_VALUE_NUMBER;

        } else {
            r->pos = start;
            return NGX_ERROR;
        }
    }

    node->value.data = (u_char *) start;
    node->value.len = r->pos - start;

    return NGX_OK;
}


/* A number of RFC 8259, 6. */

static ngx_int_t
ngx_svc_scim_filter_number(ngx_str_t *text)
{
    u_char  *p, *end, *digits;

    p = text->data;
    end = p + text->len;

    p += (p < end && *p == '-');

    for (digits = p; p < end && *p >= '0' && *p <= '9'; p++) { /* void */ }

    if (p == digits || (*digits == '0' && p > digits + 1)) {
        return NGX_ERROR;
    }

    if (p < end && *p == '.') {

        p++;

        for (digits = p; p < end && *p >= '0' && *p <= '9'; p++) { /* void */ }

        if (p == digits) {
            return NGX_ERROR;
        }
    }

    if (p < end && (*p == 'e' || *p == 'E')) {

        p++;
        p += (p < end && (*p == '+' || *p == '-'));

        for (digits = p; p < end && *p >= '0' && *p <= '9'; p++) { /* void */ }

        if (p == digits) {
            return NGX_ERROR;
        }
    }

    return (p == end) ? NGX_OK : NGX_ERROR;
}


/* What stands before the next space, bracket, parenthesis or quote. */

static void
ngx_svc_scim_filter_token(ngx_svc_scim_reader_t *r, ngx_str_t *token)
{
    token->data = (u_char *) r->pos;

    while (r->pos < r->end
           && *r->pos != ' ' && *r->pos != '"'
           && *r->pos != '(' && *r->pos != ')'
           && *r->pos != '[' && *r->pos != ']')
    {
        r->pos++;
    }

    token->len = r->pos - token->data;
}


/* From 1; 0: none of them. */

static ngx_uint_t
ngx_svc_scim_filter_one_of(const ngx_str_t *names, const ngx_str_t *token)
{
    ngx_uint_t  i;

    for (i = 0; names[i].len; i++) {
        if (ngx_svc_scim_name_is(&names[i], token)) {
            return i + 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_svc_scim_filter_spaces(ngx_svc_scim_reader_t *r)
{
    const u_char  *start;

    for (start = r->pos; r->pos < r->end && *r->pos == ' '; r->pos++) {
        /* void */
    }

    return (r->pos > start) ? NGX_OK : NGX_DECLINED;
}
