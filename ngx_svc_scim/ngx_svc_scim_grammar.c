/*
 * The grammar of attribute paths and value filters (RFC 7644, 3.4.2.2 and
 * 3.5.2).
 */

#include "ngx_svc_scim_grammar.h"
#include "ngx_svc_scim_text.h"


#define NGX_SVC_SCIM_GRAMMAR_DEPTH  32      /* parentheses */


typedef struct {
    const u_char     *pos;
    const u_char     *end;
    ngx_uint_t        depth;
} ngx_svc_scim_reader_t;


static ngx_int_t ngx_svc_scim_attr_uri(const u_char *p, const u_char *end);
static const u_char *ngx_svc_scim_attr_name(const u_char *p,
    const u_char *end);
static const u_char *ngx_svc_scim_sub_attr(const u_char *p,
    const u_char *end);
static ngx_int_t ngx_svc_scim_filter_or(ngx_svc_scim_reader_t *r);
static ngx_int_t ngx_svc_scim_filter_term(ngx_svc_scim_reader_t *r);
static ngx_int_t ngx_svc_scim_filter_group(ngx_svc_scim_reader_t *r);
static ngx_int_t ngx_svc_scim_filter_compare(ngx_svc_scim_reader_t *r);
static ngx_int_t ngx_svc_scim_filter_value(ngx_svc_scim_reader_t *r);
static ngx_int_t ngx_svc_scim_filter_number(ngx_str_t *text);
static void ngx_svc_scim_filter_token(ngx_svc_scim_reader_t *r,
    ngx_str_t *token);
static ngx_uint_t ngx_svc_scim_filter_one_of(const ngx_str_t *names,
    const ngx_str_t *token);
static ngx_int_t ngx_svc_scim_filter_spaces(ngx_svc_scim_reader_t *r);


static const ngx_str_t  ngx_svc_scim_filter_operators[] = {
    ngx_string("eq"),
    ngx_string("ne"),
    ngx_string("co"),
    ngx_string("sw"),
    ngx_string("ew"),
    ngx_string("gt"),
    ngx_string("lt"),
    ngx_string("ge"),
    ngx_string("le"),
    ngx_null_string
};


static const ngx_str_t  ngx_svc_scim_filter_joins[] = {
    ngx_string("and"),
    ngx_string("or"),
    ngx_null_string
};


static const ngx_str_t  ngx_svc_scim_filter_literals[] = {
    ngx_string("true"),
    ngx_string("false"),
    ngx_string("null"),
    ngx_null_string
};


static const ngx_str_t  ngx_svc_scim_filter_present = ngx_string("pr");
static const ngx_str_t  ngx_svc_scim_filter_not = ngx_string("not");


ngx_int_t
ngx_svc_scim_attr_path(const u_char *p, const u_char *end,
    ngx_svc_scim_attr_path_t *path)
{
    const u_char  *q;

    ngx_memzero(path, sizeof(ngx_svc_scim_attr_path_t));

    for (q = end; q > p && q[-1] != ':'; q--) { /* void */ }

    if (q > p) {

        if (ngx_svc_scim_attr_uri(p, q - 1) != NGX_OK) {
            return NGX_ERROR;
        }

        path->urn.data = (u_char *) p;
        path->urn.len = q - 1 - p;
    }

    p = q;
    q = ngx_svc_scim_attr_name(p, end);

    path->name.data = (u_char *) p;
    path->name.len = q - p;

    if (q < end && *q == '.') {

        p = q + 1;
        q = ngx_svc_scim_sub_attr(p, end);

        if (q == p) {
            return NGX_ERROR;
        }

        path->sub.data = (u_char *) p;
        path->sub.len = q - p;
    }

    return (path->name.len && q == end) ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_scim_value_filter(const u_char *p, const u_char *end)
{
    const u_char           *q;
    ngx_svc_scim_reader_t   r;

    r.pos = p;
    r.end = end;
    r.depth = 0;

    if (ngx_svc_scim_filter_or(&r) != NGX_OK
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


ngx_uint_t
ngx_svc_scim_name_is(const ngx_str_t *name, const ngx_str_t *text)
{
    return name->len == text->len
           && ngx_strncasecmp(name->data, text->data, text->len) == 0;
}


/* A scheme, a colon and characters of RFC 3986, other than brackets. */

static ngx_int_t
ngx_svc_scim_attr_uri(const u_char *p, const u_char *end)
{
    u_char         c;
    ngx_uint_t     colon;
    const char    *marks;
    const u_char  *start;

    colon = 0;
    marks = "+-.";

    for (start = p; p < end; p++) {

        c = *p | 0x20;

        if (c >= 'a' && c <= 'z') {
            continue;
        }

        if (p == start) {
            return NGX_ERROR;
        }

        if (*p >= '0' && *p <= '9') {
            continue;
        }

        if (*p == ':') {
            colon = 1;
            marks = "-._~/?#@!$&'()*+,;=%";
            continue;
        }

        if (*p == '\0' || ngx_strchr(marks, *p) == NULL) {
            return NGX_ERROR;
        }
    }

    return (colon && end[-1] != ':') ? NGX_OK : NGX_ERROR;
}


/* The end of an ATTRNAME (RFC 7643, 2.1) at p; p when there is none. */

static const u_char *
ngx_svc_scim_attr_name(const u_char *p, const u_char *end)
{
    u_char         c;
    const u_char  *start;

    for (start = p; p < end; p++) {

        c = *p | 0x20;

        if (c >= 'a' && c <= 'z') {
            continue;
        }

        if (p > start
            && ((*p >= '0' && *p <= '9')
                || *p == '-' || *p == '_' || *p == '$'))
        {
            continue;
        }

        break;
    }

    return p;
}


/* The same of a sub-attribute, which may be "$ref" (RFC 7643, 2.3.7). */

static const u_char *
ngx_svc_scim_sub_attr(const u_char *p, const u_char *end)
{
    const u_char  *q;

    if (p == end || *p != '$') {
        return ngx_svc_scim_attr_name(p, end);
    }

    q = ngx_svc_scim_attr_name(p + 1, end);

    return (q > p + 1) ? q : p;
}


/*
 * Terms joined by "and" and "or"; which of them binds more tightly makes no
 * difference to the syntax.
 */

static ngx_int_t
ngx_svc_scim_filter_or(ngx_svc_scim_reader_t *r)
{
    ngx_str_t  token;
    ngx_int_t  spaces;

    for ( ;; ) {

        (void) ngx_svc_scim_filter_spaces(r);

        if (ngx_svc_scim_filter_term(r) != NGX_OK) {
            return NGX_ERROR;
        }

        spaces = ngx_svc_scim_filter_spaces(r);
        ngx_svc_scim_filter_token(r, &token);

        if (token.len == 0) {
            return NGX_OK;
        }

        if (spaces != NGX_OK
            || !ngx_svc_scim_filter_one_of(ngx_svc_scim_filter_joins, &token)
            || ngx_svc_scim_filter_spaces(r) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }
}


static ngx_int_t
ngx_svc_scim_filter_term(ngx_svc_scim_reader_t *r)
{
    ngx_str_t                  token;
    ngx_int_t                  spaces;
    ngx_svc_scim_attr_path_t   path;

    ngx_svc_scim_filter_token(r, &token);

    if (token.len == 0) {
        return ngx_svc_scim_filter_group(r);
    }

    spaces = ngx_svc_scim_filter_spaces(r);

    if (r->pos < r->end && *r->pos == '('
        && ngx_svc_scim_name_is(&ngx_svc_scim_filter_not, &token))
    {
        return ngx_svc_scim_filter_group(r);
    }

    if (spaces != NGX_OK
        || ngx_svc_scim_attr_path(token.data, token.data + token.len, &path)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_scim_filter_compare(r);
}


static ngx_int_t
ngx_svc_scim_filter_group(ngx_svc_scim_reader_t *r)
{
    if (r->pos == r->end || *r->pos++ != '('
        || ++r->depth > NGX_SVC_SCIM_GRAMMAR_DEPTH)
    {
        return NGX_ERROR;
    }

    if (ngx_svc_scim_filter_or(r) != NGX_OK
        || r->pos == r->end || *r->pos++ != ')')
    {
        return NGX_ERROR;
    }

    r->depth--;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_scim_filter_compare(ngx_svc_scim_reader_t *r)
{
    ngx_str_t  token;

    ngx_svc_scim_filter_token(r, &token);

    if (ngx_svc_scim_name_is(&ngx_svc_scim_filter_present, &token)) {
        return NGX_OK;
    }

    if (!ngx_svc_scim_filter_one_of(ngx_svc_scim_filter_operators, &token)
        || ngx_svc_scim_filter_spaces(r) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_scim_filter_value(r);
}


static ngx_int_t
ngx_svc_scim_filter_value(ngx_svc_scim_reader_t *r)
{
    ngx_str_t  token;

    if (r->pos < r->end && *r->pos == '"') {

        if (ngx_svc_scim_string(&r->pos, r->end, NULL) == NGX_ERROR) {
            return NGX_ERROR;
        }

        return NGX_OK;
    }

    ngx_svc_scim_filter_token(r, &token);

    if (ngx_svc_scim_filter_one_of(ngx_svc_scim_filter_literals, &token)) {
        return NGX_OK;
    }

    return ngx_svc_scim_filter_number(&token);
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


static ngx_uint_t
ngx_svc_scim_filter_one_of(const ngx_str_t *names, const ngx_str_t *token)
{
    for ( /* void */ ; names->len; names++) {
        if (ngx_svc_scim_name_is(names, token)) {
            return 1;
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
