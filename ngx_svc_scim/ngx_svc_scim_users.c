/*
 * /Users/{id}, and creating one.
 */

#include "ngx_svc_scim.h"


static ngx_int_t ngx_svc_scim_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_scim_status(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static void ngx_svc_scim_create_committed(PGresult **results);
static ngx_int_t ngx_svc_scim_user_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_send_user(ngx_svc_request_t *sr, PGresult *res);


#define NGX_SVC_SCIM_PROFILE(_)                                               \
    _(EXTERNAL_ID, external_id, "externalId", "$2", "$3")                     \
    NGX_SVC_PROFILE(_)

#define ngx_svc_scim_param(id, column, ...)                                   \
    ngx_svc_param_text(ngx_svc_scim_user_t, column),

#define ngx_svc_scim_params(id, column, ...)                                  \
    ngx_svc_param_given(ngx_svc_scim_user_t, column),                         \
    ngx_svc_param_text(ngx_svc_scim_user_t, column),


static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_get = {
    .name = "scim_get",
    .text =
        "SELECT " NGX_SVC_SCIM_COLUMNS
        " FROM svc.user_account WHERE id = $1",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)),
    .missing = NGX_SVC_SCIM_NO_USER
};

/*
 * A user who would not be unique is refused with the constraint's name in the
 * column behind the user's.  svc.user_conflict() is called for nobody else: two
 * sub-selects in its place would cost each create a tenth, and so would a join.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_create = {
    .name = "scim_create",
    .text =
        "WITH t AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS id"
        "), u AS ("
            "INSERT INTO svc.user_account (tenant_id, id, user_name,"
                " external_id, status, email_verified, source"
                NGX_SVC_PROFILE(NGX_SVC_PROFILE_COLUMN) ")"
            " SELECT t.id, $1::uuid, $2, $3, coalesce($4, 'active'), true,"
                " 'scim', $5, $6, $7, $8, $9, $10"
            " FROM t WHERE t.id IS NOT NULL ON CONFLICT DO NOTHING RETURNING *"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_CREATED, "u.id::text", "NULL",
                          "'{\"source\":\"scim\"}'", "FROM u")
        ")"
        " SELECT " NGX_SVC_SCIM_COLUMNS ", NULL, "
            NGX_SVC_EVENT_SUBSCRIBERS("user.created") " FROM u"
        " UNION ALL SELECT " NGX_SVC_SCIM_NULLS ","
            " CASE WHEN current_setting('svc.tenant', true) <> '' THEN"
            " coalesce(svc.user_conflict($2, $3), 'user_account_user_name_key')"
            " END, NULL WHERE NOT EXISTS (SELECT FROM u)",
    NGX_SVC_PARAMS(ngx_svc_param_new_id(),
                   ngx_svc_param_text(ngx_svc_scim_user_t, user_name),
                   ngx_svc_param_text(ngx_svc_scim_user_t, external_id),
                   ngx_svc_param_call(ngx_svc_scim_status),
                   NGX_SVC_PROFILE(ngx_svc_scim_param))
};

/*
 * One statement locks the row, writes it only if something differs, ends the
 * sessions of a user who may not have any, writes the audit event, and returns
 * the row as it now is.  What differs is told from the locked row: the UPDATE's
 * own WHERE sees the row of the statement's beginning first.  "active": true
 * does not revive a suspended user, whom an administrator has suspended.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_change = {
    .name = "scim_change",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.user_account WHERE id = $1 FOR UPDATE"
        "), n AS ("
            "SELECT id" NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_WANTED) ","
                " CASE WHEN $16 = 'deactivated'"
                    " OR $16 = 'active' AND status = 'deactivated'"
                    " THEN $16 ELSE status END AS status,"
                " CASE WHEN $2 AND $3 <> coalesce(external_id, '')"
                    " THEN svc.user_conflict(NULL, $3) END AS taken"
            " FROM o"
        "), c AS ("
            "SELECT n.* FROM n, o WHERE n.taken IS NULL"
                " AND (n.status" NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_NEW) ")"
                " IS DISTINCT FROM"
                " (o.status" NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_OLD) ")"
        "), u AS ("
            "UPDATE svc.user_account a SET status = c.status,"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
                NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_SET)
            " FROM c WHERE a.id = $1 RETURNING a.*"
        "), s AS ("
            "UPDATE svc.session s SET ended_at = now()"
            " FROM n WHERE $16 = 'deactivated' AND n.taken IS NULL"
                " AND s.user_id = $1 AND s.ended_at IS NULL"
        "), e AS ("
            NGX_SVC_AUDIT_AS(
                "CASE WHEN u.status = 'deactivated'"
                    " AND o.status <> 'deactivated' THEN "
                    NGX_SVC_A_USER_DEACTIVATED(NGX_SVC_AUDIT_NAME)
                    " WHEN u.status = 'active' AND o.status = 'deactivated'"
                    " THEN " NGX_SVC_A_USER_REACTIVATED(NGX_SVC_AUDIT_NAME)
                    " ELSE " NGX_SVC_A_USER_UPDATED(NGX_SVC_AUDIT_NAME)
                    " END, 'user'",
                "u.id::text", "NULL",
                "'{\"source\":\"scim\"}' || " NGX_SVC_AUDIT_CHANGED(
                    "NULL" NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_DIFFERS)
                    ", " NGX_SVC_DIFFERS("status", "status")),
                "FROM u JOIN o ON o.id = u.id")
        ")"
        " SELECT " NGX_SVC_SCIM_COLUMNS ", NULL FROM u"
        " UNION ALL SELECT " NGX_SVC_SCIM_COLUMNS ","
            " (SELECT taken FROM n)"
        " FROM o WHERE NOT EXISTS (SELECT FROM u)",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER),
                   NGX_SVC_SCIM_PROFILE(ngx_svc_scim_params)
                   ngx_svc_param_call(ngx_svc_scim_status)),
    .missing = NGX_SVC_SCIM_NO_USER
};


#define NGX_SVC_SCIM_USER  ngx_string("/Users/*")


const ngx_svc_route_t  ngx_svc_scim_users[] = {

    { .method = NGX_HTTP_POST,
      .path = NGX_SVC_SCIM_USERS,
      .permission = NGX_SVC_P_SCIM,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .body_size = sizeof(ngx_svc_scim_user_t),
      .check = ngx_svc_scim_check,
      .statements = { &ngx_svc_sql_scim_create },
      .status = NGX_HTTP_CREATED,
      .committed = ngx_svc_scim_create_committed,
      .reply = ngx_svc_scim_user_reply },

    { .method = NGX_HTTP_GET,
      .path = NGX_SVC_SCIM_USER,
      .permission = NGX_SVC_P_SCIM,
      .check = ngx_svc_scim_mask,
      .statements = { &ngx_svc_sql_scim_get },
      .reply = ngx_svc_scim_user_reply },

    { .method = NGX_HTTP_PUT,
      .path = NGX_SVC_SCIM_USER,
      .permission = NGX_SVC_P_SCIM,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .body_size = sizeof(ngx_svc_scim_user_t),
      .check = ngx_svc_scim_check,
      .statements = { &ngx_svc_sql_scim_change },
      .reply = ngx_svc_scim_user_reply },

    { .method = NGX_HTTP_PATCH,
      .path = NGX_SVC_SCIM_USER,
      .permission = NGX_SVC_P_SCIM,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .body_size = sizeof(ngx_svc_scim_user_t),
      .check = ngx_svc_scim_check,
      .statements = { &ngx_svc_sql_scim_change },
      .reply = ngx_svc_scim_user_reply },

    { .method = NGX_HTTP_DELETE,
      .path = NGX_SVC_SCIM_USER,
      .permission = NGX_SVC_P_SCIM,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .body_size = sizeof(ngx_svc_scim_user_t),
      .check = ngx_svc_scim_check,
      .statements = { &ngx_svc_sql_scim_change },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


/* What the request wants of the user, into the body of its parameters. */

static ngx_int_t
ngx_svc_scim_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t             rc;
    ngx_svc_scim_user_t  *user = body;

    if (sr->route->method == NGX_HTTP_DELETE) {

        /* "active": false */

        user->active.set = 1;
        return NGX_OK;
    }

    rc = ngx_svc_scim_mask(sr, body);
    if (rc != NGX_OK) {
        return rc;
    }

    switch (sr->route->method) {

    case NGX_HTTP_POST:
        return ngx_svc_scim_user_create(sr->json, user, &sr->error);

    case NGX_HTTP_PUT:
        return ngx_svc_scim_user_replace(sr->json, user, &sr->error);

    default: /* NGX_HTTP_PATCH */
        return ngx_svc_scim_user_patch(sr->json, user, &sr->error);
    }
}


/* NULL: as it is. */

static ngx_int_t
ngx_svc_scim_status(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_scim_user_t  *user = body;

    static ngx_str_t      active = ngx_string("active");
    static ngx_str_t      deactivated = ngx_string("deactivated");

    if (!user->active.set) {
        ngx_svc_pg_bind_str(call, NULL);

    } else {
        ngx_svc_pg_bind_str(call, user->active.integer ? &active
                                                       : &deactivated);
    }

    return NGX_OK;
}


static void
ngx_svc_scim_create_committed(PGresult **results)
{
    PGresult         *res;
    ngx_svc_event_t   event;

    if (results == NULL) {
        ngx_svc_request_committed(NULL);
        return;
    }

    /* behind the credential's */

    res = results[1];

    if (PQntuples(res) == 0 || PQgetisnull(res, 0, NGX_SVC_SCIM_COL_ID)) {
        return;
    }

    ngx_svc_request_committed(results);

    event.kind = NGX_SVC_EVENT_USER_CREATED;
    event.tenant = ngx_svc_pg_value(results[0], 0, 0);
    event.user = ngx_svc_pg_value(res, 0, NGX_SVC_SCIM_COL_ID);
    event.email = ngx_svc_pg_value(res, 0, NGX_SVC_SCIM_COL_USER_NAME);
    event.subscribers = ngx_svc_pg_value(res, 0,
                                         NGX_SVC_SCIM_COL_SUBSCRIBERS);

    ngx_svc_event_emit(&event);
}


/* The user, or the verdict behind its columns, which GET does not have. */

static ngx_int_t
ngx_svc_scim_user_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[0];

    if (PQnfields(res) > NGX_SVC_SCIM_COL_VERDICT
        && !PQgetisnull(res, 0, NGX_SVC_SCIM_COL_VERDICT))
    {
        return ngx_svc_send_conflict(sr, PQgetvalue(res, 0,
                                                    NGX_SVC_SCIM_COL_VERDICT));
    }

    return ngx_svc_scim_send_user(sr, res);
}


/*
 * Content-Location is what meta.location is, also when that is left out (RFC
 * 7643, 3.1), and so is the Location of a new one (RFC 7644, 3.3).
 */

static ngx_int_t
ngx_svc_scim_send_user(ngx_svc_request_t *sr, PGresult *res)
{
    ngx_str_t               location;
    ngx_uint_t              status;
    ngx_svc_json_writer_t   w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, NGX_SVC_SCIM_USER_SIZE)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_scim_user_write(&w, sr, res, 0, (uintptr_t) sr->data);

    if (ngx_svc_scim_location(sr, res, 0, &location) != NGX_OK
        || ngx_svc_add_header(sr->request, "Content-Location", &location)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    status = sr->route->status ? sr->route->status : NGX_HTTP_OK;

    return ngx_svc_send(sr, status, &w, status == NGX_HTTP_CREATED ? &location
                                                                   : NULL);
}
