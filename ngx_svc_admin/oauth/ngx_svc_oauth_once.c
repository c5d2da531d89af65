/*
 * What may be presented only once.
 *
 * It is spent by a row that the request's transaction writes, whether or not
 * the request is granted.
 */

#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_assertion.h"
#include "ngx_svc_oauth_client.h"
#include "ngx_svc_oauth_fragments.row.h"


static ngx_int_t ngx_svc_oauth_once_add(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement);


#include "ngx_svc_oauth_once.sql.h"


ngx_int_t
ngx_svc_oauth_once_call(ngx_svc_oauth_t *o)
{
    return ngx_svc_oauth_once_add(o, o->client.once.data
                                     ? &ngx_svc_sql_oauth_once_assertion
                                     : &ngx_svc_sql_oauth_once);
}


ngx_int_t
ngx_svc_oauth_once_call_only(ngx_svc_oauth_t *o)
{
    return ngx_svc_oauth_once_add(o, o->client.once.data
                                     ? &ngx_svc_sql_oauth_once_only
                                     : &ngx_svc_sql_oauth_once);
}


static ngx_int_t
ngx_svc_oauth_once_add(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement)
{
    if (!ngx_svc_oauth_once_presented(o) || o->once_spent) {
        return NGX_OK;
    }

    /* a later op of the request must not find them spent by this one */

    o->once_spent = 1;
    o->looks = statement;
    o->sr->op->kind = NGX_SVC_PG_WRITE;

    return ngx_svc_route_call(o->sr, statement, NULL);
}


void
ngx_svc_oauth_once_take(ngx_svc_oauth_t *o)
{
    ngx_svc_row_once_seen_t    seen;
    ngx_svc_row_login_found_t  found;

    if (o->looks == NULL) {
        return;
    }

    ngx_svc_row_login_found(&found, ngx_svc_oauth_client_result(o), 0, 0);
    ngx_svc_row_once_seen(&seen, ngx_svc_result(o->sr, o->looks), 0, 0);

    o->looks = NULL;

    if (found.tenant.data == NULL) {
        return;
    }

    o->proof_seen = seen.proof_seen;

    if (seen.assertion_seen) {
        o->assertion_seen = 1;
        ngx_svc_oauth_once_tell(o, "has been used");
    }
}


void
ngx_svc_oauth_once_unspent(ngx_svc_oauth_t *o)
{
    o->once_spent = 0;
    o->looks = NULL;
}


/* Text that is no clientId is not logged: anybody could have chosen it. */

void
ngx_svc_oauth_once_tell(ngx_svc_oauth_t *o, const char *why)
{
    ngx_str_t  id;

    static const ngx_str_t  nobody = ngx_string("-");

    id = ngx_svc_application_id(&o->client.id) ? o->client.id : nobody;

    ngx_log_error(NGX_LOG_INFO, o->sr->request->connection->log, 0,
                  "svc: the assertion of the client \"%V\" is refused: it %s",
                  &id, why);
}
