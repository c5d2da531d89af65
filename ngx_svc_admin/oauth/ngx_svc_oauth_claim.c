/*
 * The claims about a user that we know.
 */

#include "ngx_svc_oauth_claim.h"


#define ngx_svc_oauth_claim_row(name, scope, kind, asked)                     \
    { ngx_string(name), ngx_string(scope), NGX_SVC_OAUTH_CLAIM_##kind, asked }

const ngx_svc_oauth_claim_t
    ngx_svc_oauth_claim_table[NGX_SVC_OAUTH_CLAIMS_N] =
{
    ngx_svc_oauth_claim_row("sub", "openid", TEXT, 0),
    ngx_svc_oauth_claim_row("groups", "groups", LIST, 0),
    ngx_svc_oauth_claim_row("roles", "roles", LIST, 0),
    ngx_svc_oauth_claim_row("auth_time", "openid", SECONDS, 1),
    ngx_svc_oauth_claim_row("acr", "openid", TEXT, 1),
    ngx_svc_oauth_claim_row("name", "profile", TEXT, 0),
    ngx_svc_oauth_claim_row("given_name", "profile", TEXT, 0),
    ngx_svc_oauth_claim_row("family_name", "profile", TEXT, 0),
    ngx_svc_oauth_claim_row("locale", "profile", TEXT, 0),
    ngx_svc_oauth_claim_row("updated_at", "profile", SECONDS, 0),
    ngx_svc_oauth_claim_row("email", "email", TEXT, 0),
    ngx_svc_oauth_claim_row("email_verified", "email", BOOLEAN, 0)
};


ngx_uint_t
ngx_svc_oauth_claim(const ngx_str_t *name)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_OAUTH_CLAIMS_N; i++) {
        if (ngx_svc_same(name, &ngx_svc_oauth_claim_table[i].name)) {
            return (ngx_uint_t) 1 << i;
        }
    }

    return 0;
}
