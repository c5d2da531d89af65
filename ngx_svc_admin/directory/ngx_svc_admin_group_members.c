/*
 * /v1/admin/groups/{id}/members, and /v1/admin/users/{userId}/groups.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_email.h"
#include "ngx_svc_pg_array.h"


#define NGX_SVC_ADMIN_MEMBER_IDS  1000      /* in one request; of addresses,
                                               too */


typedef struct {
    ngx_svc_value_t  user_ids;
    ngx_svc_value_t  user_id;
    ngx_svc_value_t  emails;
} ngx_svc_admin_members_t;


static ngx_int_t ngx_svc_admin_member_id(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_members_check(ngx_svc_request_t *sr,
    void *body);
static ngx_uint_t ngx_svc_admin_members_by_email(const void *body);
static ngx_int_t ngx_svc_admin_members_ids(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_members_given(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_members_emails(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_members_keys(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_members_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_str_t *texts, ngx_uint_t n);
static ngx_int_t ngx_svc_admin_members_replace(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static void ngx_svc_admin_members_unknown(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_member_element = {
    .name = ngx_string("userId"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_admin_member_id
};

static const ngx_svc_member_t  ngx_svc_admin_member_address = {
    .name = ngx_string("email"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_email_form_check
};

static const ngx_svc_member_t  ngx_svc_admin_members_members[] = {

    { .name = ngx_string("userIds"),
      .type = NGX_SVC_T_ARRAY,
      .max = NGX_SVC_ADMIN_MEMBER_IDS,
      .element = &ngx_svc_admin_member_element,
      .offset = offsetof(ngx_svc_admin_members_t, user_ids) },

    { .name = ngx_string("userId"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_admin_member_id,
      .offset = offsetof(ngx_svc_admin_members_t, user_id) },

    { .name = ngx_string("emails"),
      .type = NGX_SVC_T_ARRAY,
      .max = NGX_SVC_ADMIN_MEMBER_IDS,
      .element = &ngx_svc_admin_member_address,
      .offset = offsetof(ngx_svc_admin_members_t, emails) },

    ngx_svc_null_member
};


#define ngx_svc_admin_members_address(address, json)                          \
    (address)->data = (u_char *) (json)->valuestring;                         \
    (address)->len = ngx_strlen((json)->valuestring)


#define NGX_SVC_ADMIN_MEMBERS_STALE_VERDICT                                   \
    { "stale", NGX_SVC_E_STEP_UP,                                             \
      "The members of a group that has applications need a fresh second"      \
      " factor: POST /v1/mfa/step-up." }

#include "ngx_svc_admin_group_members.sql.h"


/* The answer has the members after the change. */

#define ngx_svc_admin_members_changed                                         \
      .members = ngx_svc_admin_members_members,                               \
      .body_size = sizeof(ngx_svc_admin_members_t),                           \
      .check = ngx_svc_admin_members_check,                                   \
      .statements = { &ngx_svc_sql_admin_members_lock,                        \
                      &ngx_svc_sql_admin_members_find,                        \
                      &ngx_svc_sql_admin_members_change,                      \
                      &ngx_svc_sql_admin_members_total,                       \
                      &ngx_svc_sql_admin_members_list },                      \
      .list = "members",                                                      \
      .total = &ngx_svc_sql_admin_members_total,                              \
      .more = ngx_svc_admin_members_unknown

const ngx_svc_route_t  ngx_svc_admin_group_members[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/groups/*/members"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_members_total,
                      &ngx_svc_sql_admin_members_list },
      .list = "members",
      .total = &ngx_svc_sql_admin_members_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/groups/*/members"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER,
      ngx_svc_admin_members_changed },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/groups/*/members"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER,
      ngx_svc_admin_members_changed },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/groups/*/members/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_members_lock,
                      &ngx_svc_sql_admin_members_remove },
      .status = NGX_HTTP_NO_CONTENT },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users/*/groups"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .statements = { &ngx_svc_sql_admin_user_groups_total,
                      &ngx_svc_sql_admin_user_groups_list },
      .list = "groups",
      .total = &ngx_svc_sql_admin_user_groups_total },

    ngx_svc_null_route
};


/* Ids are case-exact: another spelling is no id. */

static ngx_int_t
ngx_svc_admin_member_id(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_admin_id_exact(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" is no user's id.", path);
}


static ngx_int_t
ngx_svc_admin_members_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_members_t  *members = body;

    if (members->user_ids.set && members->user_id.set) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"userIds\" and \"userId\" are not taken at "
                            "once.");
    }

    if (!members->user_ids.set && !members->user_id.set
        && !members->emails.set)
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "One of \"userIds\", \"userId\" and \"emails\" is"
                            " required.");
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_admin_members_by_email(const void *body)
{
    const ngx_svc_admin_members_t  *members = body;

    return members->emails.set;
}


/* With addresses the ids come by way of the statement that looks them up. */

static ngx_int_t
ngx_svc_admin_members_ids(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    if (ngx_svc_admin_members_by_email(body)) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    return ngx_svc_admin_members_given(sr, call, param, body);
}


static ngx_int_t
ngx_svc_admin_members_given(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_members_t  *members = body;

    if (members->user_id.set) {
        return ngx_svc_admin_bind_ids(sr, call, members->user_id.json, 1);
    }

    if (!members->user_ids.set) {
        return ngx_svc_admin_bind_ids(sr, call, NULL, 0);
    }

    return ngx_svc_admin_bind_ids(sr, call, members->user_ids.json->child,
                                  cJSON_GetArraySize(members->user_ids.json));
}


static ngx_int_t
ngx_svc_admin_members_emails(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t                *texts;
    ngx_uint_t                i, n;
    const cJSON              *email;
    ngx_svc_admin_members_t  *members = body;

    n = cJSON_GetArraySize(members->emails.json);

    texts = ngx_palloc(sr->request->pool, n * sizeof(ngx_str_t));
    if (texts == NULL) {
        return NGX_ERROR;
    }

    email = members->emails.json->child;

    for (i = 0; i < n; i++) {
        ngx_svc_admin_members_address(&texts[i], email);
        email = email->next;
    }

    return ngx_svc_admin_members_bind(sr, call, texts, n);
}


/*
 * The keys of the addresses, in their order: made here, since those with
 * letters outside ASCII take PostgreSQL a thousand times as long.
 */

static ngx_int_t
ngx_svc_admin_members_keys(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char                    key[NGX_SVC_EMAIL_KEY];
    ngx_str_t                 address, made, *keys;
    ngx_uint_t                i, n;
    const cJSON              *email;
    ngx_svc_admin_members_t  *members = body;

    n = cJSON_GetArraySize(members->emails.json);

    keys = ngx_palloc(sr->request->pool, n * sizeof(ngx_str_t));
    if (keys == NULL) {
        return NGX_ERROR;
    }

    email = members->emails.json->child;
    made.data = key;

    for (i = 0; i < n; i++) {
        ngx_svc_admin_members_address(&address, email);
        email = email->next;

        if (ngx_svc_email_key(key, &made.len, &address) != NGX_OK) {
            return NGX_ERROR;
        }

        keys[i].len = made.len;
        keys[i].data = ngx_pstrdup(sr->request->pool, &made);

        if (keys[i].data == NULL) {
            return NGX_ERROR;
        }
    }

    return ngx_svc_admin_members_bind(sr, call, keys, n);
}


static ngx_int_t
ngx_svc_admin_members_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_str_t *texts, ngx_uint_t n)
{
    u_char      *p;
    size_t       size;
    ngx_str_t    list;
    ngx_uint_t   i;

    size = sizeof("{}");

    for (i = 0; i < n; i++) {
        size += ngx_svc_pg_array_len(&texts[i]);
    }

    p = ngx_pnalloc(sr->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    list.data = p;
    *p++ = '{';

    for (i = 0; i < n; i++) {
        p = ngx_svc_pg_array_add(p, &texts[i]);
    }

    *p++ = '}';
    list.len = p - list.data;

    ngx_svc_pg_bind_str(call, &list);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_members_replace(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_bool(call, sr->request->method == NGX_HTTP_PUT);

    return NGX_OK;
}


/* Writes the addresses that nobody has, where some have been given. */

static void
ngx_svc_admin_members_unknown(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    PGresult  *found;

    found = ngx_svc_result(sr, &ngx_svc_sql_admin_members_find);

    if (found && PQntuples(found)) {
        ngx_svc_column_raw(w, "unknownEmails", found, 0,
                           ngx_svc_row_find(found, "unknownEmails"));
    }
}
