/*
 * Filters as conditions of SQL, true or false for each user.
 */

#include "ngx_svc_scim_filter_sql.h"
#include "ngx_svc_scim_filter_attr.h"
#include "ngx_svc_scim_filter_check.h"


#define NGX_SVC_SCIM_COMPARE_SQL  512       /* bytes of a comparison, twice */

/* sorts behind all texts that begin with a text, in the order of bytes */
#define NGX_SVC_SCIM_LAST_CHAR    "repeat(chr(1114111), 257)"


/* How well a condition narrows the users to be looked at. */

enum {
    NGX_SVC_SCIM_FIRST_NONE = 0,
    NGX_SVC_SCIM_FIRST_RANGE,
    NGX_SVC_SCIM_FIRST_TIME,
    NGX_SVC_SCIM_FIRST_PREFIX,
    NGX_SVC_SCIM_FIRST_KEY
};


typedef struct {
    const ngx_str_t       *users;
    ngx_svc_scim_where_t  *where;
    u_char                *p;
} ngx_svc_scim_compiler_t;


static void ngx_svc_scim_sql_put(ngx_svc_scim_compiler_t *c,
    const char *text);
static ngx_uint_t ngx_svc_scim_sql_param(ngx_svc_scim_compiler_t *c,
    ngx_svc_scim_node_t *node);
static ngx_svc_scim_node_t *ngx_svc_scim_sql_rest(ngx_svc_scim_node_t *node);
static ngx_svc_scim_where_e ngx_svc_scim_sql_kind(ngx_svc_scim_compiler_t *c,
    ngx_svc_scim_node_t *node);
static void ngx_svc_scim_sql_write(ngx_svc_scim_compiler_t *c,
    ngx_svc_scim_node_t *node);
static void ngx_svc_scim_sql_leaf(ngx_svc_scim_compiler_t *c,
    ngx_svc_scim_node_t *node);
static void ngx_svc_scim_sql_operands(ngx_svc_scim_compiler_t *c,
    ngx_svc_scim_node_t *node);
static void ngx_svc_scim_sql_operator(ngx_svc_scim_compiler_t *c,
    ngx_svc_scim_node_t *node, const char *sql, const char *value);
static ngx_uint_t ngx_svc_scim_sql_rank(ngx_svc_scim_node_t *node);
static void ngx_svc_scim_sql_first(ngx_svc_scim_compiler_t *c,
    ngx_svc_scim_node_t *node);


static const char  *ngx_svc_scim_sql_operators[] = {
    " = ", " IS DISTINCT FROM ", "", "", "", " > ", " >= ", " < ", " <= ", ""
};


ngx_int_t
ngx_svc_scim_where(ngx_pool_t *pool, const ngx_str_t *filter,
    const ngx_str_t *users, ngx_svc_scim_where_t *where, ngx_svc_error_t *err)
{
    ngx_int_t                    rc;
    ngx_svc_scim_node_t         *root;
    ngx_svc_scim_compiler_t      c;
    ngx_svc_scim_filter_tree_t  *tree;

    ngx_memzero(where, sizeof(ngx_svc_scim_where_t));

    c.users = users;
    c.where = where;

    if (filter->len > NGX_SVC_SCIM_FILTER_MAX) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_FILTER,
                            "The filter is longer than %d bytes.",
                            NGX_SVC_SCIM_FILTER_MAX);
    }

    tree = ngx_palloc(pool, sizeof(ngx_svc_scim_filter_tree_t));
    if (tree == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_scim_filter_check(pool, filter, tree, err);
    if (rc != NGX_OK) {
        return rc;
    }

    root = ngx_svc_scim_sql_rest(tree->root);
    where->kind = ngx_svc_scim_sql_kind(&c, root);

    if (root->truth != NGX_SVC_SCIM_SOME || where->nparams) {
        return NGX_OK;
    }

    c.p = ngx_pnalloc(pool, tree->n * NGX_SVC_SCIM_COMPARE_SQL);
    if (c.p == NULL) {
        return NGX_ERROR;
    }

    where->sql.data = c.p;
    ngx_svc_scim_sql_write(&c, root);
    where->sql.len = c.p - where->sql.data;

    where->cheap = ngx_svc_scim_sql_rank(root) == NGX_SVC_SCIM_FIRST_KEY;
    where->first.data = c.p;
    ngx_svc_scim_sql_first(&c, root);
    where->first.len = c.p - where->first.data;

    return NGX_OK;
}


/*
 * Returns the number of a comparison's parameter, and adds it at the first
 * call; for a location it adds two.
 */

static ngx_uint_t
ngx_svc_scim_sql_param(ngx_svc_scim_compiler_t *c, ngx_svc_scim_node_t *node)
{
    ngx_svc_scim_where_t       *where = c->where;
    const ngx_svc_scim_attr_t  *attr = node->attr;

    if (node->param == 0) {

        where->params[where->nparams++] = node->value;
        node->param = where->nparams + NGX_SVC_SCIM_WHERE_BEFORE;

        if (attr->type == NGX_SVC_SCIM_ATTR_LOCATION) {
            where->params[where->nparams++] = *c->users;
        }
    }

    return node->param;
}


/*
 * Returns the node without what changes nothing: a side of "and" or "or" that
 * is alike for all users, and brackets.
 */

static ngx_svc_scim_node_t *
ngx_svc_scim_sql_rest(ngx_svc_scim_node_t *node)
{
    if (node->truth != NGX_SVC_SCIM_SOME
        || node->type == NGX_SVC_SCIM_NODE_COMPARE)
    {
        return node;
    }

    node->left = ngx_svc_scim_sql_rest(node->left);

    if (node->type == NGX_SVC_SCIM_NODE_PATH) {
        return node->left;
    }

    if (node->right == NULL) {
        return node;
    }

    node->right = ngx_svc_scim_sql_rest(node->right);

    return node->left->truth != NGX_SVC_SCIM_SOME ? node->right
           : node->right->truth != NGX_SVC_SCIM_SOME ? node->left
           : node;
}


static ngx_svc_scim_where_e
ngx_svc_scim_sql_kind(ngx_svc_scim_compiler_t *c, ngx_svc_scim_node_t *node)
{
    const ngx_svc_scim_attr_t  *attr;

    if (node->truth != NGX_SVC_SCIM_SOME) {
        return node->truth == NGX_SVC_SCIM_EVERY ? NGX_SVC_SCIM_WHERE_ALL
                                                 : NGX_SVC_SCIM_WHERE_NOBODY;
    }

    if (node->type != NGX_SVC_SCIM_NODE_COMPARE) {
        return NGX_SVC_SCIM_WHERE_OTHER;
    }

    attr = node->attr;

    if (attr->type == NGX_SVC_SCIM_ATTR_ACTIVE
        && !ngx_svc_scim_filter_presence(node))
    {
        return node->param ? NGX_SVC_SCIM_WHERE_ACTIVE
                           : NGX_SVC_SCIM_WHERE_INACTIVE;
    }

    if (!attr->unique || node->op != NGX_SVC_SCIM_OP_EQ
        || ngx_svc_scim_filter_presence(node))
    {
        return NGX_SVC_SCIM_WHERE_OTHER;
    }

    (void) ngx_svc_scim_sql_param(c, node);

    return attr->type == NGX_SVC_SCIM_ATTR_ID ? NGX_SVC_SCIM_WHERE_ID
           : attr->type == NGX_SVC_SCIM_ATTR_EXACT
           ? NGX_SVC_SCIM_WHERE_EXTERNAL_ID : NGX_SVC_SCIM_WHERE_USER_NAME;
}


static void
ngx_svc_scim_sql_put(ngx_svc_scim_compiler_t *c, const char *text)
{
    c->p = ngx_cpymem(c->p, text, ngx_strlen(text));
}


static void
ngx_svc_scim_sql_write(ngx_svc_scim_compiler_t *c, ngx_svc_scim_node_t *node)
{
    switch (node->type) {

    case NGX_SVC_SCIM_NODE_COMPARE:
        ngx_svc_scim_sql_leaf(c, node);
        return;

    case NGX_SVC_SCIM_NODE_NOT:
        ngx_svc_scim_sql_put(c, "NOT (");
        ngx_svc_scim_sql_write(c, node->left);
        break;

    default: /* NGX_SVC_SCIM_NODE_AND, NGX_SVC_SCIM_NODE_OR */
        ngx_svc_scim_sql_put(c, "(");
        ngx_svc_scim_sql_write(c, node->left);
        ngx_svc_scim_sql_put(c, node->type == NGX_SVC_SCIM_NODE_AND ? " AND "
                                                                    : " OR ");
        ngx_svc_scim_sql_write(c, node->right);
    }

    ngx_svc_scim_sql_put(c, ")");
}


/* Writes a condition that is true or false, and never NULL. */

static void
ngx_svc_scim_sql_leaf(ngx_svc_scim_compiler_t *c, ngx_svc_scim_node_t *node)
{
    const ngx_svc_scim_attr_t  *attr = node->attr;

    if (attr->type == NGX_SVC_SCIM_ATTR_ACTIVE) {
        ngx_svc_scim_sql_put(c, node->param ? "account.status = 'active'"
                                            : "account.status <> 'active'");
        return;
    }

    if (attr->type == NGX_SVC_SCIM_ATTR_SCHEMAS) {
        ngx_svc_scim_sql_put(c, node->op == NGX_SVC_SCIM_OP_NE
                                ? "account.department IS NULL"
                                : "account.department IS NOT NULL");
        return;
    }

    if (ngx_svc_scim_filter_presence(node)) {
        ngx_svc_scim_sql_put(c, attr->sql);

        if (attr->type != NGX_SVC_SCIM_ATTR_COMPLEX) {
            ngx_svc_scim_sql_put(c, node->op == NGX_SVC_SCIM_OP_EQ
                                    ? " IS NULL" : " IS NOT NULL");
        }

        return;
    }

    ngx_svc_scim_sql_operands(c, node);
}


/* Writes both operands of a comparison, each by the attribute's type. */

static void
ngx_svc_scim_sql_operands(ngx_svc_scim_compiler_t *c,
    ngx_svc_scim_node_t *node)
{
    u_char                      column[64], value[64];
    ngx_uint_t                  n;
    const char                 *sql, *format;
    const ngx_svc_scim_attr_t  *attr = node->attr;

    n = ngx_svc_scim_sql_param(c, node);
    sql = attr->sql;
    format = "$%ui::text%Z";

    switch (attr->type) {

    case NGX_SVC_SCIM_ATTR_TEXT:
        format = "lower($%ui::text)%Z";
        break;

    case NGX_SVC_SCIM_ATTR_ADDRESS:
        format = "svc.address_key($%ui::text)%Z";
        break;

    case NGX_SVC_SCIM_ATTR_TIME:
        format = "to_timestamp($%ui::text::float8 / 1000)%Z";
        break;

    case NGX_SVC_SCIM_ATTR_LOCATION:
        ngx_sprintf(column, "($%ui::text || account.id::text) COLLATE \"C\"%Z",
                    n + 1);
        sql = (const char *) column;
        break;

    case NGX_SVC_SCIM_ATTR_ID:

        if (node->op == NGX_SVC_SCIM_OP_EQ || node->op == NGX_SVC_SCIM_OP_NE) {
            format = "$%ui::uuid%Z";

        } else {
            sql = "account.id::text COLLATE \"C\"";
        }

        break;

    default:
        break;
    }

    ngx_sprintf(value, format, n);

    if (attr->required || node->op == NGX_SVC_SCIM_OP_NE) {
        ngx_svc_scim_sql_operator(c, node, sql, (const char *) value);
        return;
    }

    ngx_svc_scim_sql_put(c, "coalesce(");
    ngx_svc_scim_sql_operator(c, node, sql, (const char *) value);
    ngx_svc_scim_sql_put(c, ", false)");
}


static void
ngx_svc_scim_sql_operator(ngx_svc_scim_compiler_t *c,
    ngx_svc_scim_node_t *node, const char *sql, const char *value)
{
    switch (node->op) {

    case NGX_SVC_SCIM_OP_CO:
        c->p = ngx_sprintf(c->p, "strpos(%s, %s) > 0", sql, value);
        return;

    case NGX_SVC_SCIM_OP_SW:
        c->p = ngx_sprintf(c->p, "starts_with(%s, %s)", sql, value);
        return;

    case NGX_SVC_SCIM_OP_EW:
        c->p = ngx_sprintf(c->p, "right(%s, length(%s)) = %s", sql, value,
                           value);
        return;

    default:
        c->p = ngx_sprintf(c->p, "%s%s%s", sql,
                           ngx_svc_scim_sql_operators[node->op], value);
    }
}


/* Returns how well an index answers a condition that the node implies. */

static ngx_uint_t
ngx_svc_scim_sql_rank(ngx_svc_scim_node_t *node)
{
    ngx_uint_t                  left, right;
    const ngx_svc_scim_attr_t  *attr = node->attr;

    switch (node->type) {

    case NGX_SVC_SCIM_NODE_AND:
        left = ngx_svc_scim_sql_rank(node->left);
        right = ngx_svc_scim_sql_rank(node->right);
        return ngx_max(left, right);

    case NGX_SVC_SCIM_NODE_OR:
        left = ngx_svc_scim_sql_rank(node->left);
        right = ngx_svc_scim_sql_rank(node->right);
        return ngx_min(left, right);

    case NGX_SVC_SCIM_NODE_COMPARE:
        break;

    default:
        return NGX_SVC_SCIM_FIRST_NONE;
    }

    if (!attr->index || ngx_svc_scim_filter_presence(node)) {
        return NGX_SVC_SCIM_FIRST_NONE;
    }

    switch (node->op) {

    case NGX_SVC_SCIM_OP_EQ:
        return attr->unique ? NGX_SVC_SCIM_FIRST_KEY
                            : NGX_SVC_SCIM_FIRST_PREFIX;

    case NGX_SVC_SCIM_OP_SW:
        return attr->type == NGX_SVC_SCIM_ATTR_ID ? NGX_SVC_SCIM_FIRST_NONE
                                                  : NGX_SVC_SCIM_FIRST_PREFIX;
    case NGX_SVC_SCIM_OP_GT:
    case NGX_SVC_SCIM_OP_GE:
    case NGX_SVC_SCIM_OP_LT:
    case NGX_SVC_SCIM_OP_LE:
        return attr->type == NGX_SVC_SCIM_ATTR_ID ? NGX_SVC_SCIM_FIRST_NONE
               : attr->type == NGX_SVC_SCIM_ATTR_TIME ? NGX_SVC_SCIM_FIRST_TIME
               : NGX_SVC_SCIM_FIRST_RANGE;
    default:
        return NGX_SVC_SCIM_FIRST_NONE;
    }
}


static void
ngx_svc_scim_sql_first(ngx_svc_scim_compiler_t *c, ngx_svc_scim_node_t *node)
{
    ngx_uint_t                  n;
    const char                 *fold;
    const ngx_svc_scim_attr_t  *attr = node->attr;

    if (ngx_svc_scim_sql_rank(node) == NGX_SVC_SCIM_FIRST_NONE) {
        ngx_svc_scim_sql_put(c, "true");
        return;
    }

    if (node->type == NGX_SVC_SCIM_NODE_AND) {
        ngx_svc_scim_sql_first(c, ngx_svc_scim_sql_rank(node->left)
                                  >= ngx_svc_scim_sql_rank(node->right)
                                  ? node->left : node->right);
        return;
    }

    if (node->type == NGX_SVC_SCIM_NODE_OR) {
        ngx_svc_scim_sql_put(c, "(");
        ngx_svc_scim_sql_first(c, node->left);
        ngx_svc_scim_sql_put(c, " OR ");
        ngx_svc_scim_sql_first(c, node->right);
        ngx_svc_scim_sql_put(c, ")");
        return;
    }

    n = ngx_svc_scim_sql_param(c, node);

    if (node->op != NGX_SVC_SCIM_OP_SW) {

        if (attr->required) {
            ngx_svc_scim_sql_leaf(c, node);
            return;
        }

        c->p = ngx_sprintf(c->p, "%s%s$%ui::text", attr->sql,
                           ngx_svc_scim_sql_operators[node->op], n);
        return;
    }

    fold = (attr->type == NGX_SVC_SCIM_ATTR_TEXT) ? "lower"
           : (attr->type == NGX_SVC_SCIM_ATTR_ADDRESS) ? "svc.address_key"
           : "";

    c->p = ngx_sprintf(c->p, "(%s >= %s($%ui::text) AND %s < %s($%ui::text)"
                       " || " NGX_SVC_SCIM_LAST_CHAR ")",
                       attr->sql, fold, n, attr->sql, fold, n);
}
