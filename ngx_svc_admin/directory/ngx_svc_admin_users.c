/*
 * /v1/admin/users and /v1/admin/users/{userId}.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_USER_SIZE    512      /* first guess, in bytes */
#define NGX_SVC_ADMIN_DEEP_OFFSET  10000    /* such a page takes longer */


static ngx_int_t ngx_svc_admin_users_list_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_users_list_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_users_get_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_users_get_reply(ngx_svc_request_t *sr);
static void ngx_svc_admin_users_row(ngx_svc_json_writer_t *w, PGresult *res,
    int row);


const char *const  ngx_svc_admin_user_statuses[] = {
    "active", "suspended", "deactivated", NULL
};


/* svc.user_page() answers with one row: how many there are, and ids. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_users_list = {
    .name = "admin_users_list",
    .text =
        "SELECT p.total, " NGX_SVC_ADMIN_USER_COLUMNS("u")
        " FROM svc.user_page($1, $2, $3::int4, $4::int4) p"
        " LEFT JOIN unnest(p.ids) WITH ORDINALITY i (id, n) ON true"
        " LEFT JOIN svc.user_account u ON u.id = i.id ORDER BY i.n",
    .nparams = 4
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_users_get = {
    .name = "admin_users_get",
    .text =
        "SELECT " NGX_SVC_ADMIN_USER_COLUMNS("u")
        " FROM svc.user_account u WHERE u.id = $1",
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_admin_users_statements[] = {
    &ngx_svc_sql_admin_users_list,
    &ngx_svc_sql_admin_users_get,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_users[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .prepare = ngx_svc_admin_users_list_prepare,
      .reply = ngx_svc_admin_users_list_reply },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .prepare = ngx_svc_admin_users_get_prepare,
      .reply = ngx_svc_admin_users_get_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_users_list_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t              rc, status;
    ngx_svc_pg_call_t     *call;
    ngx_svc_admin_find_t  *find;

    find = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_find_t));
    if (find == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_admin_find(sr, ngx_svc_admin_user_statuses, find, &status);
    if (rc != NGX_OK) {
        return rc;
    }

    sr->data = &find->page;

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_users_list);
    if (call == NULL) {
        return NGX_ERROR;
    }

    return ngx_svc_admin_find_bind(sr, call, find);
}


/* A search is slow work. */

ngx_int_t
ngx_svc_admin_find(ngx_svc_request_t *sr, const char *const *statuses,
    ngx_svc_admin_find_t *find, ngx_int_t *status)
{
    ngx_int_t  rc;

    rc = ngx_svc_page(sr, &find->page);

    if (rc == NGX_OK) {
        rc = ngx_svc_text_argument(sr, "q", NGX_SVC_ADMIN_QUERY, &find->q);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_word_argument(sr, "status", statuses, status);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (*status >= 0) {
        find->status.data = (u_char *) statuses[*status];
        find->status.len = ngx_strlen(statuses[*status]);
    }

    if (find->q.len || find->page.offset > NGX_SVC_ADMIN_DEEP_OFFSET) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_admin_find_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    ngx_svc_admin_find_t *find)
{
    ngx_svc_pg_bind_str(call, find->q.len ? &find->q : NULL);
    ngx_svc_pg_bind_str(call, find->status.len ? &find->status : NULL);

    if (ngx_svc_pg_bind_int(sr->op, call, find->page.limit) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_pg_bind_int(sr->op, call, find->page.offset);
}


static ngx_int_t
ngx_svc_admin_users_list_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[0];

    return ngx_svc_page_send(sr, "users", NGX_SVC_ADMIN_USER_SIZE,
                             res, res, ngx_svc_admin_users_row);
}


/* An empty page is one row without a user. */

static void
ngx_svc_admin_users_row(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    if (!PQgetisnull(res, row, 1)) {
        ngx_svc_admin_user_write(w, res, row, 1);
    }
}


static ngx_int_t
ngx_svc_admin_users_get_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_user_id(sr,
                                 ngx_svc_pg_call(sr->op,
                                                 &ngx_svc_sql_admin_users_get));
}


static ngx_int_t
ngx_svc_admin_users_get_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_user_send(sr, 0);
}


ngx_int_t
ngx_svc_admin_user_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    return ngx_svc_param_uuid(sr, 0, call, NGX_SVC_ADMIN_NO_USER);
}


/* The user in the first row of the op's own statement, or 404. */

ngx_int_t
ngx_svc_admin_user_send(ngx_svc_request_t *sr, int column)
{
    PGresult               *res;
    ngx_svc_json_writer_t   w;

    res = sr->results[0];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_USER);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool,
                                 NGX_SVC_ADMIN_USER_SIZE * 2)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_admin_user_write(&w, res, 0, column);

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


/* column: where those of NGX_SVC_ADMIN_USER_COLUMNS begin. */

void
ngx_svc_admin_user_write(ngx_svc_json_writer_t *w, PGresult *res, int row,
    int column)
{
    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_column_text(w, "id", res, row, column);
    ngx_svc_column_text(w, "email", res, row, column + 1);
    ngx_svc_column_boolean(w, "emailVerified", res, row, column + 2);
    ngx_svc_column_text(w, "displayName", res, row, column + 3);
    ngx_svc_column_text(w, "firstName", res, row, column + 4);
    ngx_svc_column_text(w, "lastName", res, row, column + 5);
    ngx_svc_column_text(w, "title", res, row, column + 6);
    ngx_svc_column_text(w, "department", res, row, column + 7);
    ngx_svc_column_text(w, "locale", res, row, column + 8);
    ngx_svc_column_text(w, "externalId", res, row, column + 9);
    ngx_svc_column_text(w, "status", res, row, column + 10);
    ngx_svc_column_text(w, "role", res, row, column + 11);
    ngx_svc_column_boolean(w, "locked", res, row, column + 12);
    ngx_svc_column_boolean(w, "mfaEnrolled", res, row, column + 13);
    ngx_svc_column_text(w, "source", res, row, column + 14);
    ngx_svc_column_time(w, "lastLoginAt", res, row, column + 15);
    ngx_svc_column_time(w, "createdAt", res, row, column + 16);
    ngx_svc_column_time(w, "updatedAt", res, row, column + 17);

    ngx_svc_json_close(w, '}');
}
