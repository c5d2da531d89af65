/*
 * /Users/{id}, and creating a user.
 */

#include "ngx_svc_scim_write.h"
#include "ngx_svc_auth.h"


static ngx_int_t ngx_svc_scim_check(ngx_svc_request_t *sr, void *body);
static ngx_uint_t ngx_svc_scim_told(const void *body);
static ngx_uint_t ngx_svc_scim_untold(const void *body);
static ngx_uint_t ngx_svc_scim_activates(const void *body);
static ngx_uint_t ngx_svc_scim_deactivates(const void *body);
static ngx_uint_t ngx_svc_scim_changes(const void *body);
static ngx_uint_t ngx_svc_scim_keeps(const void *body);
static void ngx_svc_scim_create_committed(const ngx_svc_pg_results_t *results);


#include "ngx_svc_scim_users.sql.h"


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


/* Reads what the request wants of the user into the body of its parameters. */

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


/* Binds NULL when the status stays as it is. */

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
    ngx_svc_event_t             event;
    ngx_svc_row_scim_created_t  row;

    if (results == NULL) {
        ngx_svc_request_committed(NULL);
        return;
    }

    ngx_svc_row_scim_created(&row, user, 0, 0);

    if (row.scim_user.id.data == NULL) {
        return;
    }

    ngx_svc_request_committed(results);

    event.kind = NGX_SVC_EVENT_USER_CREATED;
    event.tenant = ngx_svc_auth_tenant(results);
    event.user = row.scim_user.id;
    event.email = row.scim_user.user_name;
    event.subscribers = row.subscribers;
    event.at = row.scim_user.created_at;
    ngx_str_null(&event.number);

    ngx_svc_event_emit(&event);
}


/*
 * Content-Location is the user's meta.location, also when the answer leaves
 * that out (RFC 7643, 3.1); a new user's Location is the same (RFC 7644, 3.3).
 */

ngx_int_t
ngx_svc_scim_user_reply(ngx_svc_request_t *sr)
{
    ngx_str_t                location;
    ngx_uint_t               status;
    ngx_svc_json_writer_t    w;
    ngx_svc_row_scim_user_t  user;

    ngx_svc_row_scim_user(&user, ngx_svc_route_final(sr), 0, 0);

    if (ngx_svc_json_writer_init(&w, sr->request->pool, NGX_SVC_SCIM_USER_SIZE)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_scim_user_write(&w, sr, &user, (uintptr_t) sr->data);

    if (ngx_svc_scim_location(sr, &user, &location) != NGX_OK
        || ngx_svc_add_header(sr->request, "Content-Location", &location)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ngx_svc_scim_rfc(sr)) {
        if (ngx_svc_scim_version_etag(sr, &user.updated_at) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    status = sr->route->status ? sr->route->status : NGX_HTTP_OK;

    return ngx_svc_send(sr, status, &w, status == NGX_HTTP_CREATED ? &location
                                                                   : NULL);
}
