/*
 * Bearer tokens (RFC 6750), and the statement that finds them.
 */

#include "ngx_svc_bearer.h"
#include "ngx_svc_base_url.h"
#include "ngx_svc_bind_client.h"


#define NGX_SVC_TOKEN_MAX  256          /* bytes */


/* Kinds from NGX_SVC_BEARER_WRITE on set the actor for the audit log. */

typedef enum {
    NGX_SVC_BEARER_READ = 0,
    NGX_SVC_BEARER_TOKEN,
    NGX_SVC_BEARER_WRITE,
    NGX_SVC_BEARER_CALLER
} ngx_svc_bearer_kind_e;


static ngx_int_t ngx_svc_bearer_take(ngx_svc_request_t *sr);
static ngx_table_elt_t *ngx_svc_bearer_header(ngx_http_request_t *r);
static ngx_svc_bearer_kind_e ngx_svc_bearer_kind(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_bearer_call(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_bearer_find(ngx_svc_request_t *sr,
    ngx_svc_pg_op_t *op, const u_char *hash);
static void ngx_svc_bearer_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const u_char *hash);
static ngx_int_t ngx_svc_bearer_refuse(ngx_svc_request_t *sr, PGresult *res);


#include "ngx_svc_bearer.sql.h"


const ngx_svc_credential_t  ngx_svc_bearer = {
    .take = ngx_svc_bearer_take,
    .call = ngx_svc_bearer_call,
    .find = ngx_svc_bearer_find,
    .refuse = ngx_svc_bearer_refuse,
    .touch = &ngx_svc_sql_auth_touch
};


static ngx_int_t
ngx_svc_bearer_take(ngx_svc_request_t *sr)
{
    u_char           *p, *end;
    ngx_table_elt_t  *h;

    h = ngx_svc_bearer_header(sr->request);

    if (h == NULL || h->value.len < sizeof("Bearer ") - 1
        || ngx_strncasecmp(h->value.data, (u_char *) "Bearer ",
                           sizeof("Bearer ") - 1)
           != 0)
    {
        goto refused;
    }

    p = h->value.data + sizeof("Bearer ") - 1;
    end = h->value.data + h->value.len;

    while (p < end && *p == ' ') {
        p++;
    }

    if (p == end || end - p > NGX_SVC_TOKEN_MAX) {
        goto refused;
    }

    if (ngx_svc_sha256(p, end - p, sr->token_hash) != NGX_OK) {
        return NGX_ERROR;
    }

    return NGX_OK;

refused:

    return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHORIZED,
                        "One \"Authorization: Bearer\" header with a token "
                        "is needed.");
}


/*
 * Returns NULL when there is no Authorization header, or more than one: nobody
 * knows which one counts.
 */

static ngx_table_elt_t *
ngx_svc_bearer_header(ngx_http_request_t *r)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h, *first;

    first = r->headers_in.authorization;

    if (first == NULL) {
        return NULL;
    }

    part = &r->headers_in.headers.part;
    h = part->elts;

    for (i = 0; /* void */; i++) {

        if (i >= part->nelts) {
            if (part->next == NULL) {
                return first;
            }

            part = part->next;
            h = part->elts;
            i = 0;
        }

        if (h[i].hash == first->hash && &h[i] != first
            && h[i].key.len == first->key.len
            && ngx_strncasecmp(h[i].key.data, first->key.data, h[i].key.len)
               == 0)
        {
            return NULL;
        }
    }
}


/* Returns the kind of credential statement that the op's statements need. */

static ngx_svc_bearer_kind_e
ngx_svc_bearer_kind(ngx_svc_request_t *sr)
{
    if (sr->route->flags & NGX_SVC_ROUTE_CALLER) {
        return NGX_SVC_BEARER_CALLER;
    }

    if (sr->op->kind != NGX_SVC_PG_WRITE) {
        return NGX_SVC_BEARER_READ;
    }

    return (sr->route->flags & NGX_SVC_ROUTE_AUDITS) ? NGX_SVC_BEARER_TOKEN
                                                     : NGX_SVC_BEARER_WRITE;
}


static ngx_int_t
ngx_svc_bearer_call(ngx_svc_request_t *sr)
{
    ngx_uint_t              domain;
    ngx_svc_pg_call_t      *call;
    ngx_svc_bearer_kind_e   kind;

    static const ngx_svc_pg_statement_t *const  statements[][2] = {
        [NGX_SVC_BEARER_READ] =
            { &ngx_svc_sql_auth_read, &ngx_svc_sql_auth_read_domain },
        [NGX_SVC_BEARER_TOKEN] =
            { &ngx_svc_sql_auth_token, &ngx_svc_sql_auth_token_domain },
        [NGX_SVC_BEARER_WRITE] =
            { &ngx_svc_sql_auth_write, &ngx_svc_sql_auth_write_domain },
        [NGX_SVC_BEARER_CALLER] =
            { &ngx_svc_sql_auth_caller, &ngx_svc_sql_auth_caller_domain }
    };

    kind = ngx_svc_bearer_kind(sr);
    domain = ngx_svc_base_url_domain(sr);

    call = ngx_svc_pg_call(sr->op, statements[kind][domain]);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_bearer_bind(sr, call, sr->token_hash);

    if (kind >= NGX_SVC_BEARER_WRITE) {
        ngx_svc_pg_bind_str(call, &sr->surface->actor_type);

        if (ngx_svc_bind_client(sr, call) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (domain) {
        ngx_svc_base_url_bind(sr, call);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_bearer_find(ngx_svc_request_t *sr, ngx_svc_pg_op_t *op,
    const u_char *hash)
{
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_pg_call(op, &ngx_svc_sql_auth_read);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_bearer_bind(sr, call, hash);

    return NGX_OK;
}


static void
ngx_svc_bearer_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const u_char *hash)
{
    const ngx_str_t  *permission;

    permission = ngx_svc_permission_name(sr->route->permission);

    ngx_svc_pg_bind(call, hash, NGX_SVC_SHA256_LEN);
    ngx_svc_pg_bind_str(call, &sr->surface->kind);
    ngx_svc_pg_bind_str(call, permission->len ? permission : NULL);
}


static ngx_int_t
ngx_svc_bearer_refuse(ngx_svc_request_t *sr, PGresult *res)
{
    if (PQntuples(res) == 0) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHORIZED,
                            "The token is unknown, expired or revoked.");
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                        "The token does not grant \"%V\".",
                        ngx_svc_permission_name(sr->route->permission));
}
