/*
 * /v1/admin/api-tokens.
 */

#include "ngx_svc_admin_governance.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_time.h"


#define NGX_SVC_ADMIN_TOKENS      1000  /* live ones of a tenant */
#define NGX_SVC_ADMIN_TOKEN_NAME  100   /* characters */
#define NGX_SVC_ADMIN_TOKEN_DAYS  3650

#define NGX_SVC_ADMIN_TOKEN_BYTES   32
#define NGX_SVC_ADMIN_TOKEN_PREFIX  "svc_"
#define NGX_SVC_ADMIN_TOKEN_SHOWN   (sizeof("svc_pX3a") - 1)


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  scopes;
    ngx_svc_value_t  expires_at;
    ngx_svc_value_t  expires_in_days;
} ngx_svc_admin_token_t;


static ngx_int_t ngx_svc_admin_tokens_list_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_tokens_list_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_tokens_create_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_tokens_create_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_tokens_revoke_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_tokens_revoke_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_token_expires(ngx_svc_request_t *sr,
    ngx_svc_admin_token_t *token, ngx_str_t *msec);
static ngx_int_t ngx_svc_admin_token_new(ngx_svc_request_t *sr,
    ngx_str_t *secret, u_char *hash);
static void ngx_svc_admin_token_write(ngx_svc_json_writer_t *w, PGresult *res,
    int row, int column);


static const ngx_svc_member_t  ngx_svc_admin_token_members[] = {

    { ngx_string("name"), NGX_SVC_T_TEXT, NGX_SVC_M_REQUIRED, 1,
      NGX_SVC_ADMIN_TOKEN_NAME, NULL, NULL, NULL,
      offsetof(ngx_svc_admin_token_t, name) },

    { ngx_string("scopes"), NGX_SVC_T_ARRAY, NGX_SVC_M_REQUIRED, 1, 100,
      NULL, NULL, &ngx_svc_permission_element,
      offsetof(ngx_svc_admin_token_t, scopes) },

    { ngx_string("expiresAt"), NGX_SVC_T_STRING|NGX_SVC_T_NULL, 0, 0, 0,
      NULL, NULL, NULL, offsetof(ngx_svc_admin_token_t, expires_at) },

    { ngx_string("expiresInDays"), NGX_SVC_T_INTEGER|NGX_SVC_T_NULL, 0, 1,
      NGX_SVC_ADMIN_TOKEN_DAYS, NULL, NULL, NULL,
      offsetof(ngx_svc_admin_token_t, expires_in_days) },

    ngx_svc_null_member
};


/* What ngx_svc_admin_token_write() reads, in this order. */

#define NGX_SVC_ADMIN_TOKEN_COLUMNS                                           \
    "id, name, array_to_json(ARRAY(SELECT unnest(permissions) ORDER BY 1)),"  \
    " prefix, CASE WHEN revoked_at IS NOT NULL THEN 'revoked'"                \
    " WHEN expires_at <= now() THEN 'expired' ELSE 'active' END,"             \
    " created_at, created_by_type, created_by_id, created_by_name,"           \
    " expires_at, last_used_at, revoked_at"

#define NGX_SVC_ADMIN_TOKEN_OURS                                              \
    " tenant_id = " NGX_SVC_TENANT " AND kind = 'api'"

/*
 * The caller's own permissions are those of the token that the request came
 * with.  A statement behind a refused credential finds no tenant, and so no
 * caller.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_list = {
    .name = "admin_tokens_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_TOKEN_COLUMNS " FROM svc.credential WHERE"
        NGX_SVC_ADMIN_TOKEN_OURS
        " ORDER BY created_at DESC, id DESC LIMIT $1::int4 OFFSET $2::int4",
    .nparams = 2
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_total = {
    .name = "admin_tokens_total",
    .text =
        "SELECT count(*), (SELECT array_to_json(ARRAY("
            "SELECT unnest(permissions) ORDER BY 1))"
            " FROM svc.credential WHERE token_hash = $1)"
        " FROM svc.credential WHERE" NGX_SVC_ADMIN_TOKEN_OURS,
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_lock = {
    .name = "admin_tokens_lock",
    .text =
        NGX_SVC_LIMIT_LOCK("svc.credential"),
    .nparams = 0
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_create = {
    .name = "admin_tokens_create",
    .text =
        "WITH c AS ("
            "SELECT tenant_id, id, name, permissions,"
                " $5::text::text[] <@ permissions AS held"
            " FROM svc.credential WHERE token_hash = $7"
                " AND tenant_id = " NGX_SVC_TENANT
        "), n AS ("
            "SELECT count(*) AS live FROM svc.credential WHERE"
            NGX_SVC_ADMIN_TOKEN_OURS
                " AND revoked_at IS NULL"
                " AND (expires_at IS NULL OR expires_at > now())"
        "), k AS ("
            "INSERT INTO svc.credential (token_hash, tenant_id, id, kind, name,"
                " prefix, permissions, expires_at, created_by_type,"
                " created_by_id, created_by_name)"
            " SELECT $1, c.tenant_id, $2::uuid, 'api', $3, $4, $5::text::text[],"
                " to_timestamp($6::text::float8 / 1000), 'apiToken',"
                " c.id::text, c.name"
            " FROM c, n WHERE c.held AND n.live < $8::int4 RETURNING *"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " target_name, details)"
            " SELECT 'api_token.created', 'apiToken', k.id::text, k.name,"
                " jsonb_build_object('scopes', to_jsonb(k.permissions))"
            " FROM k"
        ")"
        " SELECT c.held, k.* FROM c LEFT JOIN (SELECT "
        NGX_SVC_ADMIN_TOKEN_COLUMNS " FROM k) k ON true",
    .nparams = 8
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_revoke = {
    .name = "admin_tokens_revoke",
    .text =
        "WITH o AS ("
            "SELECT token_hash, id, name, revoked_at FROM svc.credential WHERE"
            NGX_SVC_ADMIN_TOKEN_OURS " AND id = $1 FOR UPDATE"
        "), k AS ("
            "UPDATE svc.credential c SET revoked_at = now() FROM o"
            " WHERE c.token_hash = o.token_hash AND o.revoked_at IS NULL"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " target_name)"
            " SELECT 'api_token.revoked', 'apiToken', id::text, name"
            " FROM o WHERE revoked_at IS NULL"
        ")"
        " SELECT id FROM o",
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_admin_tokens_statements[] = {
    &ngx_svc_sql_admin_tokens_list,
    &ngx_svc_sql_admin_tokens_total,
    &ngx_svc_sql_admin_tokens_lock,
    &ngx_svc_sql_admin_tokens_create,
    &ngx_svc_sql_admin_tokens_revoke,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_tokens[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/api-tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .prepare = ngx_svc_admin_tokens_list_prepare,
      .reply = ngx_svc_admin_tokens_list_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/api-tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CREATE,
      .prepare = ngx_svc_admin_tokens_create_prepare,
      .reply = ngx_svc_admin_tokens_create_reply },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/api-tokens/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_tokens_revoke_prepare,
      .reply = ngx_svc_admin_tokens_revoke_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_tokens_list_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_pg_call_t  *call;

    rc = ngx_svc_page_create(sr);

    if (rc == NGX_OK) {
        rc = ngx_svc_page_bind(sr,
                          ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_tokens_list));
    }

    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_tokens_total);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, sr->token_hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_tokens_list_reply(ngx_svc_request_t *sr)
{
    int                     i, n;
    PGresult               *list, *total;
    ngx_svc_json_writer_t   w;

    list = sr->results[0];
    total = sr->results[1];
    n = PQntuples(list);

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 256 + n * 512)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "apiTokens", '[');

    for (i = 0; i < n; i++) {
        ngx_svc_json_open(&w, NULL, '{');
        ngx_svc_admin_token_write(&w, list, i, 0);
        ngx_svc_json_close(&w, '}');
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_column_raw(&w, "assignableScopes", total, 0, 1);
    ngx_svc_page_write(&w, total, sr->data);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_admin_tokens_create_prepare(ngx_svc_request_t *sr)
{
    u_char                 *id, *hash;
    ngx_int_t               rc;
    ngx_str_t              *secret, shown, scopes, expires;
    ngx_svc_pg_call_t      *lock, *call;
    ngx_svc_admin_token_t   token;

    ngx_memzero(&token, sizeof(ngx_svc_admin_token_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_token_members, 0, sr->json,
                               &token, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_admin_token_expires(sr, &token, &expires);
    if (rc != NGX_OK) {
        return rc;
    }

    secret = ngx_palloc(sr->request->pool, sizeof(ngx_str_t));
    hash = ngx_pnalloc(sr->request->pool,
                       NGX_SVC_SHA256_LEN + NGX_SVC_UUID_LEN);
    lock = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_tokens_lock);
    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_tokens_create);

    if (secret == NULL || hash == NULL || lock == NULL || call == NULL
        || ngx_svc_permissions_text(sr->request->pool,
                         ngx_svc_permissions_json(token.scopes.json),
                         &scopes)
           != NGX_OK
        || ngx_svc_admin_token_new(sr, secret, hash) != NGX_OK)
    {
        return NGX_ERROR;
    }

    id = hash + NGX_SVC_SHA256_LEN;

    if (ngx_svc_uuid_new(id) != NGX_OK) {
        return NGX_ERROR;
    }

    shown.data = secret->data;
    shown.len = NGX_SVC_ADMIN_TOKEN_SHOWN;

    ngx_svc_pg_bind(call, hash, NGX_SVC_SHA256_LEN);
    ngx_svc_pg_bind(call, id, NGX_SVC_UUID_LEN);
    ngx_svc_pg_bind_str(call, &token.name.str);
    ngx_svc_pg_bind_str(call, &shown);
    ngx_svc_pg_bind_str(call, &scopes);
    ngx_svc_pg_bind_str(call, expires.data ? &expires : NULL);
    ngx_svc_pg_bind(call, sr->token_hash, NGX_SVC_SHA256_LEN);

    sr->data = secret;

    return ngx_svc_pg_bind_int(sr->op, call, NGX_SVC_ADMIN_TOKENS);
}


static ngx_int_t
ngx_svc_admin_tokens_create_reply(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_str_t              *secret;
    ngx_svc_json_writer_t   w;

    static ngx_str_t        no_store = ngx_string("no-store");

    res = sr->results[1];
    secret = sr->data;

    if (PQntuples(res) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!ngx_svc_column_true(res, 0, 0)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                            "\"scopes\" holds a permission that the token of "
                            "this request does not have.");
        return ngx_svc_send_error(sr);
    }

    if (PQgetisnull(res, 0, 1)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LIMIT_EXCEEDED,
                            "The tenant has %d live API tokens: revoke one.",
                            NGX_SVC_ADMIN_TOKENS);
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK
        || ngx_svc_add_header(sr->request, "Cache-Control", &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_admin_token_write(&w, res, 0, 1);
    ngx_svc_json_secret(&w, "secret", secret->data, secret->len);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_CREATED, &w, NULL);
}


static ngx_int_t
ngx_svc_admin_tokens_revoke_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_param_uuid(sr, 0,
                        ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_tokens_revoke),
                        "There is no API token with this id.");
}


static ngx_int_t
ngx_svc_admin_tokens_revoke_reply(ngx_svc_request_t *sr)
{
    if (PQntuples(sr->results[0]) == 0) {
        return ngx_svc_not_found(sr,
                                 "There is no API token with this id.");
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}


/* Milliseconds since the epoch, as text; no data: never. */

static ngx_int_t
ngx_svc_admin_token_expires(ngx_svc_request_t *sr,
    ngx_svc_admin_token_t *token, ngx_str_t *msec)
{
    int64_t      at, now;
    ngx_time_t  *tp;

    ngx_str_null(msec);

    tp = ngx_timeofday();
    now = (int64_t) tp->sec * 1000 + tp->msec;

    if (token->expires_at.set && !token->expires_at.null) {

        if (ngx_svc_time_parse(&token->expires_at.str, &at) != NGX_OK
            || at <= now)
        {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                "\"expiresAt\" must be a time in the future "
                                "such as \"2030-01-31T00:00:00Z\", before year "
                                "10000 in UTC.");
        }

    } else if (token->expires_in_days.set && !token->expires_in_days.null) {
        at = now + token->expires_in_days.integer * 86400000;

    } else {
        return NGX_OK;
    }

    msec->data = ngx_pnalloc(sr->request->pool, NGX_INT64_LEN);
    if (msec->data == NULL) {
        return NGX_ERROR;
    }

    msec->len = ngx_sprintf(msec->data, "%L", at) - msec->data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_token_new(ngx_svc_request_t *sr, ngx_str_t *secret,
    u_char *hash)
{
    u_char      random[NGX_SVC_ADMIN_TOKEN_BYTES];
    ngx_str_t   src, dst;

    src.data = random;
    src.len = sizeof(random);

    secret->data = ngx_pnalloc(sr->request->pool,
                               sizeof(NGX_SVC_ADMIN_TOKEN_PREFIX)
                               + ngx_base64_encoded_length(sizeof(random)));
    if (secret->data == NULL
        || ngx_svc_random(random, sizeof(random)) != NGX_OK)
    {
        return NGX_ERROR;
    }

    dst.data = ngx_cpymem(secret->data, NGX_SVC_ADMIN_TOKEN_PREFIX,
                          sizeof(NGX_SVC_ADMIN_TOKEN_PREFIX) - 1);

    ngx_encode_base64url(&dst, &src);

    secret->len = dst.data + dst.len - secret->data;

    return ngx_svc_sha256(secret->data, secret->len, hash);
}


/* The members of a token; column: where its columns begin. */

static void
ngx_svc_admin_token_write(ngx_svc_json_writer_t *w, PGresult *res, int row,
    int column)
{
    ngx_svc_column_text(w, "id", res, row, column);
    ngx_svc_column_text(w, "name", res, row, column + 1);
    ngx_svc_column_raw(w, "scopes", res, row, column + 2);
    ngx_svc_column_text(w, "prefix", res, row, column + 3);
    ngx_svc_column_text(w, "status", res, row, column + 4);
    ngx_svc_column_time(w, "createdAt", res, row, column + 5);

    if (PQgetisnull(res, row, column + 6)) {
        ngx_svc_json_null(w, "createdBy");

    } else {
        ngx_svc_json_open(w, "createdBy", '{');
        ngx_svc_column_text(w, "type", res, row, column + 6);
        ngx_svc_column_text(w, "id", res, row, column + 7);
        ngx_svc_column_text(w, "name", res, row, column + 8);
        ngx_svc_json_close(w, '}');
    }

    ngx_svc_column_time(w, "expiresAt", res, row, column + 9);
    ngx_svc_column_time(w, "lastUsedAt", res, row, column + 10);
    ngx_svc_column_time(w, "revokedAt", res, row, column + 11);
}
