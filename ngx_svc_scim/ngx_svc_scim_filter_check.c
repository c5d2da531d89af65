/*
 * What a filter's comparisons mean, and which of them are alike for all users.
 *
 * A comparison with an attribute that a user lacks is false, but "ne" is true;
 * with an attribute that no user can have it is always false (RFC 7644,
 * 3.4.2.1).  "not" inverts true and false, and there is no third value.
 */

#include "ngx_svc_scim_filter_check.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_filter_attr.h"
#include "ngx_svc_scim_text.h"
#include "ngx_svc_time.h"


typedef struct {
    ngx_pool_t       *pool;
    const ngx_str_t  *filter;
    ngx_svc_error_t  *err;
} ngx_svc_scim_checker_t;


static ngx_int_t ngx_svc_scim_check_fail(ngx_svc_scim_checker_t *c,
    const u_char *at, const char *why);
static ngx_int_t ngx_svc_scim_check_node(ngx_svc_scim_checker_t *c,
    ngx_svc_scim_node_t *node);
static ngx_int_t ngx_svc_scim_check_truth(ngx_svc_scim_node_t *node);
static ngx_int_t ngx_svc_scim_check_brackets(ngx_svc_scim_checker_t *c,
    ngx_svc_scim_node_t *node);
static ngx_int_t ngx_svc_scim_check_compare(ngx_svc_scim_checker_t *c,
    ngx_svc_scim_node_t *node);
static const char *ngx_svc_scim_check_mismatch(ngx_svc_scim_node_t *node);
static ngx_int_t ngx_svc_scim_check_value(ngx_svc_scim_checker_t *c,
    ngx_svc_scim_node_t *node);
static ngx_int_t ngx_svc_scim_check_text(ngx_svc_scim_checker_t *c,
    ngx_svc_scim_node_t *node, ngx_str_t *text);
static ngx_int_t ngx_svc_scim_check_boolean(ngx_svc_scim_checker_t *c,
    ngx_svc_scim_node_t *node, ngx_str_t *text);
static ngx_int_t ngx_svc_scim_check_time(ngx_svc_scim_checker_t *c,
    ngx_svc_scim_node_t *node, ngx_str_t *text);
static ngx_int_t ngx_svc_scim_check_id(ngx_svc_scim_checker_t *c,
    ngx_svc_scim_node_t *node, ngx_str_t *text);
static void ngx_svc_scim_check_word(ngx_svc_scim_node_t *node, ngx_str_t *text);
static void ngx_svc_scim_check_schemas(ngx_svc_scim_node_t *node,
    ngx_str_t *text);
static ngx_uint_t ngx_svc_scim_check_holds(ngx_svc_scim_op_e op,
    const char *word, ngx_str_t *text, ngx_uint_t exact);
static ngx_int_t ngx_svc_scim_check_order(u_char *word, ngx_str_t *text,
    ngx_uint_t exact);
static ngx_uint_t ngx_svc_scim_check_part(ngx_svc_scim_op_e op, u_char *word,
    ngx_str_t *text, ngx_uint_t exact);


ngx_int_t
ngx_svc_scim_filter_check(ngx_pool_t *pool, const ngx_str_t *filter,
    ngx_svc_scim_filter_tree_t *tree, ngx_svc_error_t *err)
{
    ngx_svc_scim_checker_t  c;

    c.pool = pool;
    c.filter = filter;
    c.err = err;

    if (ngx_svc_scim_filter_read(filter, tree) != NGX_OK) {
        return ngx_svc_scim_check_fail(&c, tree->wrong, tree->why);
    }

    return ngx_svc_scim_check_node(&c, tree->root);
}


ngx_uint_t
ngx_svc_scim_filter_presence(const ngx_svc_scim_node_t *node)
{
    return node->op == NGX_SVC_SCIM_OP_PR
           || node->kind == NGX_SVC_SCIM_VALUE_NULL;
}


/* Tells the client which character is wrong, counted from 1. */

static ngx_int_t
ngx_svc_scim_check_fail(ngx_svc_scim_checker_t *c, const u_char *at,
    const char *why)
{
    ngx_uint_t     n;
    const u_char  *p;

    n = 1;

    for (p = c->filter->data; p < at; p++) {
        n += (*p & 0xc0) != 0x80;
    }

    return ngx_svc_fail(c->err, NGX_SVC_E_INVALID_FILTER,
                        "The filter is not valid at character %ui: %s.", n,
                        why);
}


static ngx_int_t
ngx_svc_scim_check_node(ngx_svc_scim_checker_t *c, ngx_svc_scim_node_t *node)
{
    ngx_int_t  rc;

    switch (node->type) {

    case NGX_SVC_SCIM_NODE_COMPARE:
        return ngx_svc_scim_check_compare(c, node);

    case NGX_SVC_SCIM_NODE_PATH:
        rc = ngx_svc_scim_check_brackets(c, node);
        break;

    default:
        rc = NGX_OK;
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_scim_check_node(c, node->left);
    }

    if (rc == NGX_OK && node->right) {
        rc = ngx_svc_scim_check_node(c, node->right);
    }

    if (rc == NGX_OK) {
        node->truth = ngx_svc_scim_check_truth(node);
    }

    return rc;
}


static ngx_int_t
ngx_svc_scim_check_truth(ngx_svc_scim_node_t *node)
{
    ngx_uint_t  left, right, decides;

    left = node->left->truth;

    if (node->type == NGX_SVC_SCIM_NODE_NOT) {
        return left == NGX_SVC_SCIM_EVERY ? NGX_SVC_SCIM_NONE
               : left == NGX_SVC_SCIM_NONE ? NGX_SVC_SCIM_EVERY
               : NGX_SVC_SCIM_SOME;
    }

    if (node->type == NGX_SVC_SCIM_NODE_PATH || node->right == NULL) {
        return (node->attr == NULL) ? NGX_SVC_SCIM_NONE : left;
    }

    right = node->right->truth;
    decides = (node->type == NGX_SVC_SCIM_NODE_AND) ? NGX_SVC_SCIM_NONE
                                                    : NGX_SVC_SCIM_EVERY;

    if (left == decides || right == decides) {
        return decides;
    }

    return (left == NGX_SVC_SCIM_SOME) ? left : right;
}


/*
 * There is one e-mail address: the filter in its brackets is true of it, or of
 * none.  Brackets of an attribute that no user can have are never true, not
 * even with a "not" inside.
 */

static ngx_int_t
ngx_svc_scim_check_brackets(ngx_svc_scim_checker_t *c,
    ngx_svc_scim_node_t *node)
{
    static const ngx_str_t  emails = ngx_string("emails");

    node->attr = ngx_svc_scim_attr(&node->path);

    if (node->attr && !ngx_svc_scim_name_is(&emails, &node->path.name)) {
        return ngx_svc_scim_check_fail(c, node->at,
                                     "this attribute has no values to choose "
                                     "from by brackets");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_scim_check_compare(ngx_svc_scim_checker_t *c, ngx_svc_scim_node_t *node)
{
    const char                 *why;
    const ngx_svc_scim_attr_t  *attr;

    attr = ngx_svc_scim_attr(&node->path);

    node->attr = attr;
    node->param = 0;
    node->truth = NGX_SVC_SCIM_SOME;

    if (attr == NULL) {
        node->truth = NGX_SVC_SCIM_NONE;
        return NGX_OK;
    }

    why = ngx_svc_scim_check_mismatch(node);
    if (why) {
        return ngx_svc_scim_check_fail(c, node->at, why);
    }

    if (ngx_svc_scim_filter_presence(node)) {

        if (attr->required) {
            node->truth = (node->op != NGX_SVC_SCIM_OP_EQ)
                          ? NGX_SVC_SCIM_EVERY : NGX_SVC_SCIM_NONE;
        }

        return NGX_OK;
    }

    return ngx_svc_scim_check_value(c, node);
}


/*
 * Returns why the operator or the value does not go with the attribute; NULL if
 * it does.
 */

static const char *
ngx_svc_scim_check_mismatch(ngx_svc_scim_node_t *node)
{
    ngx_uint_t                  equal;
    const ngx_svc_scim_attr_t  *attr = node->attr;

    if (node->op == NGX_SVC_SCIM_OP_PR) {
        return NULL;
    }

    equal = node->op == NGX_SVC_SCIM_OP_EQ || node->op == NGX_SVC_SCIM_OP_NE;

    if (attr->type == NGX_SVC_SCIM_ATTR_COMPLEX) {
        return "this attribute is compared by its sub-attributes, or with "
               "\"pr\"";
    }

    if (node->kind == NGX_SVC_SCIM_VALUE_NULL) {
        return equal ? NULL : "null is compared with \"eq\" or \"ne\"";
    }

    if (attr->type == NGX_SVC_SCIM_ATTR_ACTIVE
        || attr->type == NGX_SVC_SCIM_ATTR_TRUE)
    {
        return !equal ? "a boolean is compared with \"eq\", \"ne\" or \"pr\""
               : node->kind == NGX_SVC_SCIM_VALUE_NUMBER
               ? "this attribute is a boolean" : NULL;
    }

    if (node->kind != NGX_SVC_SCIM_VALUE_STRING) {
        return "the value of this attribute is a string";
    }

    if (attr->type == NGX_SVC_SCIM_ATTR_TIME
        && node->op >= NGX_SVC_SCIM_OP_CO && node->op <= NGX_SVC_SCIM_OP_EW)
    {
        return "a time is compared with \"eq\", \"ne\", \"gt\", \"ge\", "
               "\"lt\", \"le\" or \"pr\"";
    }

    return NULL;
}


static ngx_int_t
ngx_svc_scim_check_value(ngx_svc_scim_checker_t *c, ngx_svc_scim_node_t *node)
{
    ngx_str_t                   text;
    const ngx_svc_scim_attr_t  *attr = node->attr;

    if (ngx_svc_scim_check_text(c, node, &text) != NGX_OK) {
        return NGX_ERROR;
    }

    switch (attr->type) {

    case NGX_SVC_SCIM_ATTR_ACTIVE:
    case NGX_SVC_SCIM_ATTR_TRUE:
        return ngx_svc_scim_check_boolean(c, node, &text);

    case NGX_SVC_SCIM_ATTR_TIME:
        return ngx_svc_scim_check_time(c, node, &text);

    case NGX_SVC_SCIM_ATTR_ID:
        return ngx_svc_scim_check_id(c, node, &text);

    case NGX_SVC_SCIM_ATTR_WORD:
    case NGX_SVC_SCIM_ATTR_EXACT_WORD:
        ngx_svc_scim_check_word(node, &text);
        return NGX_OK;

    case NGX_SVC_SCIM_ATTR_SCHEMAS:
        ngx_svc_scim_check_schemas(node, &text);
        return NGX_OK;

    default:
        node->value = text;
        return NGX_OK;
    }
}


/* Sets *text to a string's text, or to a literal as it is spelled. */

static ngx_int_t
ngx_svc_scim_check_text(ngx_svc_scim_checker_t *c, ngx_svc_scim_node_t *node,
    ngx_str_t *text)
{
    const u_char  *p;

    *text = node->value;

    if (node->kind != NGX_SVC_SCIM_VALUE_STRING) {
        return NGX_OK;
    }

    text->data = ngx_pnalloc(c->pool, node->value.len);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    p = node->value.data;
    text->len = ngx_svc_scim_string(&p, p + node->value.len, text->data);

    return NGX_OK;
}


/* Directories without booleans send "True". */

static ngx_int_t
ngx_svc_scim_check_boolean(ngx_svc_scim_checker_t *c, ngx_svc_scim_node_t *node,
    ngx_str_t *text)
{
    ngx_uint_t                  value;
    const ngx_svc_scim_attr_t  *attr = node->attr;

    static const ngx_str_t  yes = ngx_string("true");
    static const ngx_str_t  no = ngx_string("false");

    value = ngx_svc_scim_name_is(&yes, text);

    if (!value && !ngx_svc_scim_name_is(&no, text)) {
        return ngx_svc_scim_check_fail(c, node->at,
                                     "this attribute is a boolean");
    }

    value = (value == (node->op == NGX_SVC_SCIM_OP_EQ));

    if (attr->type == NGX_SVC_SCIM_ATTR_TRUE) {
        node->truth = value ? NGX_SVC_SCIM_EVERY : NGX_SVC_SCIM_NONE;
    }

    node->param = value;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_scim_check_time(ngx_svc_scim_checker_t *c, ngx_svc_scim_node_t *node,
    ngx_str_t *text)
{
    int64_t    msec;
    ngx_str_t  value;

    /* RFC 7643, 2.3.5: XML Schema's form, without a blank before the time */

    if (ngx_svc_time_parse(text, &msec) != NGX_OK || text->data[10] == ' ') {
        return ngx_svc_scim_check_fail(c, node->at,
                                     "the value of this attribute is a time "
                                     "such as \"2026-11-21T09:15:30Z\"");
    }

    value.data = ngx_pnalloc(c->pool, NGX_INT64_LEN);
    if (value.data == NULL) {
        return NGX_ERROR;
    }

    value.len = ngx_sprintf(value.data, "%L", msec) - value.data;
    node->value = value;

    return NGX_OK;
}


/* A uuid that is not spelled as we spell ours is no user's id. */

static ngx_int_t
ngx_svc_scim_check_id(ngx_svc_scim_checker_t *c, ngx_svc_scim_node_t *node,
    ngx_str_t *text)
{
    u_char     spelled[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t  id;

    if (node->op != NGX_SVC_SCIM_OP_EQ && node->op != NGX_SVC_SCIM_OP_NE) {
        node->value = *text;
        return NGX_OK;
    }

    id.len = NGX_SVC_UUID_LEN;
    id.data = ngx_pnalloc(c->pool, id.len);

    if (id.data == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_uuid_parse(text->data, text->len, id.data) != NGX_OK
        || (ngx_svc_uuid_text(spelled, id.data),
            ngx_memcmp(spelled, text->data, NGX_SVC_UUID_TEXT_LEN) != 0))
    {
        node->truth = (node->op == NGX_SVC_SCIM_OP_NE) ? NGX_SVC_SCIM_EVERY
                                                       : NGX_SVC_SCIM_NONE;
        return NGX_OK;
    }

    node->value = id;

    return NGX_OK;
}


static void
ngx_svc_scim_check_word(ngx_svc_scim_node_t *node, ngx_str_t *text)
{
    const ngx_svc_scim_attr_t  *attr = node->attr;

    node->truth = ngx_svc_scim_check_holds(node->op, attr->sql, text,
                                  attr->type == NGX_SVC_SCIM_ATTR_EXACT_WORD)
                  ? NGX_SVC_SCIM_EVERY : NGX_SVC_SCIM_NONE;
}


/*
 * All users have the core schema; "ne" is true when none of a user's schemas
 * equals the text.
 */

static void
ngx_svc_scim_check_schemas(ngx_svc_scim_node_t *node, ngx_str_t *text)
{
    ngx_uint_t         core, enterprise, ne;
    ngx_svc_scim_op_e  op;

    ne = (node->op == NGX_SVC_SCIM_OP_NE);
    op = ne ? NGX_SVC_SCIM_OP_EQ : node->op;

    core = ngx_svc_scim_check_holds(op, NGX_SVC_SCIM_CORE_URN, text, 1);
    enterprise = ngx_svc_scim_check_holds(op, NGX_SVC_SCIM_ENTERPRISE_URN, text,
                                        1);

    if (core || !enterprise) {
        node->truth = (core != ne) ? NGX_SVC_SCIM_EVERY : NGX_SVC_SCIM_NONE;
    }
}


/* Compares a word with the text as the SQL of other attributes does. */

static ngx_uint_t
ngx_svc_scim_check_holds(ngx_svc_scim_op_e op, const char *word,
    ngx_str_t *text, ngx_uint_t exact)
{
    ngx_int_t  order;

    order = ngx_svc_scim_check_order((u_char *) word, text, exact);

    switch (op) {

    case NGX_SVC_SCIM_OP_EQ:
        return order == 0;

    case NGX_SVC_SCIM_OP_NE:
        return order != 0;

    case NGX_SVC_SCIM_OP_GT:
        return order > 0;

    case NGX_SVC_SCIM_OP_GE:
        return order >= 0;

    case NGX_SVC_SCIM_OP_LT:
        return order < 0;

    case NGX_SVC_SCIM_OP_LE:
        return order <= 0;

    default:
        return ngx_svc_scim_check_part(op, (u_char *) word, text, exact);
    }
}


/* Returns less than, equal to or more than 0, as memcmp(). */

static ngx_int_t
ngx_svc_scim_check_order(u_char *word, ngx_str_t *text, ngx_uint_t exact)
{
    size_t  len, i;
    u_char  a, b;

    len = ngx_strlen(word);

    for (i = 0; i < len && i < text->len; i++) {
        a = exact ? word[i] : ngx_tolower(word[i]);
        b = exact ? text->data[i] : ngx_tolower(text->data[i]);

        if (a != b) {
            return (ngx_int_t) a - (ngx_int_t) b;
        }
    }

    return (ngx_int_t) len - (ngx_int_t) text->len;
}


/* Returns whether "co", "sw" or "ew" holds. */

static ngx_uint_t
ngx_svc_scim_check_part(ngx_svc_scim_op_e op, u_char *word, ngx_str_t *text,
    ngx_uint_t exact)
{
    size_t     i, last;
    ngx_int_t  rc;

    if (text->len > ngx_strlen(word)) {
        return 0;
    }

    last = ngx_strlen(word) - text->len;
    i = (op == NGX_SVC_SCIM_OP_EW) ? last : 0;

    if (op == NGX_SVC_SCIM_OP_SW) {
        last = 0;
    }

    for ( /* void */ ; i <= last; i++) {
        rc = exact ? ngx_strncmp(word + i, text->data, text->len)
                   : ngx_strncasecmp(word + i, text->data, text->len);
        if (rc == 0) {
            return 1;
        }
    }

    return 0;
}
