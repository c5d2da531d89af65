/*
 * SCIM resources and errors, as JSON.
 */

#include "ngx_svc_scim.h"
#include "ngx_svc_time.h"


#define NGX_SVC_SCIM_ERROR_URN  "urn:ietf:params:scim:api:messages:2.0:Error"


static void ngx_svc_scim_write_text(ngx_svc_json_writer_t *w, const char *key,
    const ngx_str_t *value);
static void ngx_svc_scim_write_schemas(ngx_svc_json_writer_t *w,
    ngx_uint_t enterprise);
static void ngx_svc_scim_write_name(ngx_svc_json_writer_t *w,
    const ngx_svc_row_scim_user_t *user, ngx_uint_t mask);
static void ngx_svc_scim_write_emails(ngx_svc_json_writer_t *w,
    const ngx_svc_row_scim_user_t *user, ngx_uint_t mask);
static void ngx_svc_scim_write_enterprise(ngx_svc_json_writer_t *w,
    const ngx_svc_row_scim_user_t *user);
static void ngx_svc_scim_write_meta(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr, const ngx_svc_row_scim_user_t *user,
    ngx_uint_t mask);
static void ngx_svc_scim_write_time(ngx_svc_json_writer_t *w, const char *key,
    const ngx_str_t *value);


/* Leaves out an attribute without a value (RFC 7643, 2.5). */

void
ngx_svc_scim_user_write(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr,
    const ngx_svc_row_scim_user_t *user, ngx_uint_t mask)
{
    ngx_uint_t  enterprise;

    enterprise = (mask & NGX_SVC_SCIM_ENTERPRISE)
                 && user->department.data;

    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_scim_write_schemas(w, enterprise);
    ngx_svc_scim_write_text(w, "id", &user->id);

    if (mask & NGX_SVC_SCIM_EXTERNAL_ID) {
        ngx_svc_scim_write_text(w, "externalId", &user->external_id);
    }

    if (mask & NGX_SVC_SCIM_USER_NAME) {
        ngx_svc_scim_write_text(w, "userName", &user->user_name);
    }

    if (mask & NGX_SVC_SCIM_NAME) {
        ngx_svc_scim_write_name(w, user, mask);
    }

    if (mask & NGX_SVC_SCIM_DISPLAY_NAME) {
        ngx_svc_scim_write_text(w, "displayName", &user->display_name);
    }

    if (mask & NGX_SVC_SCIM_TITLE) {
        ngx_svc_scim_write_text(w, "title", &user->title);
    }

    if (mask & NGX_SVC_SCIM_LOCALE) {
        ngx_svc_scim_write_text(w, "locale", &user->locale);
    }

    if (mask & NGX_SVC_SCIM_ACTIVE) {
        ngx_svc_json_boolean(w, "active",
                             user->status.len == sizeof("active") - 1);
    }

    if (mask & NGX_SVC_SCIM_EMAIL_PARTS) {
        ngx_svc_scim_write_emails(w, user, mask);
    }

    if (enterprise) {
        ngx_svc_scim_write_enterprise(w, user);
    }

    ngx_svc_scim_write_meta(w, sr, user, mask);

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_scim_write_text(ngx_svc_json_writer_t *w, const char *key,
    const ngx_str_t *value)
{
    if (value->data) {
        ngx_svc_json_string(w, key, value->data, value->len);
    }
}


static void
ngx_svc_scim_write_schemas(ngx_svc_json_writer_t *w, ngx_uint_t enterprise)
{
    static const u_char  core[] = "[\"" NGX_SVC_SCIM_CORE_URN "\"]";
    static const u_char  both[] = "[\"" NGX_SVC_SCIM_CORE_URN "\",\""
                                  NGX_SVC_SCIM_ENTERPRISE_URN "\"]";

    if (enterprise) {
        ngx_svc_json_raw(w, "schemas", both, sizeof(both) - 1);

    } else {
        ngx_svc_json_raw(w, "schemas", core, sizeof(core) - 1);
    }
}


static void
ngx_svc_scim_write_name(ngx_svc_json_writer_t *w,
    const ngx_svc_row_scim_user_t *user, ngx_uint_t mask)
{
    ngx_uint_t  given, family;

    given = (mask & NGX_SVC_SCIM_GIVEN_NAME)
            && user->first_name.data;
    family = (mask & NGX_SVC_SCIM_FAMILY_NAME)
             && user->last_name.data;

    if (!given && !family) {
        return;
    }

    ngx_svc_json_open(w, "name", '{');

    if (given) {
        ngx_svc_scim_write_text(w, "givenName", &user->first_name);
    }

    if (family) {
        ngx_svc_scim_write_text(w, "familyName", &user->last_name);
    }

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_scim_write_emails(ngx_svc_json_writer_t *w,
    const ngx_svc_row_scim_user_t *user, ngx_uint_t mask)
{
    ngx_svc_json_open(w, "emails", '[');
    ngx_svc_json_open(w, NULL, '{');

    if (mask & NGX_SVC_SCIM_EMAIL_VALUE) {
        ngx_svc_scim_write_text(w, "value", &user->user_name);
    }

    if (mask & NGX_SVC_SCIM_EMAIL_TYPE) {
        ngx_svc_json_plain(w, "type", (u_char *) "work", 4);
    }

    if (mask & NGX_SVC_SCIM_EMAIL_PRIMARY) {
        ngx_svc_json_boolean(w, "primary", 1);
    }

    ngx_svc_json_close(w, '}');
    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_scim_write_enterprise(ngx_svc_json_writer_t *w,
    const ngx_svc_row_scim_user_t *user)
{
    ngx_svc_json_open(w, NGX_SVC_SCIM_ENTERPRISE_URN, '{');
    ngx_svc_scim_write_text(w, "department", &user->department);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_scim_write_meta(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr,
    const ngx_svc_row_scim_user_t *user, ngx_uint_t mask)
{
    u_char     *p, version[NGX_SVC_SCIM_VERSION_LEN];
    ngx_str_t   location;

    if (!ngx_svc_scim_rfc(sr)) {
        mask &= ~NGX_SVC_SCIM_META_VERSION;
    }

    if (!(mask & NGX_SVC_SCIM_META_PARTS)) {
        return;
    }

    if (ngx_svc_scim_location(sr, user, &location) != NGX_OK) {
        w->failed = 1;
        return;
    }

    ngx_svc_json_open(w, "meta", '{');

    if (mask & NGX_SVC_SCIM_META_TYPE) {
        ngx_svc_json_plain(w, "resourceType", (u_char *) "User", 4);
    }

    if (mask & NGX_SVC_SCIM_META_CREATED) {
        ngx_svc_scim_write_time(w, "created", &user->created_at);
    }

    if (mask & NGX_SVC_SCIM_META_MODIFIED) {
        ngx_svc_scim_write_time(w, "lastModified", &user->updated_at);
    }

    if (mask & NGX_SVC_SCIM_META_LOCATION) {
        ngx_svc_json_plain(w, "location", location.data, location.len);
    }

    if (mask & NGX_SVC_SCIM_META_VERSION) {
        p = ngx_svc_scim_version(version, &user->updated_at);
        ngx_svc_json_string(w, "version", version, p - version);
    }

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_scim_write_time(ngx_svc_json_writer_t *w, const char *key,
    const ngx_str_t *value)
{
    u_char  text[NGX_SVC_TIME_LEN];

    ngx_svc_time_text(text, value);
    ngx_svc_json_plain(w, key, text, NGX_SVC_TIME_LEN);
}


ngx_int_t
ngx_svc_scim_location(ngx_svc_request_t *sr,
    const ngx_svc_row_scim_user_t *user, ngx_str_t *location)
{
    /* PostgreSQL's texts end with a 0 */

    return ngx_svc_scim_url(sr, "/Users/", (char *) user->id.data, location);
}


ngx_int_t
ngx_svc_scim_url(ngx_svc_request_t *sr, const char *path, const char *id,
    ngx_str_t *url)
{
    u_char           *p;
    const ngx_str_t  *base;

    base = ngx_svc_base_url(sr);

    p = ngx_pnalloc(sr->request->pool, base->len + sr->surface->prefix.len
                                       + ngx_strlen(path) + ngx_strlen(id));
    if (p == NULL) {
        return NGX_ERROR;
    }

    url->data = p;

    p = ngx_sprintf(p, "%V%V%s%s", base, &sr->surface->prefix, path, id);

    url->len = p - url->data;

    return NGX_OK;
}


/* RFC 7644, 3.12: the status is a string. */

void
ngx_svc_scim_error(ngx_svc_json_writer_t *w, const ngx_svc_error_row_t *row,
    const ngx_str_t *detail, const ngx_str_t *member)
{
    u_char               *p, status[NGX_INT64_LEN];
    static const u_char   schemas[] = "[\"" NGX_SVC_SCIM_ERROR_URN "\"]";

    p = ngx_sprintf(status, "%ui", row->status);

    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_json_raw(w, "schemas", schemas, sizeof(schemas) - 1);
    ngx_svc_json_plain(w, "status", status, p - status);

    if (row->scim_type.len) {
        ngx_svc_json_plain(w, "scimType", row->scim_type.data,
                           row->scim_type.len);
    }

    ngx_svc_json_string(w, "detail", detail->data, detail->len);

    ngx_svc_json_close(w, '}');
}
