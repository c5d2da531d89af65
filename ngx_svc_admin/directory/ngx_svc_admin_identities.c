/*
 * /v1/admin/identities: humans, services and agents in one list.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_IDENTITY_SIZE  384    /* first guess, in bytes */


typedef enum {
    NGX_SVC_ADMIN_HUMAN = 0,
    NGX_SVC_ADMIN_SERVICE,
    NGX_SVC_ADMIN_AGENT
} ngx_svc_admin_identity_e;


static ngx_int_t ngx_svc_admin_identities_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_identities_reply(ngx_svc_request_t *sr);
static void ngx_svc_admin_identity_write(ngx_svc_json_writer_t *w,
    PGresult *res, int row);


static const char *const  ngx_svc_admin_identity_types[] = {
    "human", "service", "agent", NULL
};

/* A human's, and from NGX_SVC_ADMIN_EXPIRED on a token's alone. */

static const char *const  ngx_svc_admin_identity_statuses[] = {
    "active", "suspended", "deactivated", "expired", "revoked", "disabled",
    "orphaned", NULL
};

#define NGX_SVC_ADMIN_ACTIVE   0
#define NGX_SVC_ADMIN_EXPIRED  3


/*
 * "s" has all that are not users, a branch for each type: some thousands at
 * most.  A user of which as many are newer as the offset has beyond their
 * number "n" is on no later page, however they mix; so "h" needs no users but
 * the page's and n more.  "m" merges the two.
 *
 * $1 q, $2 status, $3 limit, $4 offset, $5 with humans, $6 with services
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_identities_list = {
    .name = "admin_identities_list",
    .text =
        "WITH s AS MATERIALIZED ("
            "SELECT c.id, 'service' AS type, c.name, NULL AS email,"
                " CASE c.created_by_type WHEN 'user'"
                    " THEN c.created_by_id::uuid END AS owner_id,"
                " c.status, 0 AS anomalies, c.last_used_at AS active_at,"
                " c.expires_at, c.created_at"
            " FROM (SELECT *, CASE WHEN revoked_at IS NOT NULL THEN 'revoked'"
                    " WHEN expires_at <= now() THEN 'expired'"
                    " ELSE 'active' END AS status"
                " FROM svc.credential WHERE tenant_id = " NGX_SVC_TENANT
                    " AND kind = 'api') c"
            " WHERE $6 AND ($2::text IS NULL OR c.status = $2)"
                " AND ($1::text IS NULL OR strpos(' ' || lower(c.name),"
                    " CASE WHEN char_length(btrim($1)) < 3 THEN ' ' ELSE '' END"
                    " || lower(btrim($1))) > 0)"
        "), n AS ("
            "SELECT count(*)::int4 AS n, least(count(*), $4::int4)::int4 AS skip"
            " FROM s"
        "), h AS MATERIALIZED ("
            "SELECT p.total, p.ids FROM n, svc.user_page($1, $2,"
                " $3::int4 + n.skip, $4::int4 - n.skip) p WHERE $5"
        "), m AS ("
            "SELECT u.id, 'human' AS type, coalesce(u.display_name,"
                " nullif(concat_ws(' ', u.first_name, u.last_name), ''),"
                " u.user_name) AS name, u.user_name AS email,"
                " NULL::uuid AS owner_id, u.status, 0 AS anomalies,"
                " u.last_login_at AS active_at,"
                " NULL::timestamptz AS expires_at, u.created_at"
            " FROM h, unnest(h.ids) i (id) CROSS JOIN LATERAL ("
                NGX_SVC_ROW("k.*", "svc.user_account", "i.id") ") u"
            " UNION ALL SELECT * FROM s"
            " ORDER BY created_at DESC, id DESC"
            " LIMIT $3::int4 OFFSET (SELECT skip FROM n)"
        ")"
        " SELECT n.n + coalesce(h.total, 0), m.id, m.type, m.name, m.email,"
            " o.id, o.user_name, m.status, m.anomalies, m.active_at,"
            " m.expires_at, m.created_at"
        " FROM n LEFT JOIN h ON true LEFT JOIN m ON true"
        " LEFT JOIN LATERAL ("
            NGX_SVC_ROW("k.id, k.user_name", "svc.user_account", "m.owner_id")
            ") o ON true"
        " ORDER BY m.created_at DESC, m.id DESC",
    .nparams = 6
};

ngx_svc_pg_statements_t  ngx_svc_admin_identities_statements[] = {
    &ngx_svc_sql_admin_identities_list,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_identities[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/identities"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .prepare = ngx_svc_admin_identities_prepare,
      .reply = ngx_svc_admin_identities_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_identities_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t              rc, type, status;
    ngx_svc_pg_call_t     *call;
    ngx_svc_admin_find_t  *find;

    find = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_find_t));
    if (find == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_admin_find(sr, ngx_svc_admin_identity_statuses, find,
                            &status);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_word_argument(sr, "type", ngx_svc_admin_identity_types,
                               &type);
    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_identities_list);

    if (call == NULL || ngx_svc_admin_find_bind(sr, call, find) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_bool(call, (type == -1 || type == NGX_SVC_ADMIN_HUMAN)
                               && status < NGX_SVC_ADMIN_EXPIRED);
    ngx_svc_pg_bind_bool(call, (type == -1 || type == NGX_SVC_ADMIN_SERVICE)
                               && (status <= NGX_SVC_ADMIN_ACTIVE
                                   || status >= NGX_SVC_ADMIN_EXPIRED));

    sr->data = &find->page;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_identities_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[0];

    return ngx_svc_page_send(sr, "identities", NGX_SVC_ADMIN_IDENTITY_SIZE,
                             res, res, ngx_svc_admin_identity_write);
}


/* An empty page is one row without an identity. */

static void
ngx_svc_admin_identity_write(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    if (PQgetisnull(res, row, 1)) {
        return;
    }

    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_column_text(w, "id", res, row, 1);
    ngx_svc_column_text(w, "type", res, row, 2);
    ngx_svc_column_text(w, "name", res, row, 3);
    ngx_svc_column_text(w, "email", res, row, 4);

    if (PQgetisnull(res, row, 5)) {
        ngx_svc_json_null(w, "owner");

    } else {
        ngx_svc_json_open(w, "owner", '{');
        ngx_svc_column_text(w, "id", res, row, 5);
        ngx_svc_column_text(w, "email", res, row, 6);
        ngx_svc_json_close(w, '}');
    }

    ngx_svc_column_text(w, "status", res, row, 7);
    ngx_svc_column_raw(w, "anomalies", res, row, 8);
    ngx_svc_column_time(w, "lastActiveAt", res, row, 9);
    ngx_svc_column_time(w, "expiresAt", res, row, 10);
    ngx_svc_column_time(w, "createdAt", res, row, 11);

    ngx_svc_json_close(w, '}');
}
