/*
 * /v1/auth/profile: one's own.
 */

#include "ngx_svc_signin.h"


#define NGX_SVC_OWN_MAX  64             /* characters */

#define NGX_SVC_OWN_PROFILE(_)                                                \
    _(FIRST_NAME, first_name, "firstName", "$2", "$3")                        \
    _(LAST_NAME, last_name, "lastName", "$4", "$5")                           \
    _(DISPLAY_NAME, display_name, "displayName", "$6", "$7")                  \
    _(LOCALE, locale, "locale", "$8", "$9")


typedef struct {
    NGX_SVC_OWN_PROFILE(ngx_svc_profile_value)
} ngx_svc_own_profile_t;


#define ngx_svc_own_profile_member(id, column, key, ...)                      \
    { .name = ngx_string(key),                                                \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = NGX_SVC_M_CLEARS,                                              \
      .max = NGX_SVC_OWN_MAX,                                                 \
      .check = ngx_svc_profile_check_##id,                                    \
      .offset = offsetof(ngx_svc_own_profile_t, column) },

#define ngx_svc_own_profile_param(id, column, ...)                            \
    , ngx_svc_param_given(ngx_svc_own_profile_t, column),                     \
    ngx_svc_param_text(ngx_svc_own_profile_t, column)


static const ngx_svc_member_t  ngx_svc_own_profile_members[] = {
    NGX_SVC_OWN_PROFILE(ngx_svc_own_profile_member)
    ngx_svc_null_member
};


#define NGX_SVC_OWN_USER                                                      \
    "(SELECT k.user_id FROM (" NGX_SVC_SESSION_ROW("k.*", "$1") ") k)"

static const ngx_svc_pg_statement_t  ngx_svc_sql_profile_get = {
    .name = "profile_get",
    .text =
        "SELECT u.id, u.user_name AS email,"
            " u.email_verified AS \"emailVerified\","
            " u.display_name AS \"displayName\","
            " u.first_name AS \"firstName\", u.last_name AS \"lastName\","
            " u.title, u.department, u.locale, u.role, u.source,"
            " u.mfa_enrolled AS \"mfaEnrolled\","
            " u.last_login_at AS \"lastLoginAt\","
            " u.created_at AS \"createdAt\", u.updated_at AS \"updatedAt\""
        " FROM svc.user_account u WHERE u.tenant_id = " NGX_SVC_TENANT
            " AND u.id = " NGX_SVC_OWN_USER,
    NGX_SVC_PARAMS(ngx_svc_param_session())
};

/* Whom an identity provider provisions it alone changes. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_profile_patch = {
    .name = "profile_patch",
    .text =
        "WITH o AS ("
            "SELECT id, user_name, source"
                NGX_SVC_OWN_PROFILE(NGX_SVC_PROFILE_COLUMN)
            " FROM svc.user_account WHERE tenant_id = " NGX_SVC_TENANT
                " AND id = " NGX_SVC_OWN_USER " FOR UPDATE"
        "), n AS ("
            "SELECT id, user_name"
                NGX_SVC_OWN_PROFILE(NGX_SVC_PROFILE_WANTED)
            " FROM o WHERE source <> 'scim'"
        "), u AS ("
            "SELECT n.* FROM n, o"
            " WHERE (n.id" NGX_SVC_OWN_PROFILE(NGX_SVC_PROFILE_NEW) ")"
                " IS DISTINCT FROM"
                " (o.id" NGX_SVC_OWN_PROFILE(NGX_SVC_PROFILE_OLD) ")"
        "), w AS ("
            "UPDATE svc.user_account a SET"
                " search = " NGX_SVC_PROFILE_SEARCH("u") ","
                " updated_at = " NGX_SVC_CHANGED_AT("a")
                NGX_SVC_OWN_PROFILE(NGX_SVC_PROFILE_SET)
            " FROM u WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = u.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_UPDATED, "u.id::text", "NULL",
                NGX_SVC_AUDIT_CHANGED(
                    "NULL" NGX_SVC_OWN_PROFILE(NGX_SVC_PROFILE_DIFFERS)),
                "FROM u, o")
        ")"
        " SELECT CASE source WHEN 'scim' THEN 'scim' END AS _verdict FROM o",
    NGX_SVC_PARAMS(ngx_svc_param_session()
                   NGX_SVC_OWN_PROFILE(ngx_svc_own_profile_param)),
    NGX_SVC_VERDICTS(
        { "scim", NGX_SVC_E_FORBIDDEN,
          "The profile comes from an identity provider: change it there." })
};


const ngx_svc_route_t  ngx_svc_admin_profile[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/auth/profile"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_profile_get } },

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/auth/profile"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_own_profile_members,
      .body_size = sizeof(ngx_svc_own_profile_t),
      .statements = { &ngx_svc_sql_profile_patch, &ngx_svc_sql_profile_get } },

    ngx_svc_null_route
};
