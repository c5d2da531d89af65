/*
 * /Users/{id}, and creating one.
 */

#include "ngx_svc_scim_write.h"


static ngx_int_t ngx_svc_scim_check(ngx_svc_request_t *sr, void *body);
static ngx_uint_t ngx_svc_scim_activates(const void *body);
static ngx_uint_t ngx_svc_scim_deactivates(const void *body);
static ngx_uint_t ngx_svc_scim_changes(const void *body);
static void ngx_svc_scim_create_committed(PGresult **results);


/* The user as it is now: what answers, behind what changed it. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_get = {
    .name = "scim_get",
    .text = NGX_SVC_SCIM_SELECT " AND id = $1",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)),
    .missing = NGX_SVC_SCIM_NO_USER
};

/*
 * Always one row: the new user, as the answer needs it, and who subscribes to
 * the event; or of a user who would not be unique the constraint's name alone.
 * svc.user_conflict() is called for nobody else: two sub-selects in its place
 * would cost each create a tenth, and so would a join with what they find.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_create = {
    .name = "scim_create",
    .text =
        "WITH u AS ("
            NGX_SVC_SCIM_INSERT("")
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_CREATED, "u.id::text", "NULL",
                          "'{\"source\":\"scim\"}'", "FROM u")
        ")"
        " SELECT u.*, CASE WHEN u.id IS NULL"
            " AND current_setting('svc.tenant', true) <> ''"
            " THEN coalesce(svc.user_conflict($2, $3),"
                " 'user_account_user_name_key') END, "
            NGX_SVC_EVENT_SUBSCRIBERS("user.created")
        " FROM (SELECT) one LEFT JOIN u ON true",
    ngx_svc_scim_insert_params(),
    NGX_SVC_CONSTRAINT_VERDICT,
    .verdict = NGX_SVC_SCIM_COL_VERDICT
};

/* "active" alone is most of what comes. */

#define NGX_SVC_SCIM_STATUS  "'{\"source\":\"scim\",\"changed\":[\"status\"]}'"

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_activate = {
    .name = "scim_activate",
    .text = NGX_SVC_PROFILE_STATUS(NGX_SVC_A_USER_REACTIVATED, "active",
                                   "= 'deactivated'", NGX_SVC_SCIM_STATUS),
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)),
    .when = ngx_svc_scim_activates
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_deactivate = {
    .name = "scim_deactivate",
    .text = NGX_SVC_PROFILE_STATUS(NGX_SVC_A_USER_DEACTIVATED, "deactivated",
                                   "<> 'deactivated'", NGX_SVC_SCIM_STATUS),
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)),
    .when = ngx_svc_scim_deactivates
};

/*
 * One statement locks the row, writes it only if something differs, and writes
 * the audit event.  What differs is told from the locked row: the UPDATE's own
 * WHERE sees the row of the statement's beginning first.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_change = {
    .name = "scim_change",
    .text =
        "WITH o AS ("
            "SELECT id, user_name, status"
                NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_COLUMN)
            " FROM svc.user_account"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1 FOR UPDATE"
        "), n AS ("
            "SELECT id, user_name" NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_WANTED)
                NGX_SVC_SCIM_STATUS_WANTED ","
                " CASE WHEN $2 AND $3 <> coalesce(external_id, '')"
                    " THEN svc.user_conflict(NULL, $3) END AS taken"
            " FROM o"
        "), u AS ("
            "SELECT n.* FROM n, o WHERE n.taken IS NULL"
                " AND (n.status" NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_NEW) ")"
                " IS DISTINCT FROM"
                " (o.status" NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_OLD) ")"
        "), w AS ("
            "UPDATE svc.user_account a SET status = u.status,"
                " valid_after = CASE WHEN u.status IN ('active', a.status)"
                    " THEN a.valid_after ELSE clock_timestamp() END,"
                " search = " NGX_SVC_PROFILE_SEARCH("u") ","
                " updated_at = " NGX_SVC_CHANGED_AT("a")
                NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_SET)
            " FROM u WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = $1"
        "), e AS ("
            NGX_SVC_SCIM_CHANGED(NGX_SVC_SCIM_PROFILE)
        ")"
        " SELECT taken FROM n",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER),
                   NGX_SVC_SCIM_PROFILE(ngx_svc_scim_params)
                   ngx_svc_param_call(ngx_svc_scim_status)),
    NGX_SVC_CONSTRAINT_VERDICT,
    .missing = NGX_SVC_SCIM_NO_USER,
    .when = ngx_svc_scim_changes
};


const ngx_svc_route_t  ngx_svc_scim_users[] = {

    { ngx_svc_scim_route(NGX_HTTP_POST, NGX_SVC_SCIM_USERS, NGX_SVC_ROUTE_JSON,
                         ngx_svc_scim_check),
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

    { ngx_svc_scim_route(NGX_HTTP_PUT, NGX_SVC_SCIM_USER, NGX_SVC_ROUTE_JSON,
                         ngx_svc_scim_check),
      .statements = { &ngx_svc_sql_scim_change, &ngx_svc_sql_scim_get },
      .reply = ngx_svc_scim_user_reply },

    { ngx_svc_scim_route(NGX_HTTP_PATCH, NGX_SVC_SCIM_USER, NGX_SVC_ROUTE_JSON,
                         ngx_svc_scim_check),
      .statements = { &ngx_svc_sql_scim_activate,
                      &ngx_svc_sql_scim_deactivate,
                      &ngx_svc_sql_scim_change,
                      &ngx_svc_sql_scim_get },
      .reply = ngx_svc_scim_user_reply },

    { ngx_svc_scim_route(NGX_HTTP_DELETE, NGX_SVC_SCIM_USER, 0,
                         ngx_svc_scim_check),
      .statements = { &ngx_svc_sql_scim_deactivate, &ngx_svc_sql_scim_get },
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

ngx_int_t
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


static ngx_uint_t
ngx_svc_scim_activates(const void *body)
{
    const ngx_svc_scim_user_t  *user = body;

    return user->active.set && user->active.integer
           && !ngx_svc_scim_changes(body);
}


static ngx_uint_t
ngx_svc_scim_deactivates(const void *body)
{
    const ngx_svc_scim_user_t  *user = body;

    return user->active.set && !user->active.integer
           && !ngx_svc_scim_changes(body);
}


#define ngx_svc_scim_mentioned(id, column, ...)  || user->column.set

static ngx_uint_t
ngx_svc_scim_changes(const void *body)
{
    const ngx_svc_scim_user_t  *user = body;

    return 0 NGX_SVC_SCIM_PROFILE(ngx_svc_scim_mentioned);
}


static void
ngx_svc_scim_create_committed(PGresult **results)
{
    /* behind the credential's */

    ngx_svc_scim_created(results, 1);
}


void
ngx_svc_scim_created(PGresult **results, ngx_uint_t n)
{
    PGresult         *user;
    ngx_svc_event_t   event;

    if (results == NULL) {
        ngx_svc_request_committed(NULL);
        return;
    }

    user = results[n];

    if (PQgetisnull(user, 0, NGX_SVC_SCIM_COL_ID)) {
        return;
    }

    ngx_svc_request_committed(results);

    event.kind = NGX_SVC_EVENT_USER_CREATED;
    event.tenant = ngx_svc_pg_value(results[0], 0, 0);
    event.user = ngx_svc_pg_value(user, 0, NGX_SVC_SCIM_COL_ID);
    event.email = ngx_svc_pg_value(user, 0, NGX_SVC_SCIM_COL_USER_NAME);
    event.subscribers = ngx_svc_pg_value(user, 0, NGX_SVC_SCIM_COL_SUBSCRIBERS);
    event.at = ngx_svc_pg_value(user, 0, NGX_SVC_SCIM_COL_CREATED_AT);
    ngx_str_null(&event.number);

    ngx_svc_event_emit(&event);
}


/*
 * Content-Location is what meta.location is, also when that is left out (RFC
 * 7643, 3.1), and so is the Location of a new one (RFC 7644, 3.3).
 */

ngx_int_t
ngx_svc_scim_user_reply(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_str_t               location, updated_at;
    ngx_uint_t              status;
    ngx_svc_json_writer_t   w;

    res = ngx_svc_route_last(sr);

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

    if (ngx_svc_scim_rfc(sr)) {
        updated_at = ngx_svc_pg_value(res, 0, NGX_SVC_SCIM_COL_UPDATED_AT);

        if (ngx_svc_scim_version_etag(sr, &updated_at) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    status = sr->route->status ? sr->route->status : NGX_HTTP_OK;

    return ngx_svc_send(sr, status, &w, status == NGX_HTTP_CREATED ? &location
                                                                   : NULL);
}
