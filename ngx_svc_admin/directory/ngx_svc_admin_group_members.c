/*
 * /v1/admin/groups/{id}/members.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_ADMIN_MEMBER_IDS   1000     /* in one request */
#define NGX_SVC_ADMIN_MEMBER_SIZE  192      /* first guess, in bytes */


typedef struct {
    ngx_svc_value_t  user_ids;
    ngx_svc_value_t  user_id;
} ngx_svc_admin_members_t;


static ngx_int_t ngx_svc_admin_members_list_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_members_list_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_members_add_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_members_change_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_members_put_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_members_remove_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_members_remove_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_members_change(ngx_svc_request_t *sr,
    ngx_uint_t replace);
static ngx_int_t ngx_svc_admin_members_list(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_member_ids(ngx_svc_request_t *sr,
    ngx_svc_admin_members_t *members, ngx_str_t *text);
static u_char *ngx_svc_admin_member_id(u_char *p, cJSON *json);
static ngx_int_t ngx_svc_admin_members_send(ngx_svc_request_t *sr,
    ngx_uint_t first);
static void ngx_svc_admin_member_write(ngx_svc_json_writer_t *w,
    PGresult *res, int row);


static const ngx_svc_member_t  ngx_svc_admin_member_element = {
    ngx_string("userId"), NGX_SVC_T_STRING, 0, 0, 0, NULL, NULL, NULL, 0
};

static const ngx_svc_member_t  ngx_svc_admin_members_members[] = {

    { ngx_string("userIds"), NGX_SVC_T_ARRAY, 0, 0, NGX_SVC_ADMIN_MEMBER_IDS,
      NULL, NULL, &ngx_svc_admin_member_element,
      offsetof(ngx_svc_admin_members_t, user_ids) },

    { ngx_string("userId"), NGX_SVC_T_STRING, 0, 0, 0, NULL, NULL, NULL,
      offsetof(ngx_svc_admin_members_t, user_id) },

    ngx_svc_null_member
};


/*
 * What is done to a group's members is done one after the other: the group is
 * locked by a statement of its own, so that the next one sees what the one
 * before has stored.  $1 is the group, $2 the users, $3 whether others go.
 */

#define NGX_SVC_ADMIN_MEMBER_EVENT(action, from)                              \
    "INSERT INTO svc.audit_event (action, target_type, target_id,"            \
        " target_name, details)"                                              \
    " SELECT '" action "', 'group', g.id::text, g.name, d.details"            \
    " FROM g, (SELECT count(*) AS n, jsonb_build_object('count', count(*),"   \
            " 'userIds', to_jsonb((array_agg(user_id))[1:100])) AS details"   \
        " FROM " from ") d WHERE d.n > 0"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_lock = {
    .name = "admin_members_lock",
    .text =
        "SELECT id FROM svc.user_group WHERE id = $1 FOR NO KEY UPDATE",
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_change = {
    .name = "admin_members_change",
    .text =
        "WITH g AS ("
            "SELECT tenant_id, id, name FROM svc.user_group WHERE id = $1"
        "), i AS ("
            "SELECT DISTINCT id FROM unnest($2::text::uuid[]) i (id)"
        "), x AS ("
            "SELECT i.id FROM i WHERE ("
                NGX_SVC_ROW("true", "svc.user_account", "i.id")
                ") IS NULL LIMIT 1"
        "), n AS ("
            "INSERT INTO svc.group_member (tenant_id, group_id, user_id)"
            " SELECT g.tenant_id, g.id, i.id FROM g, i"
            " WHERE NOT EXISTS (SELECT FROM x)"
            " ON CONFLICT DO NOTHING RETURNING user_id"
        "), d AS ("
            "DELETE FROM svc.group_member m WHERE $3 AND m.group_id = $1"
                " AND m.user_id NOT IN (SELECT id FROM i)"
                " AND NOT EXISTS (SELECT FROM x) RETURNING user_id"
        "), e AS ("
            NGX_SVC_ADMIN_MEMBER_EVENT("group.member_added", "n")
        "), f AS ("
            NGX_SVC_ADMIN_MEMBER_EVENT("group.member_removed", "d")
        ")"
        " SELECT x.id FROM x, g",
    .nparams = 3
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_remove = {
    .name = "admin_members_remove",
    .text =
        "WITH g AS ("
            "SELECT id, name FROM svc.user_group WHERE id = $1"
        "), d AS ("
            "DELETE FROM svc.group_member"
            " WHERE group_id = $1 AND user_id = $2 RETURNING user_id"
        "), e AS ("
            NGX_SVC_ADMIN_MEMBER_EVENT("group.member_removed", "d")
        ")"
        " SELECT user_id FROM d",
    .nparams = 2
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_total = {
    .name = "admin_members_total",
    .text =
        "SELECT member_count FROM svc.user_group WHERE id = $1",
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_list = {
    .name = "admin_members_list",
    .text =
        "SELECT u.id, u.user_name, u.display_name, m.added_at"
        " FROM (SELECT user_id, added_at FROM svc.group_member"
            " WHERE group_id = $1 ORDER BY added_at DESC, user_id DESC"
            " LIMIT $2::int4 OFFSET $3::int4) m"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ROW("k.*", "svc.user_account", "m.user_id") ") u"
        " ORDER BY m.added_at DESC, m.user_id DESC",
    .nparams = 3
};

ngx_svc_pg_statements_t  ngx_svc_admin_group_members_statements[] = {
    &ngx_svc_sql_admin_members_lock,
    &ngx_svc_sql_admin_members_change,
    &ngx_svc_sql_admin_members_remove,
    &ngx_svc_sql_admin_members_total,
    &ngx_svc_sql_admin_members_list,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_group_members[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/groups/*/members"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .prepare = ngx_svc_admin_members_list_prepare,
      .reply = ngx_svc_admin_members_list_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/groups/*/members"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_members_add_prepare,
      .reply = ngx_svc_admin_members_change_reply },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/groups/*/members"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_members_put_prepare,
      .reply = ngx_svc_admin_members_change_reply },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/groups/*/members/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_members_remove_prepare,
      .reply = ngx_svc_admin_members_remove_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_members_list_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_members_list(sr);
}


static ngx_int_t
ngx_svc_admin_members_list_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_members_send(sr, 0);
}


static ngx_int_t
ngx_svc_admin_members_add_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_members_change(sr, 0);
}


static ngx_int_t
ngx_svc_admin_members_put_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_members_change(sr, 1);
}


static ngx_int_t
ngx_svc_admin_members_change(ngx_svc_request_t *sr, ngx_uint_t replace)
{
    ngx_int_t                 rc;
    ngx_str_t                 ids;
    ngx_svc_pg_call_t        *call;
    ngx_svc_admin_members_t   members;

    ngx_memzero(&members, sizeof(ngx_svc_admin_members_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_members_members, 0, sr->json,
                               &members, &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_member_ids(sr, &members, &ids);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_group_id(sr,
                                    ngx_svc_pg_call(sr->op,
                                                &ngx_svc_sql_admin_members_lock));
    }

    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_members_change);

    if (ngx_svc_admin_group_id(sr, call) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &ids);
    ngx_svc_pg_bind_bool(call, replace);

    return ngx_svc_admin_members_list(sr);
}


static ngx_int_t
ngx_svc_admin_members_change_reply(ngx_svc_request_t *sr)
{
    PGresult   *res;
    ngx_str_t   id;

    res = sr->results[1];

    if (PQntuples(res)) {
        id = ngx_svc_pg_value(res, 0, 0);

        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "There is no user with the id %V.", &id);

        return ngx_svc_send_error(sr);
    }

    return ngx_svc_admin_members_send(sr, 2);
}


static ngx_int_t
ngx_svc_admin_members_remove_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_pg_call_t  *call;

    rc = ngx_svc_admin_group_id(sr,
                                ngx_svc_pg_call(sr->op,
                                                &ngx_svc_sql_admin_members_lock));
    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_members_remove);

    if (ngx_svc_admin_group_id(sr, call) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_param_uuid(sr, 1, call, NGX_SVC_ADMIN_NO_MEMBER);
}


static ngx_int_t
ngx_svc_admin_members_remove_reply(ngx_svc_request_t *sr)
{
    if (PQntuples(sr->results[1]) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_MEMBER);
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}


/* Adds the two statements of a list, and keeps its page. */

static ngx_int_t
ngx_svc_admin_members_list(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_pg_call_t  *call;

    rc = ngx_svc_page_create(sr);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_admin_group_id(sr,
                                ngx_svc_pg_call(sr->op,
                                                &ngx_svc_sql_admin_members_total));
    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_members_list);

    if (ngx_svc_admin_group_id(sr, call) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_page_bind(sr, call);
}


/* As the text of a PostgreSQL array. */

static ngx_int_t
ngx_svc_admin_member_ids(ngx_svc_request_t *sr,
    ngx_svc_admin_members_t *members, ngx_str_t *text)
{
    u_char      *p;
    cJSON       *json;
    size_t       n;
    ngx_uint_t   i;

    if (members->user_ids.set == members->user_id.set) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "One of \"userIds\" and \"userId\" is required.");
    }

    n = members->user_ids.set ? cJSON_GetArraySize(members->user_ids.json) : 1;

    p = ngx_pnalloc(sr->request->pool,
                    sizeof("{}") + n * (NGX_SVC_UUID_TEXT_LEN + 1));
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;
    *p++ = '{';

    if (members->user_id.set) {
        p = ngx_svc_admin_member_id(p, members->user_id.json);

        if (p == NULL) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                "\"userId\" is no user's id.");
        }

    } else {
        i = 0;

        for (json = members->user_ids.json->child; json; json = json->next) {

            if (i) {
                *p++ = ',';
            }

            p = ngx_svc_admin_member_id(p, json);

            if (p == NULL) {
                return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                    "\"userIds[%ui]\" is no user's id.", i);
            }

            i++;
        }
    }

    *p++ = '}';
    text->len = p - text->data;

    return NGX_OK;
}


/* Ids are case-exact: another spelling is no user's.  NULL: it is none. */

static u_char *
ngx_svc_admin_member_id(u_char *p, cJSON *json)
{
    size_t   len;
    u_char  *id, uuid[NGX_SVC_UUID_LEN];

    id = (u_char *) json->valuestring;
    len = ngx_strlen(id);

    if (ngx_svc_uuid_parse(id, len, uuid) != NGX_OK
        || (ngx_svc_uuid_text(p, uuid), ngx_memcmp(p, id, len) != 0))
    {
        return NULL;
    }

    return p + len;
}


/* first: the result that tells how many there are; the next one has a page. */

static ngx_int_t
ngx_svc_admin_members_send(ngx_svc_request_t *sr, ngx_uint_t first)
{
    PGresult  *total;

    total = sr->results[first];

    if (PQntuples(total) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_GROUP);
    }

    return ngx_svc_page_send(sr, "members", NGX_SVC_ADMIN_MEMBER_SIZE,
                             sr->results[first + 1], total,
                             ngx_svc_admin_member_write);
}


static void
ngx_svc_admin_member_write(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_column_text(w, "userId", res, row, 0);
    ngx_svc_column_text(w, "email", res, row, 1);
    ngx_svc_column_text(w, "displayName", res, row, 2);
    ngx_svc_column_time(w, "addedAt", res, row, 3);

    ngx_svc_json_close(w, '}');
}


ngx_int_t
ngx_svc_admin_group_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    return ngx_svc_param_uuid(sr, 0, call, NGX_SVC_ADMIN_NO_GROUP);
}
