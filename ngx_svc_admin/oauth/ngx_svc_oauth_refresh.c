/*
 * The grant type refresh_token (RFC 6749, 6).
 *
 * Each use has a successor.  Who shows a token again for a short while gets the
 * same one: answers are lost, and tabs refresh at the same time.  Later, or
 * when the successor has been used, two have the token, and its grant ends.
 *
 * Of FAPI 2.0 a token stays what it is (Security Profile, 5.3.2.1-9).
 */

#include "ngx_svc_oauth_granted.h"
#include "ngx_svc_oauth_granted_sql.h"
#include "ngx_svc_oauth_token.h"


static ngx_int_t ngx_svc_oauth_refresh_check(ngx_svc_oauth_t *o);


/*
 * SQL: of what is shown its verdict; that it is taken is none of a refresh
 * token; which successor it has, of the array $4, or 0, where that is to be
 * looked up; and no nonce.
 */

#define NGX_SVC_OAUTH_REFRESH_COLUMNS(successor_used, successor_known, cut,   \
    again)                                                                    \
    "CASE WHEN p.revoked_at IS NOT NULL OR p.expires_at <= now()"             \
            " THEN 'refresh'"                                                 \
        " WHEN c.used_at <= now() - interval '30 seconds'"                    \
            " OR " successor_used " THEN 'refresh_reused'"                    \
        " WHEN c.expires_at <= now() OR NOT " successor_known                 \
            " THEN 'refresh'"                                                 \
        " WHEN c.jkt <> coalesce($3::bytea, '') THEN 'refresh_proof'" cut     \
        " END AS shown, NULL AS taken, "                                      \
    again " AS again, NULL AS nonce"

#define NGX_SVC_OAUTH_REFRESH_SHOWN                                           \
    NGX_SVC_OAUTH_GRANTED_BY_DIGEST(                                          \
        "k.grant_id, k.jkt, k.expires_at, k.used_at, k.successor",            \
        "svc.oauth_refresh")

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh_read = {
    .name = "oauth_refresh_read",
    .text = NGX_SVC_OAUTH_GRANTED_READ(
                NGX_SVC_OAUTH_REFRESH_COLUMNS("false", "true", "",
                    "CASE WHEN c.successor IS NOT NULL THEN 0 END"),
                NGX_SVC_OAUTH_REFRESH_SHOWN),
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_granted_param(digest),
                   ngx_svc_oauth_param(jkt))
};

/* Of an agent, of groups, for a resource; if it was used; or once more. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh_read_wider = {
    .name = "oauth_refresh_read_wider",
    .text = NGX_SVC_OAUTH_GRANTED_READ_WIDER(
                NGX_SVC_OAUTH_REFRESH_COLUMNS("n.used_at IS NOT NULL",
                    "coalesce(c.successor = ANY ($4::text::bytea[]), true)",
                    " WHEN u.status <> 'active'"
                        " OR " NGX_SVC_OAUTH_GRANTED_USER_CUT
                        " OR " NGX_SVC_OAUTH_GRANTED_CUT " THEN 'refresh'",
                    "array_position($4::text::bytea[], c.successor)"),
                NGX_SVC_OAUTH_REFRESH_SHOWN, "$5",
                " LEFT JOIN LATERAL (SELECT k.used_at FROM svc.oauth_refresh k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.digest BETWEEN c.successor AND c.successor"
                " ORDER BY k.digest LIMIT 1) n ON true"),
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_granted_param(digest),
                   ngx_svc_oauth_param(jkt),
                   ngx_svc_oauth_granted_param(digests),
                   ngx_svc_oauth_param(resource_key))
};


static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh = {
    .name = "oauth_refresh",
    .text = NGX_SVC_OAUTH_GRANTED_GIVE("'refresh_token'", "svc.oauth_refresh",
                ", successor = $22::bytea", "", NGX_SVC_OAUTH_GRANTED_GIVEN),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_GRANTED_GIVE_PARAMS,
                   NGX_SVC_OAUTH_GRANTED_REFRESH_PARAMS)
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh_told = {
    .name = "oauth_refresh_told",
    .text = NGX_SVC_OAUTH_GRANTED_GIVE("'refresh_token'", "svc.oauth_refresh",
                ", successor = $22::bytea", "", NGX_SVC_OAUTH_GRANTED_TOLD),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_GRANTED_GIVE_PARAMS,
                   NGX_SVC_OAUTH_GRANTED_REFRESH_PARAMS)
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh_agent = {
    .name = "oauth_refresh_agent",
    .text = NGX_SVC_OAUTH_GRANTED_GIVE_AGENT("'refresh_token'",
                "svc.oauth_refresh", ", successor = $22::bytea", ""),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_GRANTED_GIVE_PARAMS,
                   NGX_SVC_OAUTH_GRANTED_REFRESH_PARAMS,
                   NGX_SVC_OAUTH_GRANTED_JOURNAL_PARAMS)
};

/* One more for the same, whose successor nobody has used by then. */

#define NGX_SVC_OAUTH_REFRESH_TAKEN                                           \
    "SELECT n.tenant_id FROM svc.oauth_refresh k"                             \
        " JOIN svc.oauth_refresh n ON n.tenant_id = " NGX_SVC_TENANT          \
            " AND n.digest = $22::bytea AND n.used_at IS NULL"                \
    " WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.ctid = $19::tid"           \
        " AND k.digest = $1::bytea AND k.successor = $22::bytea"              \
        " AND " NGX_SVC_OAUTH_GRANTED_HOLDS

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh_again = {
    .name = "oauth_refresh_again",
    .text = NGX_SVC_OAUTH_GRANTED_STORE(NGX_SVC_OAUTH_REFRESH_TAKEN,
                "'refresh_token'", "NULL::text[]", "NULL", "",
                NGX_SVC_OAUTH_GRANTED_GIVEN),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_GRANTED_GIVE_PARAMS,
                   ngx_svc_oauth_granted_param(refresh))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh_again_agent = {
    .name = "oauth_refresh_again_agent",
    .text = NGX_SVC_OAUTH_GRANTED_STORE(NGX_SVC_OAUTH_REFRESH_TAKEN,
                "'refresh_token'", "ARRAY[$2::text]", "$25::text",
                NGX_SVC_OAUTH_GRANTED_JOURNAL("'refresh_token'", "$23", "$24"),
                NGX_SVC_OAUTH_GRANTED_GIVEN),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_GRANTED_GIVE_PARAMS,
                   ngx_svc_oauth_granted_param(refresh),
                   NGX_SVC_OAUTH_GRANTED_JOURNAL_PARAMS)
};

/*
 * A token that stays is idle from now on, by $19 and $22.  It is found by its
 * digest, and not where it was read: another use of it at the same time moves
 * the row, and is no reason to read it again.
 */

#define NGX_SVC_OAUTH_REFRESH_KEPT                                            \
    "UPDATE svc.oauth_refresh k"                                              \
        " SET expires_at = least($22::text::timestamptz,"                     \
            " now() + $19::integer * interval '1 day')"                       \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.digest = $1::bytea AND k.used_at IS NULL"                     \
        " AND " NGX_SVC_OAUTH_GRANTED_HOLDS                                   \
    " RETURNING k.tenant_id"

#define NGX_SVC_OAUTH_REFRESH_KEPT_PARAMS                                     \
    NGX_SVC_OAUTH_GRANTED_TOKEN_PARAMS,                                       \
    ngx_svc_oauth_granted_as(int4, idle_days),                                \
    NGX_SVC_OAUTH_GRANTED_PLACES_PARAMS,                                      \
    ngx_svc_oauth_granted_param(expires_at)

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh_kept = {
    .name = "oauth_refresh_kept",
    .text = NGX_SVC_OAUTH_GRANTED_STORE(NGX_SVC_OAUTH_REFRESH_KEPT,
                "'refresh_token'", "NULL::text[]", "NULL", "",
                NGX_SVC_OAUTH_GRANTED_GIVEN),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_REFRESH_KEPT_PARAMS)
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh_kept_agent = {
    .name = "oauth_refresh_kept_agent",
    .text = NGX_SVC_OAUTH_GRANTED_STORE(NGX_SVC_OAUTH_REFRESH_KEPT,
                "'refresh_token'", "ARRAY[$2::text]", "$25::text",
                NGX_SVC_OAUTH_GRANTED_JOURNAL("'refresh_token'", "$23", "$24"),
                NGX_SVC_OAUTH_GRANTED_GIVEN),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_REFRESH_KEPT_PARAMS,
                   NGX_SVC_OAUTH_GRANTED_JOURNAL_PARAMS)
};


static const ngx_svc_oauth_granted_type_t  ngx_svc_oauth_refresh_type = {
    .give = { &ngx_svc_sql_oauth_refresh, &ngx_svc_sql_oauth_refresh_agent },
    .told = &ngx_svc_sql_oauth_refresh_told,
    .again = { &ngx_svc_sql_oauth_refresh_again,
               &ngx_svc_sql_oauth_refresh_again_agent },
    .kept = { &ngx_svc_sql_oauth_refresh_kept,
              &ngx_svc_sql_oauth_refresh_kept_agent },
    .refreshes = 1,
    .unknown = "refresh",
    .group = "refresh_group",
    .unasked = "refresh_unasked",
    .replayed = ngx_string("refresh_reused")
};

const ngx_svc_oauth_grant_t  ngx_svc_oauth_refresh = {
    .name = ngx_string("refresh_token"),
    .metric = NGX_SVC_M_TOKEN_REFRESH,
    .login = NGX_SVC_OAUTH_LOGIN_SYNC,
    .check = ngx_svc_oauth_refresh_check,
    .first = &ngx_svc_sql_oauth_refresh_read,
    .statement = &ngx_svc_sql_oauth_granted_client,
    .wider = &ngx_svc_sql_oauth_refresh_read_wider,
    .wider_alone = 1,
    .decide = ngx_svc_oauth_granted_decide,
    .id_token = ngx_svc_oauth_granted_id_token,
    .more = ngx_svc_oauth_granted_more
};


static ngx_int_t
ngx_svc_oauth_refresh_check(ngx_svc_oauth_t *o)
{
    ngx_int_t                 rc;
    ngx_str_t                 token;
    ngx_svc_main_conf_t      *smcf;
    ngx_svc_oauth_granted_t  *granted;

    smcf = ngx_http_get_module_main_conf(o->sr->request,
                                         ngx_http_svc_common_module);

    granted = ngx_svc_oauth_granted_new(o, &ngx_svc_oauth_refresh_type);
    if (granted == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_granted_shown(o, "refresh_token", &token);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_resource(o));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_scope(o));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_refresh_token_successors(&smcf->keys, &token,
                                                    granted->digest.data,
                                                    &granted->tokens);
    }

    o->wider = ngx_svc_oauth_client_row_wider(o);

    return rc == NGX_OK
           ? ngx_svc_oauth_refresh_token_digests(o->sr->request->pool,
                                                 &granted->tokens,
                                                 &granted->digests)
           : rc;
}
