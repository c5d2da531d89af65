/*
 * What /oauth/userinfo answers: claims about a user.
 */

#include "ngx_svc_oauth_claims.h"
#include "ngx_svc_oauth_issue.h"


typedef struct {
    const char  *name;          /* of the claim, and of its column */
    ngx_str_t    scope;         /* no data: always */
    ngx_uint_t   raw;           /* a number, or a boolean */
} ngx_svc_oauth_claim_t;


static void ngx_svc_oauth_claims_write(ngx_svc_json_writer_t *w,
    PGresult *res, const ngx_svc_pg_array_t *scopes);


static const ngx_svc_oauth_claim_t  ngx_svc_oauth_claims[] = {
    { "sub", ngx_null_string, 0 },
    { "name", ngx_string("profile"), 0 },
    { "given_name", ngx_string("profile"), 0 },
    { "family_name", ngx_string("profile"), 0 },
    { "locale", ngx_string("profile"), 0 },
    { "updated_at", ngx_string("profile"), 1 },
    { "email", ngx_string("email"), 0 },
    { "email_verified", ngx_string("email"), 1 }
};


ngx_int_t
ngx_svc_oauth_claims_send(ngx_svc_request_t *sr, PGresult *res,
    const ngx_svc_pg_array_t *chain, const ngx_svc_pg_array_t *scopes)
{
    ngx_str_t              actors;
    ngx_svc_json_writer_t  w;

    static ngx_str_t       no_store = ngx_string("no-store");

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 512) != NGX_OK
        || ngx_svc_add_header(sr->request, "Cache-Control", &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_str_null(&actors);

    if (chain->n
        && ngx_svc_pg_array_join(sr->request->pool, chain, &actors) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_oauth_claims_write(&w, res, scopes);
    ngx_svc_oauth_issue_act(&w, &actors);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static void
ngx_svc_oauth_claims_write(ngx_svc_json_writer_t *w, PGresult *res,
    const ngx_svc_pg_array_t *scopes)
{
    ngx_str_t                     value;
    ngx_uint_t                    i;
    const ngx_svc_oauth_claim_t  *claim;

    for (i = 0;
         i < sizeof(ngx_svc_oauth_claims) / sizeof(ngx_svc_oauth_claims[0]);
         i++)
    {
        claim = &ngx_svc_oauth_claims[i];
        value = ngx_svc_row_value(res, 0, claim->name);

        if (value.data == NULL
            || (claim->scope.data
                && !ngx_svc_pg_array_has(scopes, &claim->scope)))
        {
            continue;
        }

        if (claim->raw) {
            ngx_svc_json_raw(w, claim->name, value.data, value.len);

        } else {
            ngx_svc_json_string(w, claim->name, value.data, value.len);
        }
    }
}
