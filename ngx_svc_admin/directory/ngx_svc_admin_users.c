/*
 * /v1/admin/users and /v1/admin/users/{userId}.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_search.h"
#include "ngx_svc_admin_user.h"


/* What the "when" of the statements looks at. */

typedef struct {
    ngx_uint_t      filtered;
} ngx_svc_admin_users_body_t;

/*
 * sr->data, from the request's pool: the page, and what users are asked for by
 * beside their state and a text.  What they are not has no data.
 */

typedef struct {
    ngx_svc_page_t  page;       /* first */
    ngx_str_t       id;         /* which "q" is */
    ngx_str_t       role;
    ngx_str_t       locked;     /* "true" or "false", as a factor is there */
    ngx_str_t       factor;
    ngx_str_t       group;
} ngx_svc_admin_users_t;


static ngx_int_t ngx_svc_admin_users_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_users_filters(ngx_svc_request_t *sr,
    ngx_svc_admin_users_t *users);
static ngx_int_t ngx_svc_admin_users_flag(ngx_svc_request_t *sr,
    const char *name, const char *const words[], ngx_str_t *value);
static ngx_uint_t ngx_svc_admin_users_plain(const void *body);
static ngx_uint_t ngx_svc_admin_users_filtered(const void *body);


static const char *const  ngx_svc_admin_user_statuses[] = {
    "active", "suspended", "deactivated", NULL
};

static const char *const  ngx_svc_admin_user_locked[] = {
    "true", "false", NULL
};

static const char *const  ngx_svc_admin_user_factor[] = {
    "with", "without", NULL
};


#include "ngx_svc_admin_users.sql.h"


const ngx_svc_route_t  ngx_svc_admin_users[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .body_size = sizeof(ngx_svc_admin_users_body_t),
      .check = ngx_svc_admin_users_check,
      .statements = { &ngx_svc_sql_admin_users_list,
                      &ngx_svc_sql_admin_users_find },
      .list = "users" },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .statements = { &ngx_svc_sql_admin_users_get } },

    ngx_svc_null_route
};


/* A list without filters is the statement that knows nothing of them. */

static ngx_int_t
ngx_svc_admin_users_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t                    rc;
    ngx_svc_page_t              *page;
    ngx_svc_admin_users_t       *users;
    ngx_svc_admin_users_body_t  *asked = body;

    rc = ngx_svc_admin_search_check(sr, body);
    if (rc != NGX_OK) {
        return rc;
    }

    users = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_users_t));
    if (users == NULL) {
        return NGX_ERROR;
    }

    page = sr->data;
    users->page = *page;
    sr->data = users;

    rc = ngx_svc_admin_users_filters(sr, users);

    asked->filtered = users->id.data || users->role.data || users->locked.data
                      || users->factor.data || users->group.data;

    if (asked->filtered) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_users_filters(ngx_svc_request_t *sr,
    ngx_svc_admin_users_t *users)
{
    ngx_int_t  rc;

    rc = ngx_svc_text_argument(sr, "q", NGX_SVC_PAGE_QUERY, &users->id);

    if (rc == NGX_OK && !ngx_svc_admin_id_exact(&users->id)) {
        ngx_str_null(&users->id);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_text_argument(sr, "role", NGX_SVC_ADMIN_ROLE_MAX,
                                   &users->role);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_users_flag(sr, "locked", ngx_svc_admin_user_locked,
                                      &users->locked);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_users_flag(sr, "factor", ngx_svc_admin_user_factor,
                                      &users->factor);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_argument(sr, "group", &users->group);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (users->role.data && users->role.len == 0) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"role\" must be the key of a role.");
    }

    if (users->group.data && !ngx_svc_admin_id_exact(&users->group)) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"group\" must be the id of a group.");
    }

    return NGX_OK;
}


/* The value is "true" for the first word, "false" for the second one. */

static ngx_int_t
ngx_svc_admin_users_flag(ngx_svc_request_t *sr, const char *name,
    const char *const words[], ngx_str_t *value)
{
    ngx_int_t  rc, n;

    rc = ngx_svc_word_argument(sr, name, words, &n);

    if (rc == NGX_OK && n == 0) {
        ngx_str_set(value, "true");

    } else if (rc == NGX_OK && n == 1) {
        ngx_str_set(value, "false");
    }

    return rc;
}


static ngx_uint_t
ngx_svc_admin_users_plain(const void *body)
{
    return !ngx_svc_admin_users_filtered(body);
}


static ngx_uint_t
ngx_svc_admin_users_filtered(const void *body)
{
    const ngx_svc_admin_users_body_t  *asked = body;

    return asked->filtered;
}
