/*
 * /Users/{id}, and creating one.
 */

#include "ngx_svc_scim_write.h"


static ngx_int_t ngx_svc_scim_check(ngx_svc_request_t *sr, void *body);
static ngx_uint_t ngx_svc_scim_told(const void *body);
static ngx_uint_t ngx_svc_scim_untold(const void *body);
static ngx_uint_t ngx_svc_scim_activates(const void *body);
static ngx_uint_t ngx_svc_scim_deactivates(const void *body);
static ngx_uint_t ngx_svc_scim_changes(const void *body);
static ngx_uint_t ngx_svc_scim_keeps(const void *body);
static void ngx_svc_scim_create_committed(const ngx_svc_pg_results_t *results);


static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_get = {
    .name = "scim_get",
    .text = NGX_SVC_SCIM_SELECT " AND id = $1",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)),
    .missing = NGX_SVC_SCIM_NO_USER,
    .when = ngx_svc_scim_keeps
};

/*
 * Always one row: the new user, as the answer needs it, and who subscribes to
 * the event; or of a user who would not be unique the constraint's name alone.
 * svc.user_conflict() is called for nobody else: two sub-selects in its place
 * would cost each create a tenth, and so would a join with what they find.
 */

#define NGX_SVC_SCIM_NEW_USER(subscribers)                                    \
    "WITH u AS ("                                                             \
        NGX_SVC_SCIM_INSERT("", ", tenant_id")                                \
    "), e AS ("                                                               \
        NGX_SVC_SCIM_AUDIT(NGX_SVC_A_USER_CREATED, "$11", "$12", "$13",       \
                           "'{\"source\":\"scim\"}'", "FROM u")               \
    ")"                                                                       \
    " SELECT " NGX_SVC_SCIM_COLUMNS ", CASE WHEN id IS NULL"                  \
        " AND current_setting('svc.tenant', true) <> ''"                      \
        " THEN coalesce(svc.user_conflict($2, $3),"                           \
            " 'user_account_user_name_key') END, " subscribers                \
    " FROM (SELECT) one LEFT JOIN u ON true"

#define ngx_svc_scim_create_params()                                          \
    NGX_SVC_PARAMS(ngx_svc_scim_insert_params()                               \
                   ngx_svc_scim_client_params()),                             \
    NGX_SVC_CONSTRAINT_VERDICT,                                               \
    .verdict = NGX_SVC_SCIM_COL_VERDICT

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_create = {
    .name = "scim_create",
    .text = NGX_SVC_SCIM_NEW_USER(NGX_SVC_EVENT_SUBSCRIBERS("user.created")),
    ngx_svc_scim_create_params(),
    .when = ngx_svc_scim_told
};

/* Where there are no webhooks. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_create_alone = {
    .name = "scim_create_alone",
    .text = NGX_SVC_SCIM_NEW_USER("NULL::text"),
    ngx_svc_scim_create_params(),
    .when = ngx_svc_scim_untold
};

/*
 * "active" alone is most of what comes.  A statement that sets nothing but the
 * status of the user $1, and writes the event; neither, unless "from", a
 * comparison, holds for the status of the locked row.  Who is not active has no
 * session from before.
 */

#define NGX_SVC_SCIM_SET_STATUS(action, status, from)                         \
    "WITH o AS ("                                                             \
        "SELECT " NGX_SVC_SCIM_COLUMNS " FROM svc.user_account"               \
        " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"                   \
        " FOR NO KEY UPDATE"                                                  \
    "), u AS ("                                                               \
        "UPDATE svc.user_account a SET status = '" status "',"                \
            " valid_after = CASE '" status "' WHEN 'active'"                  \
                " THEN a.valid_after ELSE clock_timestamp() END,"             \
            " updated_at = " NGX_SVC_CHANGED_AT("a")                          \
        " FROM o WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = $1"        \
            " AND o.status " from                                             \
        " RETURNING a.tenant_id, a.id, a.status, a.updated_at"                \
    "), e AS ("                                                               \
        NGX_SVC_SCIM_AUDIT(action, "$2", "$3", "$4",                          \
            "'{\"source\":\"scim\",\"changed\":[\"status\"]}'", "FROM u")     \
    ")"                                                                       \
    " SELECT o.id, o.user_name, o.external_id,"                               \
        " coalesce(u.status, o.status)"                                       \
        NGX_SVC_PROFILE(NGX_SVC_PROFILE_OLD) ", o.created_at,"                \
        " coalesce(u.updated_at, o.updated_at)"                               \
    " FROM o LEFT JOIN u ON true"

#define ngx_svc_scim_set_status_params()                                      \
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER),            \
                   ngx_svc_scim_client_params()),                             \
    .missing = NGX_SVC_SCIM_NO_USER

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_activate = {
    .name = "scim_activate",
    .text = NGX_SVC_SCIM_SET_STATUS(NGX_SVC_A_USER_REACTIVATED, "active",
                                    "= 'deactivated'"),
    ngx_svc_scim_set_status_params(),
    .when = ngx_svc_scim_activates
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_deactivate = {
    .name = "scim_deactivate",
    .text = NGX_SVC_SCIM_SET_STATUS(NGX_SVC_A_USER_DEACTIVATED, "deactivated",
                                    "<> 'deactivated'"),
    ngx_svc_scim_set_status_params(),
    .when = ngx_svc_scim_deactivates
};

/*
 * One statement locks the row, writes it only if something differs, writes the
 * audit event, and has the answer.  What differs is told from the locked row:
 * the UPDATE's own WHERE sees the row of the statement's beginning first.  The
 * names of what the row has begin with "o_".
 */

#define NGX_SVC_SCIM_KEPT(id, column, ...)                                    \
    ", " #column " AS o_" #column

#define NGX_SVC_SCIM_KEPT_OLD(id, column, ...)                                \
    ", n.o_" #column

#define NGX_SVC_SCIM_TAKEN(id, column, ...)                                   \
    ", " #column " = n." #column

#define NGX_SVC_SCIM_CHANGE_DIFFERS(id, column, name, ...)                    \
    ", CASE WHEN u." #column " IS DISTINCT FROM u.o_" #column                 \
        " THEN '" name "' END"

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_change = {
    .name = "scim_change",
    .text =
        "WITH n AS ("
            "SELECT id, user_name, created_at, updated_at, status AS o_status"
                NGX_SVC_SCIM_PROFILE(NGX_SVC_SCIM_KEPT)
                NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_WANTED)
                NGX_SVC_SCIM_STATUS_WANTED ","
                " CASE WHEN $2 AND $3 <> coalesce(external_id, '')"
                    " THEN svc.user_conflict(NULL, $3) END AS taken"
            " FROM ("
                "SELECT " NGX_SVC_SCIM_COLUMNS " FROM svc.user_account"
                " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1 FOR UPDATE"
            ") o"
        "), u AS ("
            "UPDATE svc.user_account a SET status = n.status,"
                " valid_after = CASE WHEN n.status IN ('active', a.status)"
                    " THEN a.valid_after ELSE clock_timestamp() END,"
                " search = " NGX_SVC_PROFILE_SEARCH("n") ","
                " updated_at = " NGX_SVC_CHANGED_AT("a")
                NGX_SVC_SCIM_PROFILE(NGX_SVC_SCIM_TAKEN)
            " FROM n WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = $1"
                " AND n.taken IS NULL"
                " AND (n.status" NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_NEW) ")"
                " IS DISTINCT FROM (n.o_status"
                    NGX_SVC_SCIM_PROFILE(NGX_SVC_SCIM_KEPT_OLD) ")"
            " RETURNING a.tenant_id, n.*, a.updated_at AS changed_at"
        "), e AS ("
            NGX_SVC_SCIM_AUDIT_AS(
                NGX_SVC_SCIM_CHANGED_ACTION("u.o_status"), "$17", "$18", "$19",
                NGX_SVC_SCIM_CHANGED_DETAILS(
                    NGX_SVC_SCIM_PROFILE(NGX_SVC_SCIM_CHANGE_DIFFERS)
                    ", CASE WHEN u.status <> u.o_status THEN 'status' END"),
                "FROM u")
        ")"
        " SELECT n.id, n.user_name, n.external_id, n.status"
            NGX_SVC_PROFILE(NGX_SVC_PROFILE_NEW) ", n.created_at,"
            " coalesce(u.changed_at, n.updated_at), n.taken"
        " FROM n LEFT JOIN u ON true",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER),
                   NGX_SVC_SCIM_PROFILE(ngx_svc_scim_params)
                   ngx_svc_param_call(ngx_svc_scim_status),
                   ngx_svc_scim_client_params()),
    NGX_SVC_CONSTRAINT_VERDICT,
    .verdict = NGX_SVC_SCIM_COL_VERDICT,
    .missing = NGX_SVC_SCIM_NO_USER,
    .when = ngx_svc_scim_changes
};


const ngx_svc_route_t  ngx_svc_scim_users[] = {

    { ngx_svc_scim_route(NGX_HTTP_POST, NGX_SVC_SCIM_USERS,
                         NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_AUDITS,
                         ngx_svc_scim_check),
      .statements = { &ngx_svc_sql_scim_create,
                      &ngx_svc_sql_scim_create_alone },
      .status = NGX_HTTP_CREATED,
      .committed = ngx_svc_scim_create_committed,
      .reply = ngx_svc_scim_user_reply },

    { .method = NGX_HTTP_GET,
      .path = NGX_SVC_SCIM_USER,
      .permission = NGX_SVC_P_SCIM,
      .body_size = sizeof(ngx_svc_scim_user_t),
      .check = ngx_svc_scim_mask,
      .statements = { &ngx_svc_sql_scim_get },
      .reply = ngx_svc_scim_user_reply },

    { ngx_svc_scim_route(NGX_HTTP_PUT, NGX_SVC_SCIM_USER,
                         NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_AUDITS,
                         ngx_svc_scim_check),
      .statements = { &ngx_svc_sql_scim_change },
      .reply = ngx_svc_scim_user_reply },

    { ngx_svc_scim_route(NGX_HTTP_PATCH, NGX_SVC_SCIM_USER,
                         NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_AUDITS,
                         ngx_svc_scim_check),
      .statements = { &ngx_svc_sql_scim_activate,
                      &ngx_svc_sql_scim_deactivate,
                      &ngx_svc_sql_scim_change,
                      &ngx_svc_sql_scim_get },
      .reply = ngx_svc_scim_user_reply },

    { ngx_svc_scim_route(NGX_HTTP_DELETE, NGX_SVC_SCIM_USER,
                         NGX_SVC_ROUTE_AUDITS, ngx_svc_scim_check),
      .statements = { &ngx_svc_sql_scim_deactivate },
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
ngx_svc_scim_told(const void *body)
{
    return ngx_svc_event_listens();
}


static ngx_uint_t
ngx_svc_scim_untold(const void *body)
{
    return !ngx_svc_event_listens();
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


static ngx_uint_t
ngx_svc_scim_keeps(const void *body)
{
    const ngx_svc_scim_user_t  *user = body;

    return !user->active.set && !ngx_svc_scim_changes(body);
}


static void
ngx_svc_scim_create_committed(const ngx_svc_pg_results_t *results)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_scim_create,
        &ngx_svc_sql_scim_create_alone,
        NULL
    };

    ngx_svc_scim_created(results, ngx_svc_pg_result_of(results, list));
}


void
ngx_svc_scim_created(const ngx_svc_pg_results_t *results, PGresult *user)
{
    ngx_svc_event_t  event;

    if (results == NULL) {
        ngx_svc_request_committed(NULL);
        return;
    }

    if (PQgetisnull(user, 0, NGX_SVC_SCIM_COL_ID)) {
        return;
    }

    ngx_svc_request_committed(results);

    event.kind = NGX_SVC_EVENT_USER_CREATED;
    event.tenant = ngx_svc_pg_value(ngx_svc_pg_result_first(results), 0, 0);
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

    res = ngx_svc_route_final(sr);

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
