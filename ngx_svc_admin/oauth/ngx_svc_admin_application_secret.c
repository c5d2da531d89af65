/*
 * POST /v1/applications/{clientId}/secret, and the same of an agent.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_application_secret.h"


#define NGX_SVC_ADMIN_SECRET_GRACE    86400     /* seconds */
#define NGX_SVC_ADMIN_SECRET_RETIRED  90        /* days that one is known */
#define NGX_SVC_ADMIN_SECRETS         100       /* of an application */


typedef struct {
    ngx_svc_value_t  grace;
    ngx_svc_value_t  revoke;
    ngx_svc_value_t  type;      /* that it must be of: a check sets it */
} ngx_svc_admin_rotation_t;


static ngx_int_t ngx_svc_admin_agent_rotate(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_application_rotate(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_secrets_rotated(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_secrets_cut(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_secrets_send(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_rotation_members[] = {

    { .name = ngx_string("graceSeconds"),
      .type = NGX_SVC_T_INTEGER,
      .min = 0,
      .max = NGX_SVC_ADMIN_SECRET_GRACE,
      .offset = offsetof(ngx_svc_admin_rotation_t, grace) },

    { .name = ngx_string("revokeTokens"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_rotation_t, revoke) },

    ngx_svc_null_member
};


/* Those that nobody needs to know any more: $2 days, or the $3 newest. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_secrets_expire = {
    .name = "admin_secrets_expire",
    .text =
        "DELETE FROM svc.oauth_login l WHERE l.digest = ANY (ARRAY("
            "SELECT k.digest FROM ("
                "SELECT k.digest, k.retired_at, row_number() OVER () AS n"
                " FROM (SELECT * FROM svc.oauth_login"
                    " WHERE tenant_id = " NGX_SVC_TENANT
                        " AND client_id BETWEEN $1 AND $1"
                        " AND kind BETWEEN 'secret' AND 'secret'"
                    " ORDER BY client_id DESC, kind DESC, created_at DESC) k"
            ") k WHERE k.retired_at <= now()"
                " AND (k.n >= $3::int4"
                    " OR k.retired_at < now() - $2::int4 * interval '1 day')"
        ")) AND l.tenant_id = " NGX_SVC_TENANT
            " AND l.client_id BETWEEN $1 AND $1"
            " AND l.kind BETWEEN 'secret' AND 'secret'",
    NGX_SVC_PARAMS(ngx_svc_param_application(0),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_SECRET_RETIRED),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_SECRETS))
};

#define NGX_SVC_ADMIN_SECRET_DETAILS                                          \
    "jsonb_build_object('graceSeconds', coalesce($3, 0),"                     \
        " 'revokeTokens', coalesce($4, false))"

/*
 * Behind the lock of the row.  What was good becomes the previous one; the one
 * before it is good no more.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_secrets_rotate = {
    .name = "admin_secrets_rotate",
    .text =
        "WITH o AS ("
            "SELECT a.client_id, CASE WHEN $5 <> a.type THEN 'type'"
                    " WHEN a.auth_method <> 'client_secret_basic'"
                        " THEN 'none' END AS verdict,"
                " coalesce($3::int4, 0) * interval '1 second' AS grace"
            " FROM svc.application a WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.client_id = $1"
        "), k AS ("
            "UPDATE svc.oauth_login l SET retired_at ="
                " CASE WHEN l.retired_at IS NULL THEN now() + o.grace"
                    " ELSE now() END"
            " FROM o WHERE o.verdict IS NULL AND l.tenant_id = " NGX_SVC_TENANT
                " AND l.client_id = $1 AND l.kind = 'secret'"
                " AND (l.retired_at IS NULL OR l.retired_at > now())"
        "), l AS ("
            "INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)"
            " SELECT $2::bytea, " NGX_SVC_TENANT_OR_NULL ", o.client_id,"
                " 'secret' FROM o WHERE o.verdict IS NULL"
        "), u AS ("
            "UPDATE svc.application a SET secret_rotated_at = now(),"
                " previous_secret_until ="
                    " CASE WHEN $3 > 0 THEN now() + o.grace END,"
                " tokens_valid_after = CASE WHEN $4"
                    " THEN greatest(a.tokens_valid_after, clock_timestamp())"
                    " ELSE a.tokens_valid_after END,"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " FROM o WHERE o.verdict IS NULL AND a.tenant_id = " NGX_SVC_TENANT
                " AND a.client_id = $1 RETURNING a.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_APPLICATION_SECRET_ROTATED, "u.client_id",
                "u.name", NGX_SVC_ADMIN_SECRET_DETAILS, "FROM u")
            NGX_SVC_AUDIT_THEN(NGX_SVC_A_AGENT_SECRET_ROTATED, "u.client_id",
                "u.name", NGX_SVC_ADMIN_SECRET_DETAILS,
                "FROM u WHERE u.type = 'agent'")
        ")"
        " SELECT o.verdict AS _verdict, o.client_id AS \"clientId\","
            " u.secret_rotated_at AS \"rotatedAt\","
            " u.previous_secret_until AS \"previousValidUntil\","
            " $4 AS _revokes"
        " FROM o LEFT JOIN u ON true",
    NGX_SVC_PARAMS(ngx_svc_param_application(0),
                   ngx_svc_application_secret_param(secret_digest),
                   ngx_svc_param_integer(ngx_svc_admin_rotation_t, grace),
                   ngx_svc_param_boolean(ngx_svc_admin_rotation_t, revoke),
                   ngx_svc_param_text(ngx_svc_admin_rotation_t, type)),
    NGX_SVC_VERDICTS(
        { "type", NGX_SVC_E_NOT_FOUND, NGX_SVC_NO_AGENT },
        { "none", NGX_SVC_E_INVALID_VALUE,
          "This application has no secret: see its"
          " \"tokenEndpointAuthMethod\"." }),
    .missing = NGX_SVC_NO_APPLICATION
};

/*
 * Once more, when that is committed: until then the old secret was good, and
 * what was given for it may be newer than the cut-off.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_secrets_cut = {
    .name = "admin_secrets_cut",
    .text =
        "UPDATE svc.application a SET tokens_valid_after ="
                " greatest(a.tokens_valid_after, clock_timestamp())"
            " WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.client_id = $1"
        " RETURNING a.client_id AS \"clientId\","
            " a.secret_rotated_at AS \"rotatedAt\","
            " a.previous_secret_until AS \"previousValidUntil\"",
    NGX_SVC_PARAMS(ngx_svc_param_application(0))
};


#define ngx_svc_admin_secret_rotates                                          \
      .members = ngx_svc_admin_rotation_members,                              \
      .body_size = sizeof(ngx_svc_admin_rotation_t),                          \
      .statements = { &ngx_svc_sql_admin_application_lock,                    \
                      &ngx_svc_sql_admin_secrets_expire,                      \
                      &ngx_svc_sql_admin_secrets_rotate },                    \
      .more = ngx_svc_application_secret_write,                               \
      .reply = ngx_svc_admin_secrets_rotated

const ngx_svc_route_t  ngx_svc_admin_application_secret[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/applications/*/secret"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_EMPTY|NGX_SVC_ROUTE_STRICT,
      .check = ngx_svc_admin_application_rotate,
      ngx_svc_admin_secret_rotates },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/agents/*/secret"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_EMPTY|NGX_SVC_ROUTE_STRICT,
      .check = ngx_svc_admin_agent_rotate,
      ngx_svc_admin_secret_rotates },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_agent_rotate(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_rotation_t  *rotation = body;

    rotation->type.set = 1;
    ngx_str_set(&rotation->type.str, "agent");

    return ngx_svc_admin_application_rotate(sr, body);
}


static ngx_int_t
ngx_svc_admin_application_rotate(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_rotation_t  *rotation = body;

    /* who revokes all that the old one got, and leaves, has revoked it */

    sr->goes_on = (rotation->revoke.integer == 1);

    if (!ngx_svc_application_id(&sr->params[0])) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                            NGX_SVC_NO_APPLICATION);
    }

    sr->data = ngx_svc_application_secret_new(sr, &sr->params[0], 1);

    return sr->data ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_admin_secrets_rotated(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_route_final(sr);

    return ngx_svc_row_true(res, 0, "_revokes")
           ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                   ngx_svc_admin_secrets_cut,
                                   ngx_svc_admin_secrets_send)
           : ngx_svc_route_row(sr, res);
}


static ngx_int_t
ngx_svc_admin_secrets_cut(ngx_svc_request_t *sr)
{
    /* the audit log does not grow */

    sr->op->committed = NULL;

    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_secrets_cut, NULL);
}


static ngx_int_t
ngx_svc_admin_secrets_send(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_secrets_cut);

    if (PQntuples(res)) {
        return ngx_svc_route_row(sr, res);
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                        NGX_SVC_NO_APPLICATION);

    return ngx_svc_send_error(sr);
}
