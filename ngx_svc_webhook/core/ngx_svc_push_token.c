/*
 * The bearer tokens of SCIM targets, as PostgreSQL has them.
 */

#include "ngx_svc_push_token.h"


ngx_int_t
ngx_svc_push_token_open(const ngx_str_t *target, const ngx_str_t *column,
    u_char *token, size_t *len)
{
    *len = NGX_SVC_PUSH_TOKEN;

    return ngx_svc_sealed_open(NGX_SVC_PUSH_TOKEN_OF, target, column, token,
                               len);
}
