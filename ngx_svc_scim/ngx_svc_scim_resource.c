/*
 * SCIM resources and errors, as JSON.
 */

#include "ngx_svc_scim.h"
#include "ngx_svc_time.h"


#define NGX_SVC_SCIM_ERROR_URN  "urn:ietf:params:scim:api:messages:2.0:Error"


static void ngx_svc_scim_write_text(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column);
static void ngx_svc_scim_write_schemas(ngx_svc_json_writer_t *w,
    ngx_uint_t enterprise);
static void ngx_svc_scim_write_name(ngx_svc_json_writer_t *w, PGresult *res,
    int row, ngx_uint_t mask);
static void ngx_svc_scim_write_emails(ngx_svc_json_writer_t *w, PGresult *res,
    int row, ngx_uint_t mask);
static void ngx_svc_scim_write_enterprise(ngx_svc_json_writer_t *w,
    PGresult *res, int row);
static void ngx_svc_scim_write_meta(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr, PGresult *res, int row, ngx_uint_t mask);
static void ngx_svc_scim_write_time(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column);


/* Leaves out an attribute without a value (RFC 7643, 2.5). */

void
ngx_svc_scim_user_write(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr,
    PGresult *res, int row, ngx_uint_t mask)
{
    ngx_str_t   status;
    ngx_uint_t  enterprise;

    enterprise = (mask & NGX_SVC_SCIM_ENTERPRISE)
                 && !PQgetisnull(res, row, NGX_SVC_SCIM_COL_DEPARTMENT);

    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_scim_write_schemas(w, enterprise);
    ngx_svc_scim_write_text(w, "id", res, row, NGX_SVC_SCIM_COL_ID);

    if (mask & NGX_SVC_SCIM_EXTERNAL_ID) {
        ngx_svc_scim_write_text(w, "externalId", res, row,
                                NGX_SVC_SCIM_COL_EXTERNAL_ID);
    }

    if (mask & NGX_SVC_SCIM_USER_NAME) {
        ngx_svc_scim_write_text(w, "userName", res, row,
                                NGX_SVC_SCIM_COL_USER_NAME);
    }

    if (mask & NGX_SVC_SCIM_NAME) {
        ngx_svc_scim_write_name(w, res, row, mask);
    }

    if (mask & NGX_SVC_SCIM_DISPLAY_NAME) {
        ngx_svc_scim_write_text(w, "displayName", res, row,
                                NGX_SVC_SCIM_COL_DISPLAY_NAME);
    }

    if (mask & NGX_SVC_SCIM_TITLE) {
        ngx_svc_scim_write_text(w, "title", res, row,
                                NGX_SVC_SCIM_COL_TITLE);
    }

    if (mask & NGX_SVC_SCIM_LOCALE) {
        ngx_svc_scim_write_text(w, "locale", res, row,
                                NGX_SVC_SCIM_COL_LOCALE);
    }

    if (mask & NGX_SVC_SCIM_ACTIVE) {
        status = ngx_svc_pg_value(res, row, NGX_SVC_SCIM_COL_STATUS);
        ngx_svc_json_boolean(w, "active", status.len == sizeof("active") - 1);
    }

    if (mask & NGX_SVC_SCIM_EMAIL_PARTS) {
        ngx_svc_scim_write_emails(w, res, row, mask);
    }

    if (enterprise) {
        ngx_svc_scim_write_enterprise(w, res, row);
    }

    ngx_svc_scim_write_meta(w, sr, res, row, mask);

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_scim_write_text(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column)
{
    ngx_str_t  value;

    value = ngx_svc_pg_value(res, row, column);

    if (value.data) {
        ngx_svc_json_string(w, key, value.data, value.len);
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
ngx_svc_scim_write_name(ngx_svc_json_writer_t *w, PGresult *res, int row,
    ngx_uint_t mask)
{
    ngx_uint_t  given, family;

    given = (mask & NGX_SVC_SCIM_GIVEN_NAME)
            && !PQgetisnull(res, row, NGX_SVC_SCIM_COL_FIRST_NAME);
    family = (mask & NGX_SVC_SCIM_FAMILY_NAME)
             && !PQgetisnull(res, row, NGX_SVC_SCIM_COL_LAST_NAME);

    if (!given && !family) {
        return;
    }

    ngx_svc_json_open(w, "name", '{');

    if (given) {
        ngx_svc_scim_write_text(w, "givenName", res, row,
                                NGX_SVC_SCIM_COL_FIRST_NAME);
    }

    if (family) {
        ngx_svc_scim_write_text(w, "familyName", res, row,
                                NGX_SVC_SCIM_COL_LAST_NAME);
    }

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_scim_write_emails(ngx_svc_json_writer_t *w, PGresult *res, int row,
    ngx_uint_t mask)
{
    ngx_svc_json_open(w, "emails", '[');
    ngx_svc_json_open(w, NULL, '{');

    if (mask & NGX_SVC_SCIM_EMAIL_VALUE) {
        ngx_svc_scim_write_text(w, "value", res, row,
                                NGX_SVC_SCIM_COL_USER_NAME);
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
ngx_svc_scim_write_enterprise(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    ngx_svc_json_open(w, NGX_SVC_SCIM_ENTERPRISE_URN, '{');
    ngx_svc_scim_write_text(w, "department", res, row,
                            NGX_SVC_SCIM_COL_DEPARTMENT);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_scim_write_meta(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr,
    PGresult *res, int row, ngx_uint_t mask)
{
    u_char     *p, version[NGX_SVC_SCIM_VERSION_LEN];
    ngx_str_t   location, updated_at;

    if (!ngx_svc_scim_rfc(sr)) {
        mask &= ~NGX_SVC_SCIM_META_VERSION;
    }

    if (!(mask & NGX_SVC_SCIM_META_PARTS)) {
        return;
    }

    if (ngx_svc_scim_location(sr, res, row, &location) != NGX_OK) {
        w->failed = 1;
        return;
    }

    ngx_svc_json_open(w, "meta", '{');

    if (mask & NGX_SVC_SCIM_META_TYPE) {
        ngx_svc_json_plain(w, "resourceType", (u_char *) "User", 4);
    }

    if (mask & NGX_SVC_SCIM_META_CREATED) {
        ngx_svc_scim_write_time(w, "created", res, row,
                                NGX_SVC_SCIM_COL_CREATED_AT);
    }

    if (mask & NGX_SVC_SCIM_META_MODIFIED) {
        ngx_svc_scim_write_time(w, "lastModified", res, row,
                                NGX_SVC_SCIM_COL_UPDATED_AT);
    }

    if (mask & NGX_SVC_SCIM_META_LOCATION) {
        ngx_svc_json_plain(w, "location", location.data, location.len);
    }

    if (mask & NGX_SVC_SCIM_META_VERSION) {
        updated_at = ngx_svc_pg_value(res, row, NGX_SVC_SCIM_COL_UPDATED_AT);
        p = ngx_svc_scim_version(version, &updated_at);
        ngx_svc_json_string(w, "version", version, p - version);
    }

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_scim_write_time(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column)
{
    u_char     text[NGX_SVC_TIME_LEN];
    ngx_str_t  value;

    value = ngx_svc_pg_value(res, row, column);

    ngx_svc_time_text(text, &value);
    ngx_svc_json_plain(w, key, text, NGX_SVC_TIME_LEN);
}


ngx_int_t
ngx_svc_scim_location(ngx_svc_request_t *sr, PGresult *res, int row,
    ngx_str_t *location)
{
    return ngx_svc_scim_url(sr, "/Users/",
                            PQgetvalue(res, row, NGX_SVC_SCIM_COL_ID),
                            location);
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
    ngx_str_t *detail)
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
