/*
 * The words of filters (RFC 7644, 3.4.2.2), and the values that are compared.
 */

#ifndef _NGX_SVC_SCIM_FILTER_TOKEN_H_INCLUDED_
#define _NGX_SVC_SCIM_FILTER_TOKEN_H_INCLUDED_


#include "ngx_svc_common.h"


typedef enum {
    NGX_SVC_SCIM_OP_EQ = 0,
    NGX_SVC_SCIM_OP_NE,
    NGX_SVC_SCIM_OP_CO,
    NGX_SVC_SCIM_OP_SW,
    NGX_SVC_SCIM_OP_EW,
    NGX_SVC_SCIM_OP_GT,
    NGX_SVC_SCIM_OP_GE,
    NGX_SVC_SCIM_OP_LT,
    NGX_SVC_SCIM_OP_LE,
    NGX_SVC_SCIM_OP_PR
} ngx_svc_scim_op_e;

typedef enum {
    NGX_SVC_SCIM_VALUE_NONE = 0,    /* with "pr" */
    NGX_SVC_SCIM_VALUE_STRING,
    NGX_SVC_SCIM_VALUE_NUMBER,
    NGX_SVC_SCIM_VALUE_TRUE,
    NGX_SVC_SCIM_VALUE_FALSE,
    NGX_SVC_SCIM_VALUE_NULL
} ngx_svc_scim_value_e;

/* The rest of a text. */

typedef struct {
    const u_char  *pos;
    const u_char  *end;
} ngx_svc_scim_cursor_t;


/*
 * Each function moves the position behind what it reads, and returns texts that
 * point into the text read.
 *
 * token: reads up to the next space, bracket, parenthesis or quote; the token
 * may be empty.
 * spaces: returns NGX_OK; NGX_DECLINED when there is none.
 * operator: reads a token that is an operator; returns NGX_OK or NGX_ERROR.
 * value: reads a string, a number of RFC 8259, true, false or null, as it is
 * spelled; returns NGX_OK or NGX_ERROR.
 */
void ngx_svc_scim_filter_token(ngx_svc_scim_cursor_t *in, ngx_str_t *token);
ngx_int_t ngx_svc_scim_filter_spaces(ngx_svc_scim_cursor_t *in);
ngx_int_t ngx_svc_scim_filter_operator(ngx_svc_scim_cursor_t *in,
    ngx_svc_scim_op_e *op);
ngx_int_t ngx_svc_scim_filter_value(ngx_svc_scim_cursor_t *in,
    ngx_svc_scim_value_e *kind, ngx_str_t *value);


#endif /* _NGX_SVC_SCIM_FILTER_TOKEN_H_INCLUDED_ */
