/*
 * The words of filters, and the values that are compared.
 */

#include "ngx_svc_scim_filter_token.h"
#include "ngx_svc_scim_grammar.h"
#include "ngx_svc_scim_text.h"


static ngx_int_t ngx_svc_scim_filter_number(ngx_str_t *text);
static ngx_uint_t ngx_svc_scim_filter_one_of(const ngx_str_t *names,
    const ngx_str_t *token);


/* The tables are in the order of the enumerations. */

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


void
ngx_svc_scim_filter_token(ngx_svc_scim_cursor_t *in, ngx_str_t *token)
{
    token->data = (u_char *) in->pos;

    while (in->pos < in->end
           && *in->pos != ' ' && *in->pos != '"'
           && *in->pos != '(' && *in->pos != ')'
           && *in->pos != '[' && *in->pos != ']')
    {
        in->pos++;
    }

    token->len = in->pos - token->data;
}


ngx_int_t
ngx_svc_scim_filter_spaces(ngx_svc_scim_cursor_t *in)
{
    const u_char  *start;

    for (start = in->pos; in->pos < in->end && *in->pos == ' '; in->pos++) {
        /* void */
    }

    return (in->pos > start) ? NGX_OK : NGX_DECLINED;
}


ngx_int_t
ngx_svc_scim_filter_operator(ngx_svc_scim_cursor_t *in, ngx_svc_scim_op_e *op)
{
    ngx_str_t   token;
    ngx_uint_t  n;

    ngx_svc_scim_filter_token(in, &token);

    n = ngx_svc_scim_filter_one_of(ngx_svc_scim_filter_operators, &token);
    if (n == 0) {
        return NGX_ERROR;
    }

    *op = n - 1;

    return NGX_OK;
}


ngx_int_t
ngx_svc_scim_filter_value(ngx_svc_scim_cursor_t *in,
    ngx_svc_scim_value_e *kind, ngx_str_t *value)
{
    ngx_str_t      token;
    ngx_uint_t     literal;
    const u_char  *start;

    start = in->pos;

    if (in->pos < in->end && *in->pos == '"') {

        *kind = NGX_SVC_SCIM_VALUE_STRING;

        if (ngx_svc_scim_string(&in->pos, in->end, NULL) == NGX_ERROR) {
            return NGX_ERROR;
        }

    } else {
        ngx_svc_scim_filter_token(in, &token);

        literal = ngx_svc_scim_filter_one_of(ngx_svc_scim_filter_literals,
                                             &token);
        if (literal) {
            *kind = NGX_SVC_SCIM_VALUE_TRUE + literal - 1;

        } else if (ngx_svc_scim_filter_number(&token) == NGX_OK) {
            *kind = NGX_SVC_SCIM_VALUE_NUMBER;

        } else {
            in->pos = start;
            return NGX_ERROR;
        }
    }

    value->data = (u_char *) start;
    value->len = in->pos - start;

    return NGX_OK;
}


/* Returns whether the text is a number of RFC 8259, 6: NGX_OK or NGX_ERROR. */

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


/* Returns the number of the name, from 1; 0: the token is none of them. */

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
