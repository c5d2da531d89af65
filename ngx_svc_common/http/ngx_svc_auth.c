/*
 * Bearer tokens (RFC 6750) and the credential statement.
 */

#include "ngx_svc_auth.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_header.h"
#include "ngx_svc_turn.h"


#define NGX_SVC_TOKEN_MAX      256      /* bytes */
#define NGX_SVC_AGENT_MAX      512      /* of a User-Agent in the audit log */
#define NGX_SVC_TOUCH_SLOTS    64


/*
 * Many requests see the same old last_used_at before the first touch of their
 * token is through: a worker sends one at a time for each slot.  A token that
 * shares its slot with a busy one is touched by a later request.
 */

typedef struct {
    ngx_pool_t  *pool;          /* of the op under way, or NULL */
} ngx_svc_touch_t;


static ngx_table_elt_t *ngx_svc_auth_header(ngx_http_request_t *r);
static ngx_int_t ngx_svc_auth_audit(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);
static void ngx_svc_auth_touch(ngx_svc_request_t *sr);
static ngx_svc_pg_op_t *ngx_svc_auth_touch_op(ngx_svc_request_t *sr,
    ngx_svc_touch_t *touch);
static void ngx_svc_auth_touched(ngx_svc_pg_op_t *op);


/*
 * The first statement of every op.  It finds the token by its digest and, if
 * that is live and grants the route's permission, sets the tenant, by which
 * row-level security lives, for this transaction.  No row: 401.  A NULL in its
 * first column: 403.  It never raises an error, so that bad tokens do not fill
 * PostgreSQL's log; whatever follows then finds no tenant, and no rows.
 *
 * The second column says that last_used_at is over a minute old.  The writing
 * form also sets what the defaults of svc.audit_event read; and that of a route
 * with NGX_SVC_ROUTE_CALLER what the token grants, too.  A setting costs nearly
 * a tenth of a read: none is made that nobody looks at.
 */

#define NGX_SVC_AUTH_LIVE                                                     \
    " FROM svc.credential"                                                    \
    " WHERE token_hash = $1 AND kind = $2 AND revoked_at IS NULL"             \
    " AND (expires_at IS NULL OR expires_at > now())"

#define NGX_SVC_AUTH_GRANTED(then)                                            \
    "CASE WHEN $3 = '' OR $3 = ANY (permissions) THEN " then " END"

#define NGX_SVC_AUTH_TENANT                                                   \
    NGX_SVC_AUTH_GRANTED("set_config('svc.tenant', tenant_id::text, true)")

#define NGX_SVC_AUTH_ACTOR                                                    \
    "set_config('svc.actor_type', $4, true)"                                  \
    " || set_config('svc.actor_id', id::text, true)"                          \
    " || set_config('svc.actor_name', name, true)"                            \
    " || set_config('svc.ip', $5, true)"                                      \
    " || set_config('svc.user_agent', $6, true)"                              \
    " || set_config('svc.request_id', $7, true) IS NULL"

#define NGX_SVC_AUTH_PERMISSIONS                                              \
    NGX_SVC_AUTH_GRANTED(                                                     \
        "set_config('svc.permissions', permissions::text, true)")

#define NGX_SVC_AUTH_STALE                                                    \
    "last_used_at IS NULL OR last_used_at < now() - interval '1 minute'"

static const ngx_svc_pg_statement_t  ngx_svc_sql_auth_read = {
    .name = "auth_read",
    .text =
        "SELECT " NGX_SVC_AUTH_TENANT ", " NGX_SVC_AUTH_STALE
        NGX_SVC_AUTH_LIVE,
    .nparams = 3
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_auth_write = {
    .name = "auth_write",
    .text =
        "SELECT " NGX_SVC_AUTH_TENANT ", " NGX_SVC_AUTH_STALE ", "
        NGX_SVC_AUTH_ACTOR NGX_SVC_AUTH_LIVE,
    .nparams = 7
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_auth_caller = {
    .name = "auth_caller",
    .text =
        "SELECT " NGX_SVC_AUTH_TENANT ", " NGX_SVC_AUTH_STALE ", "
        NGX_SVC_AUTH_ACTOR ", " NGX_SVC_AUTH_PERMISSIONS " IS NULL"
        NGX_SVC_AUTH_LIVE,
    .nparams = 7
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_auth_touch = {
    .name = "auth_touch",
    .text =
        "UPDATE svc.credential SET last_used_at = now()"
        " WHERE token_hash = $1 AND (" NGX_SVC_AUTH_STALE ")",
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_auth_statements[] = {
    &ngx_svc_sql_auth_read,
    &ngx_svc_sql_auth_write,
    &ngx_svc_sql_auth_caller,
    &ngx_svc_sql_auth_touch,
    NULL
};


static ngx_svc_touch_t  ngx_svc_touches[NGX_SVC_TOUCH_SLOTS];


/* The digest of the bearer token; NGX_DECLINED with sr->error: no token. */

ngx_int_t
ngx_svc_auth_token(ngx_svc_request_t *sr)
{
    u_char           *p, *end;
    ngx_table_elt_t  *h;

    h = ngx_svc_auth_header(sr->request);

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


/* NULL when there is none, or more than one: nobody knows which one counts. */

static ngx_table_elt_t *
ngx_svc_auth_header(ngx_http_request_t *r)
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


/* Adds the credential statement to sr->op. */

ngx_int_t
ngx_svc_auth_call(ngx_svc_request_t *sr)
{
    ngx_svc_pg_call_t             *call;
    const ngx_svc_pg_statement_t  *s;

    s = (sr->route->flags & NGX_SVC_ROUTE_CALLER) ? &ngx_svc_sql_auth_caller
        : sr->op->kind == NGX_SVC_PG_WRITE ? &ngx_svc_sql_auth_write
                                           : &ngx_svc_sql_auth_read;

    call = ngx_svc_pg_call(sr->op, s);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, sr->token_hash, NGX_SVC_SHA256_LEN);
    ngx_svc_pg_bind_str(call, &sr->surface->kind);
    ngx_svc_pg_bind_str(call, ngx_svc_permission_name(sr->route->permission));

    return s == &ngx_svc_sql_auth_read ? NGX_OK : ngx_svc_auth_audit(sr, call);
}


/* Who, from where: what PostgreSQL would refuse as text is made harmless. */

static ngx_int_t
ngx_svc_auth_audit(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
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

    ngx_svc_pg_bind_str(call, &sr->surface->actor_type);
    ngx_svc_pg_bind_str(call, &ip);
    ngx_svc_pg_bind_str(call, &agent);
    ngx_svc_pg_bind_str(call, &id);

    return NGX_OK;
}


/*
 * The verdict, from the first result.  NGX_DECLINED with sr->error: a refusal
 * comes before whatever else was found wrong.
 */

ngx_int_t
ngx_svc_auth_check(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->op->results[0];

    if (PQntuples(res) == 0) {
        sr->error.kind = NGX_SVC_E_NONE;
        return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHORIZED,
                            "The token is unknown, expired or revoked.");
    }

    if (PQgetisnull(res, 0, 0)) {
        sr->error.kind = NGX_SVC_E_NONE;
        return ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                            "The token does not grant \"%V\".",
                            ngx_svc_permission_name(sr->route->permission));
    }

    if (*PQgetvalue(res, 0, 1) == 't') {
        ngx_svc_auth_touch(sr);
    }

    return NGX_OK;
}


/* Nobody waits for it, and nobody minds if it fails: the next request tries. */

static void
ngx_svc_auth_touch(ngx_svc_request_t *sr)
{
    ngx_svc_touch_t  *touch;
    ngx_svc_pg_op_t  *op;

    touch = &ngx_svc_touches[sr->token_hash[0] % NGX_SVC_TOUCH_SLOTS];

    if (touch->pool || ngx_svc_turn_learn(sr, sr->op->results[0]) != NGX_OK) {
        return;
    }

    touch->pool = ngx_create_pool(1024, ngx_cycle->log);
    if (touch->pool == NULL) {
        return;
    }

    op = ngx_svc_auth_touch_op(sr, touch);

    if (op == NULL || ngx_svc_pg_submit(op) != NGX_OK) {
        ngx_destroy_pool(touch->pool);
        touch->pool = NULL;
    }
}


static ngx_svc_pg_op_t *
ngx_svc_auth_touch_op(ngx_svc_request_t *sr, ngx_svc_touch_t *touch)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_auth_op(sr, touch->pool, NGX_SVC_PG_SLOW,
                         ngx_svc_auth_touched);
    if (op == NULL) {
        return NULL;
    }

    op->data = touch;

    call = ngx_svc_pg_call(op, &ngx_svc_sql_auth_touch);
    if (call == NULL) {
        return NULL;
    }

    ngx_svc_pg_bind(call, (u_char *) op->calls[0].values[0],
                    NGX_SVC_SHA256_LEN);

    return op;
}


/* The digest and the tenant's id are the request's, and so are copied. */

ngx_svc_pg_op_t *
ngx_svc_auth_op(ngx_svc_request_t *sr, ngx_pool_t *pool,
    ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler)
{
    u_char             *hash;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_pg_op_create(pool, kind, handler, NULL);
    hash = ngx_pnalloc(pool, NGX_SVC_SHA256_LEN + NGX_SVC_UUID_LEN);
    if (op == NULL || hash == NULL) {
        return NULL;
    }

    ngx_memcpy(hash, sr->token_hash, NGX_SVC_SHA256_LEN);

    if (sr->tenant_known) {
        op->tenant = hash + NGX_SVC_SHA256_LEN;
        ngx_memcpy(hash + NGX_SVC_SHA256_LEN, sr->tenant, NGX_SVC_UUID_LEN);
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_auth_read);
    if (call == NULL) {
        return NULL;
    }

    ngx_svc_pg_bind(call, hash, NGX_SVC_SHA256_LEN);
    ngx_svc_pg_bind_str(call, &sr->surface->kind);
    ngx_svc_pg_bind_str(call, ngx_svc_permission_name(sr->route->permission));

    return op;
}


static void
ngx_svc_auth_touched(ngx_svc_pg_op_t *op)
{
    ngx_str_t         text;
    ngx_svc_touch_t  *touch;

    if (op->status == NGX_SVC_PG_FAILED) {
        text = ngx_svc_pg_message(PQresultErrorMessage(op->error));
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "svc: lastUsedAt of a token was not written: %V", &text);
    }

    touch = op->data;

    ngx_destroy_pool(touch->pool);
    touch->pool = NULL;
}
