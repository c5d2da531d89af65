/*
 * The table of attributes that a filter may compare.
 */

#include "ngx_svc_scim_filter_attr.h"
#include "ngx_svc_scim_filter.h"


#define ngx_svc_scim_attr_core(attribute, part)                               \
    .urn = ngx_string(NGX_SVC_SCIM_CORE_URN),                                 \
    .name = ngx_string(attribute), .sub = ngx_string(part)

#define ngx_svc_scim_attr_text(attribute, part, column)                       \
    { ngx_svc_scim_attr_core(attribute, part),                                \
      .type = NGX_SVC_SCIM_ATTR_TEXT,                                         \
      .sql = "lower(account." column ") COLLATE \"C\"" }

/* userName and the only e-mail address are the same column. */

#define ngx_svc_scim_attr_user_name(attribute, part)                          \
    { ngx_svc_scim_attr_core(attribute, part),                                \
      .type = NGX_SVC_SCIM_ATTR_ADDRESS, .sql = "account.user_name_key",      \
      .required = 1, .index = 1, .unique = 1, .sort = "account.user_name_key" }


static const ngx_svc_scim_attr_t  ngx_svc_scim_attrs[] = {

    ngx_svc_scim_attr_user_name("userName", ""),
    ngx_svc_scim_attr_user_name("emails", ""),
    ngx_svc_scim_attr_user_name("emails", "value"),

    { ngx_svc_scim_attr_core("emails", "type"),
      .type = NGX_SVC_SCIM_ATTR_WORD, .sql = "work", .required = 1 },

    { ngx_svc_scim_attr_core("emails", "primary"),
      .type = NGX_SVC_SCIM_ATTR_TRUE, .required = 1 },

    { ngx_svc_scim_attr_core("id", ""),
      .type = NGX_SVC_SCIM_ATTR_ID, .sql = "account.id",
      .required = 1, .index = 1, .unique = 1, .sort = "account.id" },

    { ngx_svc_scim_attr_core("externalId", ""),
      .type = NGX_SVC_SCIM_ATTR_EXACT, .sql = "account.external_id",
      .index = 1, .unique = 1, .sort = "account.external_id" },

    ngx_svc_scim_attr_text("name", "givenName", "first_name"),
    ngx_svc_scim_attr_text("name", "familyName", "last_name"),

    { ngx_svc_scim_attr_core("name", ""),
      .type = NGX_SVC_SCIM_ATTR_COMPLEX,
      .sql = "(account.first_name IS NOT NULL"
             " OR account.last_name IS NOT NULL)" },

    ngx_svc_scim_attr_text("displayName", "", "display_name"),
    ngx_svc_scim_attr_text("title", "", "title"),
    ngx_svc_scim_attr_text("locale", "", "locale"),

    { ngx_svc_scim_attr_core("active", ""),
      .type = NGX_SVC_SCIM_ATTR_ACTIVE, .sql = "account.status",
      .required = 1 },

    { ngx_svc_scim_attr_core("meta", "created"),
      .type = NGX_SVC_SCIM_ATTR_TIME, .sql = "account.created_at",
      .required = 1, .index = 1, .sort = "account.created_at" },

    { ngx_svc_scim_attr_core("meta", "lastModified"),
      .type = NGX_SVC_SCIM_ATTR_TIME, .sql = "account.updated_at",
      .required = 1, .sort = "account.updated_at" },

    { ngx_svc_scim_attr_core("meta", "resourceType"),
      .type = NGX_SVC_SCIM_ATTR_EXACT_WORD, .sql = "User", .required = 1 },

    { ngx_svc_scim_attr_core("meta", "location"),
      .type = NGX_SVC_SCIM_ATTR_LOCATION, .required = 1 },

    { ngx_svc_scim_attr_core("meta", "version"),
      .type = NGX_SVC_SCIM_ATTR_EXACT, .required = 1,
      .sql = "('W/\"' || to_char(account.updated_at AT TIME ZONE 'UTC',"
             " 'YYYYMMDDHH24MISSMS') || '\"') COLLATE \"C\"" },

    { ngx_svc_scim_attr_core("meta", ""),
      .type = NGX_SVC_SCIM_ATTR_COMPLEX, .required = 1 },

    { ngx_svc_scim_attr_core("schemas", ""),
      .type = NGX_SVC_SCIM_ATTR_SCHEMAS, .required = 1 },

    { .urn = ngx_string(NGX_SVC_SCIM_ENTERPRISE_URN),
      .name = ngx_string("department"), .sub = ngx_null_string,
      .type = NGX_SVC_SCIM_ATTR_TEXT,
      .sql = "lower(account.department) COLLATE \"C\"" },

    /* the URNs themselves, which are parsed as "User" of a shorter URN */

    { .urn = ngx_string("urn:ietf:params:scim:schemas:extension:enterprise"
                        ":2.0"),
      .name = ngx_string("User"), .sub = ngx_null_string,
      .type = NGX_SVC_SCIM_ATTR_COMPLEX,
      .sql = "account.department IS NOT NULL" },

    { .urn = ngx_string("urn:ietf:params:scim:schemas:core:2.0"),
      .name = ngx_string("User"), .sub = ngx_null_string,
      .type = NGX_SVC_SCIM_ATTR_COMPLEX, .required = 1 },

    { .name = ngx_null_string }
};


static const ngx_str_t  ngx_svc_scim_core_urn =
                                           ngx_string(NGX_SVC_SCIM_CORE_URN);


const ngx_svc_scim_attr_t *
ngx_svc_scim_attr(const ngx_svc_scim_attr_path_t *path)
{
    const ngx_str_t            *urn;
    const ngx_svc_scim_attr_t  *attr;

    urn = path->urn.len ? &path->urn : &ngx_svc_scim_core_urn;

    for (attr = ngx_svc_scim_attrs; attr->name.len; attr++) {

        if (ngx_svc_scim_name_is(&attr->name, &path->name)
            && ngx_svc_scim_name_is(&attr->sub, &path->sub)
            && ngx_svc_scim_name_is(&attr->urn, urn))
        {
            return attr;
        }
    }

    return NULL;
}
