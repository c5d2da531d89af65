/*
 * POST /oauth/revoke (RFC 7009): of an access token itself and all that was
 * exchanged from it, of what refreshes its grant.
 *
 * A JWT whose key the worker does not know takes a round trip before.  What is
 * revoked is marked in its row: of a client's own token that is stored first.
 *
 * Whoever is asked about a token looks at its parent and its root, too, and an
 * exchange waits for nobody.  Of one that was exchanged itself all that comes of
 * it is looked for again, when what was marked is committed, until nothing more
 * is found: what is exchanged later has a parent that is marked, and what comes
 * of that is refused.
 */

#include "ngx_svc_oauth_live.h"
#include "ngx_svc_oauth_asserted.h"
#include "ngx_svc_oauth_kept.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_shown.h"


/* Who goes on exchanging meanwhile may keep a revocation busy so often. */

#define NGX_SVC_OAUTH_REVOKE_WALKS  16


static ngx_int_t ngx_svc_oauth_revoke_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_shown(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_sent(ngx_svc_oauth_t *o, PGresult *res);
static ngx_int_t ngx_svc_oauth_revoke_again(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_walked(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_send(ngx_svc_request_t *sr);


/* SQL: the client, "a", also one that is disabled; and its verdict. */

#define NGX_SVC_OAUTH_REVOKER                                                 \
    "a AS (" NGX_SVC_OAUTH_APPLICATION("k.client_id, k.auth_method", "$1")    \
    "), b AS (SELECT a.client_id FROM a"                                      \
        " WHERE (a.auth_method = 'none') = $2::bool)"

#define NGX_SVC_OAUTH_REVOKED                                                 \
    " SELECT CASE WHEN (a.auth_method = 'none') <> $2::bool"                  \
        " THEN 'client' END AS _verdict FROM a"

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_revoke = {
    .name = "oauth_revoke",
    .text =
        "WITH " NGX_SVC_OAUTH_REVOKER ", u AS ("
            "UPDATE svc.oauth_token x SET revoked_at = now()"
            " FROM b WHERE x.tenant_id = " NGX_SVC_TENANT
                " AND x.jti = $3::uuid"
                " AND x.issued_at = " NGX_SVC_OAUTH_ISSUED_AT("$4::text")
                " AND x.client_id = b.client_id AND x.revoked_at IS NULL"
                " AND x.secret_hash IS NOT DISTINCT FROM $5::bytea"
                " AND x.kid IS NOT DISTINCT FROM $6::text"
                " AND " NGX_SVC_OAUTH_TOKEN_SAYS("$7")
        ")" NGX_SVC_OAUTH_REVOKED,
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_param(client.public),
                   ngx_svc_oauth_param(token.jti),
                   ngx_svc_oauth_param(token.ms),
                   ngx_svc_oauth_param(token.secret_hash),
                   ngx_svc_oauth_param(token.kid),
                   ngx_svc_oauth_param(token.tenant))
};

/*
 * A statement of its own: it sees the mark that the one before has made.  What
 * was exchanged is not older.  The row says whether the token itself was, and
 * whether anything has been marked.
 */

#define NGX_SVC_OAUTH_REVOKE_CHILD(from, root, parent)                        \
    "SELECT c.jti, c.issued_at, " root " FROM " from ", svc.oauth_token c"    \
    " WHERE c.tenant_id = " NGX_SVC_TENANT " AND c.root_jti = " root          \
        " AND c.issued_at >= x.issued_at AND c.parent_jti = " parent

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_revoke_children = {
    .name = "oauth_revoke_children",
    .text =
        "WITH RECURSIVE x AS ("
            "SELECT k.issued_at, coalesce(k.root_jti, k.jti) AS root,"
                " k.root_jti IS NOT NULL AS exchanged"
            " FROM (" NGX_SVC_OAUTH_TOKEN("$2::uuid", "$3") ") k"
            " WHERE k.client_id = $1 AND k.revoked_at IS NOT NULL"
                " AND k.secret_hash IS NOT DISTINCT FROM $4::bytea"
                " AND k.kid IS NOT DISTINCT FROM $5::text"
                " AND " NGX_SVC_OAUTH_TOKEN_SAYS("$6")
        "), d AS ("
            NGX_SVC_OAUTH_REVOKE_CHILD("x", "x.root", "$2::uuid")
            " UNION "
            NGX_SVC_OAUTH_REVOKE_CHILD("d, x", "d.root", "d.jti")
        "), u AS ("
            "UPDATE svc.oauth_token k SET revoked_at = now() FROM d"
            " WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.jti = d.jti"
                " AND k.issued_at = d.issued_at AND k.revoked_at IS NULL"
            " RETURNING k.jti"
        ")"
        " SELECT x.exchanged, EXISTS (SELECT FROM u) FROM x",
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_param(token.jti),
                   ngx_svc_oauth_param(token.ms),
                   ngx_svc_oauth_param(token.secret_hash),
                   ngx_svc_oauth_param(token.kid),
                   ngx_svc_oauth_param(token.tenant))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_revoke_grant = {
    .name = "oauth_revoke_grant",
    .text =
        "WITH " NGX_SVC_OAUTH_REVOKER ", f AS ("
            "SELECT k.grant_id FROM svc.oauth_refresh k"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.digest BETWEEN $3 AND $3 ORDER BY k.digest LIMIT 1"
        "), u AS ("
            "UPDATE svc.oauth_grant r SET revoked_at = now(),"
                " reason = 'revoked'"
            " FROM b, f WHERE r.tenant_id = " NGX_SVC_TENANT
                " AND r.id = f.grant_id AND r.client_id = b.client_id"
                " AND r.revoked_at IS NULL"
        ")" NGX_SVC_OAUTH_REVOKED,
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_param(client.public),
                   ngx_svc_oauth_param(token.secret_hash))
};


const ngx_svc_route_t  ngx_svc_oauth_revoke[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("[/t/*]/revoke"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_ANY_ORIGIN,
      .statements = { &ngx_svc_sql_oauth_revoke,
                      &ngx_svc_sql_oauth_revoke_children,
                      &ngx_svc_sql_oauth_revoke_grant },
      .prepare = ngx_svc_oauth_revoke_prepare,
      .reply = ngx_svc_oauth_revoke_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_oauth_revoke_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    /* who revokes a token, and leaves, has revoked all that is of it */

    sr->goes_on = 1;

    rc = ngx_svc_oauth_shown_take(sr, &o);

    return rc == NGX_OK
           ? ngx_svc_oauth_asserted_calls(o, ngx_svc_oauth_revoke_shown) : rc;
}


static ngx_int_t
ngx_svc_oauth_revoke_shown(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_shown(sr->data, ngx_svc_oauth_revoke_calls,
                               ngx_svc_oauth_revoke_reply);
}


/* Of what is forged, or nothing of ours, no token is looked for. */

static ngx_int_t
ngx_svc_oauth_revoke_calls(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    o = sr->data;

    rc = ngx_svc_oauth_client_call(o, NGX_SVC_OAUTH_LOGIN_SYNC);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_once_call_only(o);
    }

    if (rc == NGX_OK && o->token.kind == NGX_SVC_OAUTH_BEARER_REFRESH) {
        return ngx_svc_route_call(sr, &ngx_svc_sql_oauth_revoke_grant, NULL);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_kept_call(o, &o->token);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_oauth_revoke, NULL);
    }

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_oauth_revoke_children, NULL)
           : rc;
}


static ngx_int_t
ngx_svc_oauth_revoke_reply(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  statements[] = {
        &ngx_svc_sql_oauth_revoke,
        &ngx_svc_sql_oauth_revoke_grant,
        NULL
    };

    return ngx_svc_oauth_shown_answer(sr->data,
                                      ngx_svc_result_of(sr, statements),
                                      ngx_svc_oauth_revoke_sent);
}


static ngx_int_t
ngx_svc_oauth_revoke_sent(ngx_svc_oauth_t *o, PGresult *res)
{
    PGresult           *walked;
    ngx_svc_request_t  *sr;

    sr = o->sr;
    /* of a refresh token there is no walk */

    walked = ngx_svc_result(sr, &ngx_svc_sql_oauth_revoke_children);

    return PQntuples(walked) && ngx_svc_pg_true(walked, 0, 0)
           ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                   ngx_svc_oauth_revoke_again,
                                   ngx_svc_oauth_revoke_walked)
           : ngx_svc_oauth_revoke_send(sr);
}


static ngx_int_t
ngx_svc_oauth_revoke_again(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_client_tenant(sr->data);

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_oauth_revoke_children, NULL)
           : rc;
}


static ngx_int_t
ngx_svc_oauth_revoke_walked(ngx_svc_request_t *sr)
{
    PGresult         *walked;
    ngx_svc_oauth_t  *o;

    o = sr->data;
    walked = ngx_svc_result(sr, &ngx_svc_sql_oauth_revoke_children);

    if (PQntuples(walked) == 0 || !ngx_svc_pg_true(walked, 0, 1)) {
        return ngx_svc_oauth_revoke_send(sr);
    }

    return ++o->walks < NGX_SVC_OAUTH_REVOKE_WALKS
           ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                   ngx_svc_oauth_revoke_again,
                                   ngx_svc_oauth_revoke_walked)
           : ngx_svc_send_busy(sr);
}


static ngx_int_t
ngx_svc_oauth_revoke_send(ngx_svc_request_t *sr)
{
    ngx_http_request_t  *r;

    r = sr->request;

    /* there is no body, and some clients want to be told of what */

    r->headers_out.content_type = sr->surface->content_type;
    r->headers_out.content_type_len = sr->surface->content_type.len;

    return ngx_svc_send_empty(sr, NGX_HTTP_OK);
}
