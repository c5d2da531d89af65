/*
 * Keys of a flow's provider that are newer than what is stored.
 */

#include "ngx_svc_federation_keys.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_meta.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"


static ngx_int_t ngx_svc_federation_keys_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_keys_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_keys_lack(ngx_svc_federation_flow_t *flow);


#include "ngx_svc_federation_keys.sql.h"


ngx_int_t
ngx_svc_federation_keys(ngx_svc_federation_flow_t *flow, const char *what,
    ngx_int_t (*check)(ngx_svc_federation_flow_t *flow),
    ngx_int_t (*over)(ngx_svc_federation_flow_t *flow, ngx_int_t rc))
{
    ngx_int_t       rc;
    ngx_msec_int_t  left;

    flow->keys.what = what;
    flow->keys.check = check;
    flow->keys.over = over;

    left = (ngx_msec_int_t) (flow->until - ngx_current_msec);

    rc = left < NGX_SVC_FEDERATION_META_TIME
         ? NGX_DECLINED
         : ngx_svc_published_refresh(&ngx_svc_federation_meta,
                                     flow->login.row.tenant,
                                     &flow->connection.id);

    if (rc == NGX_OK) {
        rc = ngx_svc_published_wait(&ngx_svc_federation_meta,
                                    &flow->connection.id, flow->login.sr,
                                    NGX_SVC_PG_READ,
                                    ngx_svc_federation_keys_calls,
                                    ngx_svc_federation_keys_reply);
    }

    return rc == NGX_DECLINED ? ngx_svc_federation_keys_lack(flow) : rc;
}


static ngx_int_t
ngx_svc_federation_keys_calls(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant,
        &ngx_svc_sql_federation_keys,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_federation_keys_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                       rc;
    ngx_svc_federation_flow_t      *flow;
    ngx_svc_row_federation_keys_t   row;

    flow = sr->data;
    ngx_svc_row_federation_keys(&row,
                         ngx_svc_result(sr, &ngx_svc_sql_federation_keys), 0);

    rc = ngx_svc_login_copy(&flow->login, &flow->connection.jwks, row.jwks);

    if (rc == NGX_OK) {
        rc = flow->keys.check(flow);
    }

    if (rc == NGX_AGAIN) {
        rc = ngx_svc_federation_keys_lack(flow);
    }

    return flow->keys.over(flow, rc);
}


static ngx_int_t
ngx_svc_federation_keys_lack(ngx_svc_federation_flow_t *flow)
{
    return ngx_svc_federation_fail(flow, "the %s %s", flow->keys.what,
                                   flow->keys.lacks);
}
