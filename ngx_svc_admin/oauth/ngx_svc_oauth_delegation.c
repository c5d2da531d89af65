/*
 * The journal of delegations: those that are refused.  The statement that
 * issues a token also writes the row of its delegation.
 */

#include "ngx_svc_oauth_delegation.h"


#include "ngx_svc_oauth_delegation.sql.h"


ngx_int_t
ngx_svc_oauth_delegation_refused(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_refused_t *refused)
{
    u_char             *id;
    ngx_str_t           reason;
    ngx_uint_t          i;
    ngx_svc_pg_call_t  *call;

    const ngx_str_t *values[] = {
        &o->client.id, &refused->user_id, &refused->subject, &refused->chain,
        &o->grant->name, &refused->audience, &o->scopes, &reason,
        &refused->parent_jti, &refused->root_jti, &o->jkt, &o->ip,
        &o->country, &o->request_id
    };

    reason.data = (u_char *) o->verdict->reason;
    reason.len = ngx_strlen(reason.data);

    id = ngx_pnalloc(o->sr->request->pool, NGX_SVC_UUID_LEN);
    call = ngx_svc_pg_call(o->sr->op, &ngx_svc_sql_oauth_delegation_refused);

    if (id == NULL || call == NULL || ngx_svc_uuid_new(id) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, id, NGX_SVC_UUID_LEN);

    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        ngx_svc_pg_bind_str(call, values[i]->data ? values[i] : NULL);
    }

    return NGX_OK;
}
