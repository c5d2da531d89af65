/*
 * What all connections of a tenant have in common.
 */

#include "ngx_svc_connection.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_domain.h"


#define NGX_SVC_CONNECTION_LABEL     64     /* characters */
#define NGX_SVC_CONNECTION_DOMAINS   50
#define NGX_SVC_CONNECTION_CONTEXTS  20
#define NGX_SVC_CONNECTION_CONTEXT   255    /* bytes */
#define NGX_SVC_CONNECTION_GROUPS    200
#define NGX_SVC_CONNECTION_EXTERNAL  1024   /* characters */
#define NGX_SVC_CONNECTION_SIZE      2048   /* bytes of JSON, first guess */


static ngx_int_t ngx_svc_connection_role(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_connection_link(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_connection_context(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_connection_external(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_connection_group(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_connection_domains(ngx_svc_request_t *sr,
    ngx_svc_value_t *domains);
static ngx_int_t ngx_svc_connection_domain(ngx_svc_request_t *sr,
    cJSON *item, ngx_uint_t n);
static void ngx_svc_connection_write(ngx_svc_json_writer_t *said,
    ngx_svc_json_writer_t *names, void *body, ngx_uint_t patch,
    const ngx_svc_connection_column_t *columns);
static void ngx_svc_connection_value(ngx_svc_json_writer_t *w,
    const char *column, ngx_svc_value_t *value);
static void ngx_svc_connection_list(ngx_svc_json_writer_t *w, cJSON *item);


static const ngx_svc_member_t  ngx_svc_connection_domain_element = {
    .name = ngx_string("domain"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_DOMAIN_TEXT
};

static const ngx_svc_member_t  ngx_svc_connection_context_element = {
    .name = ngx_string("context"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_CONNECTION_CONTEXT,
    .check = ngx_svc_connection_context
};

static const ngx_svc_member_t  ngx_svc_connection_group_members[] = {

    { .name = ngx_string("external"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_CONNECTION_EXTERNAL,
      .check = ngx_svc_connection_external },

    { .name = ngx_string("groupId"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .check = ngx_svc_connection_group },

    ngx_svc_null_member
};


static const ngx_svc_member_t  ngx_svc_connection_members[] = {

    { .name = ngx_string("label"),
      .type = NGX_SVC_T_TEXT|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_CONNECTION_LABEL,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_connection_t, label) },

    { .name = ngx_string("domains"),
      .type = NGX_SVC_T_ARRAY|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_CONNECTION_DOMAINS,
      .element = &ngx_svc_connection_domain_element,
      .offset = offsetof(ngx_svc_connection_t, domains) },

    { .name = ngx_string("jitProvisioning"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_connection_t, jit_provisioning) },

    { .name = ngx_string("jitRole"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_connection_role,
      .offset = offsetof(ngx_svc_connection_t, jit_role) },

    { .name = ngx_string("linkByEmail"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_connection_link,
      .offset = offsetof(ngx_svc_connection_t, link_by_email) },

    { .name = ngx_string("trustMfa"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_connection_t, trust_mfa) },

    { .name = ngx_string("mfaContexts"),
      .type = NGX_SVC_T_ARRAY|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_CONNECTION_CONTEXTS,
      .element = &ngx_svc_connection_context_element,
      .offset = offsetof(ngx_svc_connection_t, mfa_contexts) },

    { .name = ngx_string("showOnPage"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_connection_t, show_on_page) },

    { .name = ngx_string("groupMapping"),
      .type = NGX_SVC_T_ARRAY,
      .max = NGX_SVC_CONNECTION_GROUPS,
      .members = ngx_svc_connection_group_members,
      .offset = offsetof(ngx_svc_connection_t, group_mapping) },

    { .name = ngx_string("keepLinks"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_connection_t, keep_links) },

    { .name = ngx_string("vouch"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_connection_t, vouch) },

    ngx_svc_null_member
};


/*
 * "jitProvisioning" and "showOnPage" are in the tables of the kinds: one has
 * its own place in the audit log, the other its own defaults.
 */

static const ngx_svc_connection_column_t  ngx_svc_connection_columns[] = {
    ngx_svc_connection_shared(label, "label", "null"),
    ngx_svc_connection_shared(domains, "domains", "null"),
    ngx_svc_connection_shared(link_by_email, "linkByEmail", "\"owned\""),
    ngx_svc_connection_shared(trust_mfa, "trustMfa", "false"),
    ngx_svc_connection_shared(mfa_contexts, "mfaContexts", "null"),
    ngx_svc_connection_shared(group_mapping, "groupMapping", "[]"),
    ngx_svc_connection_column_end
};


#include "ngx_svc_connection.sql.h"


ngx_int_t
ngx_svc_connection_take(ngx_svc_request_t *sr, void *body,
    const ngx_svc_connection_column_t *columns)
{
    ngx_int_t                   rc;
    ngx_uint_t                  patch;
    ngx_svc_connection_t       *connection = body;
    ngx_svc_json_writer_t       said, names;
    ngx_svc_connection_said_t  *data;

    rc = ngx_svc_schema_object(ngx_svc_connection_members, 0, sr->json,
                               connection, &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_connection_domains(sr, &connection->domains);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    data = ngx_palloc(sr->request->pool, sizeof(ngx_svc_connection_said_t));

    if (data == NULL
        || ngx_svc_json_writer_init(&said, sr->request->pool,
                                    NGX_SVC_CONNECTION_SIZE) != NGX_OK
        || ngx_svc_json_writer_init(&names, sr->request->pool,
                                    NGX_SVC_CONNECTION_SIZE) != NGX_OK)
    {
        return NGX_ERROR;
    }

    patch = sr->request->method == NGX_HTTP_PATCH;

    ngx_svc_json_open(&said, NULL, '{');
    ngx_svc_json_open(&names, NULL, '{');

    ngx_svc_connection_write(&said, &names, body, patch, columns);
    ngx_svc_connection_write(&said, &names, body, patch,
                             ngx_svc_connection_columns);

    ngx_svc_json_close(&said, '}');
    ngx_svc_json_close(&names, '}');

    if (said.failed || names.failed) {
        return NGX_ERROR;
    }

    data->said.data = said.start;
    data->said.len = said.last - said.start;
    data->names.data = names.start;
    data->names.len = names.last - names.start;

    sr->data = data;

    return NGX_OK;
}


/* Administrators are made by administrators, and by no claim. */

static ngx_int_t
ngx_svc_connection_role(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_strcmp(value->str.data, "member") == 0) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be \"member\".", path);
}


static ngx_int_t
ngx_svc_connection_link(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_strcmp(value->str.data, "never") == 0
        || ngx_strcmp(value->str.data, "verified") == 0
        || ngx_strcmp(value->str.data, "owned") == 0)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be one of \"never\", \"verified\" and "
                        "\"owned\".", path);
}


/* They are asked for with spaces between them. */

static ngx_int_t
ngx_svc_connection_context(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    size_t  i;

    for (i = 0; i < value->str.len; i++) {
        if (value->str.data[i] <= ' ' || value->str.data[i] > '~') {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must be of visible ASCII characters.",
                                path);
        }
    }

    return NGX_OK;
}


/* Cuts off the white space of the text in the tree, too. */

static ngx_int_t
ngx_svc_connection_external(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    value->str.data[value->str.len] = '\0';
    value->json->valuestring = (char *) value->str.data;

    return NGX_OK;
}


/* An id is kept in lower case, as all ids are written. */

static ngx_int_t
ngx_svc_connection_group(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    u_char  id[NGX_SVC_UUID_LEN];

    if (ngx_svc_uuid_parse(value->str.data, value->str.len, id) != NGX_OK) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be the id of a group.", path);
    }

    (void) ngx_svc_uuid_text(value->str.data, id);

    return NGX_OK;
}


/* Puts the domains into the form in which svc.domain has them. */

static ngx_int_t
ngx_svc_connection_domains(ngx_svc_request_t *sr, ngx_svc_value_t *domains)
{
    cJSON       *item, *before;
    ngx_int_t    rc;
    ngx_uint_t   n;

    if (!domains->set || domains->null) {
        return NGX_OK;
    }

    n = 0;

    for (item = domains->json->child; item; item = item->next) {

        rc = ngx_svc_connection_domain(sr, item, n);
        if (rc != NGX_OK) {
            return rc;
        }

        for (before = domains->json->child; before != item;
             before = before->next)
        {
            if (ngx_strcmp(before->valuestring, item->valuestring) == 0) {
                return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                    "\"domains[%ui]\" is there already: "
                                    "\"%s\".", n, item->valuestring);
            }
        }

        n++;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_connection_domain(ngx_svc_request_t *sr, cJSON *item, ngx_uint_t n)
{
    size_t       len;
    u_char      *name;
    ngx_int_t    rc;
    ngx_str_t    text;
    const char  *why;

    name = ngx_pnalloc(sr->request->pool, NGX_SVC_DOMAIN_MAX + 1);
    if (name == NULL) {
        return NGX_ERROR;
    }

    text.data = (u_char *) item->valuestring;
    text.len = ngx_strlen(text.data);

    rc = ngx_svc_domain_parse(&text, name, &len, &why);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? ngx_svc_fail(&sr->error,
                                                 NGX_SVC_E_INVALID_VALUE,
                                                 "\"domains[%ui]\" %s.", n, why)
                                  : rc;
    }

    name[len] = '\0';
    item->valuestring = (char *) name;

    return NGX_OK;
}


static void
ngx_svc_connection_write(ngx_svc_json_writer_t *said,
    ngx_svc_json_writer_t *names, void *body, ngx_uint_t patch,
    const ngx_svc_connection_column_t *columns)
{
    ngx_svc_value_t                    *value;
    const ngx_svc_connection_column_t  *column;

    for (column = columns; column->column; column++) {

        ngx_svc_json_plain(names, column->column, (u_char *) column->member,
                           ngx_strlen(column->member));

        value = (ngx_svc_value_t *) ((u_char *) body + column->offset);

        if (column->absent == NULL || (patch && !value->set)) {
            continue;
        }

        if (value->set && !value->null) {
            ngx_svc_connection_value(said, column->column, value);

        } else {
            ngx_svc_json_raw(said, column->column, (u_char *) column->absent,
                             ngx_strlen(column->absent));
        }
    }
}


static void
ngx_svc_connection_value(ngx_svc_json_writer_t *w, const char *column,
    ngx_svc_value_t *value)
{
    cJSON  *item;

    switch (value->json->type & 0xff) {

    case cJSON_Array:
        ngx_svc_json_open(w, column, '[');
        ngx_svc_connection_list(w, value->json->child);
        ngx_svc_json_close(w, ']');
        break;

    case cJSON_Object:
        ngx_svc_json_open(w, column, '{');

        for (item = value->json->child; item; item = item->next) {
            ngx_svc_json_plain(w, item->string, (u_char *) item->valuestring,
                               ngx_strlen(item->valuestring));
        }

        ngx_svc_json_close(w, '}');
        break;

    case cJSON_Number:
        ngx_svc_json_integer(w, column, value->integer);
        break;

    case cJSON_String:
        ngx_svc_json_string(w, column, value->str.data, value->str.len);
        break;

    default: /* cJSON_True, cJSON_False */
        ngx_svc_json_boolean(w, column, value->integer != 0);
    }
}


/* Writes the elements of an array: strings, or what maps groups. */

static void
ngx_svc_connection_list(ngx_svc_json_writer_t *w, cJSON *item)
{
    cJSON                   *text;
    const ngx_svc_member_t  *member;

    for ( /* void */ ; item; item = item->next) {

        if (cJSON_IsString(item)) {
            ngx_svc_json_string(w, NULL, (u_char *) item->valuestring,
                                ngx_strlen(item->valuestring));
            continue;
        }

        ngx_svc_json_open(w, NULL, '{');

        member = ngx_svc_connection_group_members;

        for ( /* void */ ; member->name.len; member++) {
            text = cJSON_GetObjectItemCaseSensitive(item,
                                                 (char *) member->name.data);

            ngx_svc_json_string(w, (char *) member->name.data,
                                (u_char *) text->valuestring,
                                ngx_strlen(text->valuestring));
        }

        ngx_svc_json_close(w, '}');
    }
}
