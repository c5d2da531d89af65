/*
 * The client of a request, as the audit log has it.
 */

#include "ngx_svc_bind_client.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_bind.h"
#include "ngx_svc_header.h"


#define NGX_SVC_AGENT_MAX  512          /* bytes of a User-Agent */


static ngx_int_t ngx_svc_client_ip(ngx_svc_request_t *sr, ngx_str_t *ip);
static ngx_int_t ngx_svc_client_agent(ngx_svc_request_t *sr,
    ngx_str_t *agent);


ngx_int_t
ngx_svc_bind_client(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    ngx_str_t  ip, agent, id;

    if (ngx_svc_client_ip(sr, &ip) != NGX_OK
        || ngx_svc_client_agent(sr, &agent) != NGX_OK)
    {
        return NGX_ERROR;
    }

    id = ngx_svc_request_id(sr->request);

    ngx_svc_pg_bind_str(call, &ip);
    ngx_svc_pg_bind_str(call, &agent);
    ngx_svc_pg_bind_str(call, &id);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_client_ip(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t  ip;

    if (ngx_svc_client_ip(sr, &ip) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, ip.len ? &ip : NULL);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_client_agent(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t  agent;

    if (ngx_svc_client_agent(sr, &agent) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, agent.len ? &agent : NULL);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_request_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t  id;

    id = ngx_svc_request_id(sr->request);

    ngx_svc_pg_bind_str(call, id.len ? &id : NULL);

    return NGX_OK;
}


/* The address is empty when the client came by a unix socket. */

static ngx_int_t
ngx_svc_client_ip(ngx_svc_request_t *sr, ngx_str_t *ip)
{
    ngx_svc_addr_t  addr;

    ngx_str_null(ip);

    if (ngx_svc_addr_from_sockaddr(sr->request->connection->sockaddr, &addr)
        != NGX_OK)
    {
        return NGX_OK;
    }

    ip->data = ngx_pnalloc(sr->op->pool, NGX_SVC_ADDR_TEXT_LEN);
    if (ip->data == NULL) {
        return NGX_ERROR;
    }

    ip->len = ngx_svc_addr_text(ip->data, &addr) - ip->data;

    return NGX_OK;
}


/* A header may have any bytes; the audit log keeps its printable ASCII. */

static ngx_int_t
ngx_svc_client_agent(ngx_svc_request_t *sr, ngx_str_t *agent)
{
    u_char           *p;
    size_t            i;
    ngx_table_elt_t  *h;

    ngx_str_null(agent);

    h = sr->request->headers_in.user_agent;
    if (h == NULL) {
        return NGX_OK;
    }

    agent->len = ngx_min(h->value.len, NGX_SVC_AGENT_MAX);

    p = ngx_pnalloc(sr->op->pool, agent->len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    agent->data = p;

    for (i = 0; i < agent->len; i++) {
        p[i] = h->value.data[i];

        if (p[i] < 0x20 || p[i] > 0x7e) {
            p[i] = '?';
        }
    }

    return NGX_OK;
}
