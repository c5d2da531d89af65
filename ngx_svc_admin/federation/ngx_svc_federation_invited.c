/*
 * Whoever is invited, and comes by another server, or by the directory: what
 * the account will be is the invitation's, as of one that is accepted with a
 * password.
 */

#include "ngx_svc_federation_invited.h"
#include "ngx_svc_federation_account.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_login.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_write.h"


static ngx_int_t ngx_svc_federation_invited_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_invited_reply(ngx_svc_request_t *sr);


#include "ngx_svc_federation_invited.sql.h"


static ngx_svc_federation_match_e ngx_svc_federation_invited_rule(
    const ngx_svc_row_federation_invited_t *row);


ngx_int_t
ngx_svc_federation_invited(ngx_svc_federation_flow_t *flow)
{
    return ngx_svc_request_again(flow->login.sr, NGX_SVC_PG_READ,
                                 ngx_svc_federation_invited_calls,
                                 ngx_svc_federation_invited_reply);
}


static ngx_int_t
ngx_svc_federation_invited_calls(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_again,
        &ngx_svc_sql_federation_invited,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_federation_invited_reply(ngx_svc_request_t *sr)
{
    PGresult                          *res;
    ngx_str_t                         *mapped;
    ngx_svc_invitation_t              *in;
    ngx_svc_federation_flow_t         *flow;
    ngx_svc_row_federation_invited_t   row;

    flow = sr->data;
    in = &flow->invited;
    mapped = &flow->proof.attributes[NGX_SVC_ATTRIBUTE_DISPLAY_NAME];
    res = ngx_svc_result(sr, &ngx_svc_sql_federation_invited);

    ngx_svc_federation_invited_match(flow, res);

    if (flow->match != NGX_SVC_FEDERATION_INVITED) {
        return ngx_svc_federation_stop(flow);
    }

    ngx_svc_row_federation_invited(&row, res, 0);

    in->account.display_name = mapped->data ? *mapped
                                            : flow->proof.display_name;
    in->token.data = in->digest;
    in->token.len = NGX_SVC_SHA256_LEN;

    if (ngx_svc_hex_bytea(&row.token, in->digest, &in->token.len) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_federation_stage(&flow->login);

    return ngx_svc_federation_account(flow);
}


void
ngx_svc_federation_invited_match(ngx_svc_federation_flow_t *flow,
    PGresult *res)
{
    ngx_svc_row_federation_invited_t  row;

    if (PQntuples(res)) {
        ngx_svc_row_federation_invited(&row, res, 0);
        flow->match = ngx_svc_federation_invited_rule(&row);

    } else if (flow->match == NGX_SVC_FEDERATION_INVITED) {
        flow->match = NGX_SVC_FEDERATION_UNINVITED;
    }
}


/* The token proves the mailbox: then the address need not be proved there. */

static ngx_svc_federation_match_e
ngx_svc_federation_invited_rule(const ngx_svc_row_federation_invited_t *row)
{
    if (!row->fits) {
        return NGX_SVC_FEDERATION_MISMATCH;
    }

    if (row->forced) {
        return NGX_SVC_FEDERATION_FORCED;
    }

    return row->covered ? NGX_SVC_FEDERATION_INVITED
                        : NGX_SVC_FEDERATION_UNCOVERED;
}
