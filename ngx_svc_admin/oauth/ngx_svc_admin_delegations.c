/*
 * GET /v1/admin/agents/delegations: who acted for whom.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_args.h"
#include "ngx_svc_bind.h"
#include "ngx_svc_sql.h"


#define NGX_SVC_ADMIN_DELEGATION_ID  200    /* characters of a filter */


/* By what rows are found, which one index each serves. */

typedef enum {
    NGX_SVC_ADMIN_DELEGATIONS_ALL = 0,
    NGX_SVC_ADMIN_DELEGATIONS_CHAIN,
    NGX_SVC_ADMIN_DELEGATIONS_CLIENT,
    NGX_SVC_ADMIN_DELEGATIONS_USER,
    NGX_SVC_ADMIN_DELEGATIONS_ROOT,
    NGX_SVC_ADMIN_DELEGATIONS_TOKEN
} ngx_svc_admin_delegations_by_e;

/* In sr->data, where the page is that parameters are of; no data: any. */

typedef struct {
    ngx_svc_page_t  page;       /* first */
    ngx_str_t       client_id;
    ngx_str_t       user_id;
    ngx_str_t       in_chain;
    ngx_str_t       token_id;
    ngx_str_t       root_id;
    ngx_str_t       outcome;
    ngx_str_t       from;       /* milliseconds since the epoch, as text */
    ngx_str_t       to;
} ngx_svc_admin_delegations_t;


static ngx_int_t ngx_svc_admin_delegations_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_delegations_filter(ngx_svc_request_t *sr,
    ngx_svc_admin_delegations_t *list);
static ngx_int_t ngx_svc_admin_delegations_text(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *text);
static ngx_int_t ngx_svc_admin_delegations_argument(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *text);
static ngx_svc_admin_delegations_by_e ngx_svc_admin_delegations_by(
    const ngx_svc_admin_delegations_t *list);
static ngx_uint_t ngx_svc_admin_delegations_all(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_chain(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_client(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_user(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_root(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_of_token(const void *body);


#define NGX_SVC_ADMIN_DELEGATION_COLUMNS                                      \
    "d.id, d.created_at AS \"createdAt\","                                    \
    " d.client_id AS \"actor.clientId\", d.client_name AS \"actor.name\","    \
    " d.subject_type AS \"subject.type\", d.subject_id AS \"subject.id\","    \
    " v.user_name AS \"subject.email\","                                      \
    " array_to_json(d.chain) AS chain, d.grant_type AS \"grantType\","        \
    " d.audience, array_to_json(d.scopes) AS scopes, d.outcome, d.reason,"    \
    " d.token_jti AS \"tokenId\", d.parent_jti AS \"parentTokenId\","         \
    " d.root_jti AS \"rootTokenId\", d.expires_at AS \"expiresAt\", d.ip,"    \
    " d.country"

/* $7 and $8 are a time; a coalesce() may leak, and would lose the index. */

#define NGX_SVC_ADMIN_DELEGATION_SINCE                                        \
    "CASE WHEN $7::text IS NULL THEN '-infinity'"                             \
        " ELSE to_timestamp($7::float8 / 1000) END"
#define NGX_SVC_ADMIN_DELEGATION_UNTIL                                        \
    "CASE WHEN $8::text IS NULL THEN 'infinity'"                              \
        " ELSE to_timestamp($8::float8 / 1000) END"
#define NGX_SVC_ADMIN_DELEGATION_MOST                                         \
    "greatest(10000, $9::int4::int8 + $10::int4)"

/*
 * A CTE's body: keys of what matches; by: what finds it, order: likewise.  An
 * equality would take its column out of the order, and with it the index.
 */

#define NGX_SVC_ADMIN_DELEGATIONS_FOUND(by, order)                            \
    "SELECT d.created_at, d.id FROM svc.delegation d"                         \
    " WHERE d.tenant_id = " NGX_SVC_TENANT by                                 \
        " AND d.created_at >= " NGX_SVC_ADMIN_DELEGATION_SINCE                \
        " AND d.created_at < " NGX_SVC_ADMIN_DELEGATION_UNTIL                 \
        " AND ($1::text IS NULL OR d.client_id BETWEEN $1 AND $1)"            \
        " AND ($2::text IS NULL"                                              \
            " OR d.subject_id BETWEEN $2 AND $2 AND d.subject_type = 'user')" \
        " AND ($3::text IS NULL OR $3 = ANY (d.chain))"                       \
        " AND ($4::uuid IS NULL OR d.token_jti BETWEEN $4 AND $4)"            \
        " AND ($5::uuid IS NULL OR d.root_jti BETWEEN $5 AND $5)"             \
        " AND ($6::text IS NULL OR d.outcome = $6)"                           \
    " ORDER BY " order "d.created_at DESC, d.id DESC"                         \
    " LIMIT " NGX_SVC_ADMIN_DELEGATION_MOST

#define NGX_SVC_ADMIN_DELEGATIONS_BY(column, param)                           \
    NGX_SVC_ADMIN_DELEGATIONS_FOUND(                                          \
        " AND " column " BETWEEN " param " AND " param, column " DESC, ")

/*
 * One pass finds the page and the total, as of the audit log.  A row of a page
 * is looked up by itself: a plain join, planned while a month was nearly empty,
 * would read all of it for each.
 */

#define NGX_SVC_ADMIN_DELEGATIONS(found)                                      \
    .text =                                                                   \
        "WITH m AS MATERIALIZED ("                                            \
            found                                                             \
        "), p AS MATERIALIZED ("                                              \
            "SELECT * FROM m ORDER BY created_at DESC, id DESC"               \
            " LIMIT $9::int4 OFFSET $10::int4"                                \
        ")"                                                                   \
        " SELECT t.total AS _total, r.*"                                      \
        " FROM (SELECT least(count(*), 10000) AS total FROM m) t LEFT JOIN (" \
            "SELECT " NGX_SVC_ADMIN_DELEGATION_COLUMNS                        \
            " FROM p CROSS JOIN LATERAL ("                                    \
                "SELECT k.*, CASE k.subject_type WHEN 'user'"                 \
                    " THEN k.subject_id::uuid END AS user_id"                 \
                " FROM svc.delegation k WHERE k.tenant_id = " NGX_SVC_TENANT  \
                " AND k.created_at = p.created_at AND k.id = p.id LIMIT 1"    \
            ") d LEFT JOIN LATERAL ("                                         \
                NGX_SVC_ROW("k.user_name", "svc.user_account", "d.user_id")   \
            ") v ON true"                                                     \
        ") r ON true ORDER BY r.\"createdAt\" DESC, r.id DESC",               \
    NGX_SVC_PARAMS(                                                           \
        ngx_svc_param_data(ngx_svc_admin_delegations_t, client_id),           \
        ngx_svc_param_data(ngx_svc_admin_delegations_t, user_id),             \
        ngx_svc_param_data(ngx_svc_admin_delegations_t, in_chain),            \
        ngx_svc_param_data(ngx_svc_admin_delegations_t, token_id),            \
        ngx_svc_param_data(ngx_svc_admin_delegations_t, root_id),             \
        ngx_svc_param_data(ngx_svc_admin_delegations_t, outcome),             \
        ngx_svc_param_data(ngx_svc_admin_delegations_t, from),                \
        ngx_svc_param_data(ngx_svc_admin_delegations_t, to),                  \
        ngx_svc_param_limit(),                                                \
        ngx_svc_param_offset())

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_delegations_all = {
    .name = "admin_delegations_all",
    .when = ngx_svc_admin_delegations_all,
    NGX_SVC_ADMIN_DELEGATIONS(
        NGX_SVC_ADMIN_DELEGATIONS_FOUND("", ""))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_delegations_client = {
    .name = "admin_delegations_client",
    .when = ngx_svc_admin_delegations_client,
    NGX_SVC_ADMIN_DELEGATIONS(
        NGX_SVC_ADMIN_DELEGATIONS_BY("d.client_id", "$1"))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_delegations_user = {
    .name = "admin_delegations_user",
    .when = ngx_svc_admin_delegations_user,
    NGX_SVC_ADMIN_DELEGATIONS(
        NGX_SVC_ADMIN_DELEGATIONS_BY("d.subject_id", "$2"))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_delegations_root = {
    .name = "admin_delegations_root",
    .when = ngx_svc_admin_delegations_root,
    NGX_SVC_ADMIN_DELEGATIONS(
        NGX_SVC_ADMIN_DELEGATIONS_BY("d.root_jti", "$5"))
};

/* Some rows at most: a token is given once, and may be refused some times. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_delegations_token = {
    .name = "admin_delegations_token",
    .when = ngx_svc_admin_delegations_of_token,
    NGX_SVC_ADMIN_DELEGATIONS(
        NGX_SVC_ADMIN_DELEGATIONS_BY("d.token_jti", "$4"))
};

/* The others are NULL here: each is looked for by an index of its own. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_delegations_chain = {
    .name = "admin_delegations_chain",
    .when = ngx_svc_admin_delegations_chain,
    NGX_SVC_ADMIN_DELEGATIONS(
        "SELECT c.created_at, c.id FROM svc.delegation_chain($3, $6, "
            NGX_SVC_ADMIN_DELEGATION_SINCE ", "
            NGX_SVC_ADMIN_DELEGATION_UNTIL ", "
            NGX_SVC_ADMIN_DELEGATION_MOST "::int4) c"
        " WHERE $1::text IS NULL AND $2::text IS NULL AND $4::uuid IS NULL"
            " AND $5::uuid IS NULL")
};


const ngx_svc_route_t  ngx_svc_admin_delegations[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/agents/delegations"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .body_size = sizeof(ngx_svc_admin_delegations_by_e),
      .check = ngx_svc_admin_delegations_check,
      .statements = { &ngx_svc_sql_admin_delegations_token,
                      &ngx_svc_sql_admin_delegations_root,
                      &ngx_svc_sql_admin_delegations_user,
                      &ngx_svc_sql_admin_delegations_client,
                      &ngx_svc_sql_admin_delegations_chain,
                      &ngx_svc_sql_admin_delegations_all },
      .list = "delegations" },

    ngx_svc_null_route
};


/* What is filtered beyond what finds it may be looked for in many rows. */

static ngx_int_t
ngx_svc_admin_delegations_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t                        rc;
    ngx_svc_page_t                  *page;
    ngx_svc_admin_delegations_t     *list;
    ngx_svc_admin_delegations_by_e  *by = body;

    list = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_delegations_t));
    if (list == NULL) {
        return NGX_ERROR;
    }

    page = sr->data;
    list->page = *page;

    sr->data = list;

    rc = ngx_svc_admin_delegations_filter(sr, list);
    if (rc != NGX_OK) {
        return rc;
    }

    *by = ngx_svc_admin_delegations_by(list);

    if (list->in_chain.data || list->outcome.data
        || (list->user_id.data && list->client_id.data))
    {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    sr->slow = "The search took too long: narrow it with \"from\" and \"to\".";

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_delegations_filter(ngx_svc_request_t *sr,
    ngx_svc_admin_delegations_t *list)
{
    ngx_int_t  rc, n;

    static const char *const  outcomes[] = { "granted", "refused", NULL };

    if ((rc = ngx_svc_admin_delegations_text(sr, "clientId", &list->client_id))
        != NGX_OK
        || (rc = ngx_svc_admin_delegations_text(sr, "userId", &list->user_id))
           != NGX_OK
        || (rc = ngx_svc_admin_delegations_text(sr, "inChain",
                                                &list->in_chain))
           != NGX_OK
        || (rc = ngx_svc_admin_delegations_argument(sr, "tokenId",
                                                 &list->token_id))
           != NGX_OK
        || (rc = ngx_svc_admin_delegations_argument(sr, "rootTokenId",
                                                 &list->root_id))
           != NGX_OK
        || (rc = ngx_svc_word_argument(sr, "outcome", outcomes, &n)) != NGX_OK
        || (rc = ngx_svc_time_argument(sr, "from", &list->from)) != NGX_OK)
    {
        return rc;
    }

    if (n >= 0) {
        list->outcome.data = (u_char *) outcomes[n];
        list->outcome.len = ngx_strlen(outcomes[n]);
    }

    return ngx_svc_time_argument(sr, "to", &list->to);
}


/* An empty text asks for nothing. */

static ngx_int_t
ngx_svc_admin_delegations_text(ngx_svc_request_t *sr, const char *name,
    ngx_str_t *text)
{
    ngx_int_t  rc;

    rc = ngx_svc_text_argument(sr, name, NGX_SVC_ADMIN_DELEGATION_ID, text);

    if (text->len == 0) {
        text->data = NULL;
    }

    return rc;
}


/* As bytes. */

static ngx_int_t
ngx_svc_admin_delegations_argument(ngx_svc_request_t *sr, const char *name,
    ngx_str_t *id)
{
    ngx_int_t  rc;
    ngx_str_t  text;

    rc = ngx_svc_argument(sr, name, &text);
    if (rc != NGX_OK || text.len == 0) {
        return rc;
    }

    id->data = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);
    if (id->data == NULL) {
        return NGX_ERROR;
    }

    id->len = NGX_SVC_UUID_LEN;

    if (ngx_svc_uuid_parse(text.data, text.len, id->data) == NGX_OK) {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "\"%s\" must be a token's id: its \"jti\", a UUID.",
                        name);
}


static ngx_svc_admin_delegations_by_e
ngx_svc_admin_delegations_by(const ngx_svc_admin_delegations_t *list)
{
    return list->token_id.data ? NGX_SVC_ADMIN_DELEGATIONS_TOKEN
           : list->root_id.data ? NGX_SVC_ADMIN_DELEGATIONS_ROOT
           : list->user_id.data ? NGX_SVC_ADMIN_DELEGATIONS_USER
           : list->client_id.data ? NGX_SVC_ADMIN_DELEGATIONS_CLIENT
           : list->in_chain.data ? NGX_SVC_ADMIN_DELEGATIONS_CHAIN
                                 : NGX_SVC_ADMIN_DELEGATIONS_ALL;
}


#define ngx_svc_admin_delegations_when(name, by)                              \
                                                                              \
static ngx_uint_t                                                             \
name(const void *body)                                                        \
{                                                                             \
    return *(const ngx_svc_admin_delegations_by_e *) body == by;              \
}

ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_all,
                               NGX_SVC_ADMIN_DELEGATIONS_ALL)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_chain,
                               NGX_SVC_ADMIN_DELEGATIONS_CHAIN)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_client,
                               NGX_SVC_ADMIN_DELEGATIONS_CLIENT)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_user,
                               NGX_SVC_ADMIN_DELEGATIONS_USER)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_root,
                               NGX_SVC_ADMIN_DELEGATIONS_ROOT)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_of_token,
                               NGX_SVC_ADMIN_DELEGATIONS_TOKEN)
