/*
 * Who sends a request, as the audit log has it.
 */

#include "ngx_svc_bind_client.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_header.h"


#define NGX_SVC_AGENT_MAX  512          /* bytes of a User-Agent */


/* Who, from where: what PostgreSQL would refuse as text is made harmless. */

ngx_int_t
ngx_svc_bind_client(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    u_char              *p;
    size_t               len;
    ngx_str_t            ip, agent, id;
    ngx_uint_t           i;
    ngx_svc_addr_t       addr;
    ngx_http_request_t  *r;

    r = sr->request;

    ngx_str_null(&ip);

    if (ngx_svc_addr_from_sockaddr(r->connection->sockaddr, &addr) == NGX_OK) {
        ip.data = ngx_pnalloc(sr->op->pool, NGX_SVC_ADDR_TEXT_LEN);
        if (ip.data == NULL) {
            return NGX_ERROR;
        }

        ip.len = ngx_svc_addr_text(ip.data, &addr) - ip.data;
    }

    ngx_str_null(&agent);

    if (r->headers_in.user_agent) {
        len = ngx_min(r->headers_in.user_agent->value.len, NGX_SVC_AGENT_MAX);

        p = ngx_pnalloc(sr->op->pool, len);
        if (p == NULL) {
            return NGX_ERROR;
        }

        agent.data = p;
        agent.len = len;

        /* headers are bytes; the log keeps the printable ASCII of them */

        for (i = 0; i < len; i++) {
            p[i] = r->headers_in.user_agent->value.data[i];

            if (p[i] < 0x20 || p[i] > 0x7e) {
                p[i] = '?';
            }
        }
    }

    id = ngx_svc_request_id(r);

    ngx_svc_pg_bind_str(call, &ip);
    ngx_svc_pg_bind_str(call, &agent);
    ngx_svc_pg_bind_str(call, &id);

    return NGX_OK;
}
