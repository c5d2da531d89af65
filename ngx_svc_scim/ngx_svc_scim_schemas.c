/*
 * /Schemas and /ResourceTypes (RFC 7643, 6 and 7): they describe the attributes
 * of a User that are stored, or come from stored ones, and no others.
 */

#include "ngx_svc_scim.h"


#define NGX_SVC_SCIM_SCHEMA_URN                                               \
    "urn:ietf:params:scim:schemas:core:2.0:Schema"
#define NGX_SVC_SCIM_TYPE_URN                                                 \
    "urn:ietf:params:scim:schemas:core:2.0:ResourceType"

/* NGX_SVC_SCIM_A_...: characteristics (RFC 7643, 2.2) */

#define NGX_SVC_SCIM_A_MULTI      0x01
#define NGX_SVC_SCIM_A_REQUIRED   0x02
#define NGX_SVC_SCIM_A_READ_ONLY  0x04
#define NGX_SVC_SCIM_A_UNIQUE     0x08


typedef struct ngx_svc_scim_described_s  ngx_svc_scim_described_t;

struct ngx_svc_scim_described_s {
    const char                      *name;      /* NULL ends the table */
    const char                      *type;
    ngx_uint_t                       flags;
    const char                      *description;
    const ngx_svc_scim_described_t  *sub;       /* sub-attributes; or NULL */
    const char                      *canonical; /* the only value; or NULL */
};

typedef struct {
    const char                      *id;        /* NULL ends the table */
    const char                      *name;
    const char                      *description;
    const ngx_svc_scim_described_t  *attributes;
} ngx_svc_scim_schema_t;


static ngx_int_t ngx_svc_scim_schemas_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_schema_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_schema_reply(ngx_svc_request_t *sr);
static void ngx_svc_scim_schema_write(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr, const ngx_svc_scim_schema_t *schema);
static void ngx_svc_scim_schema_attributes(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_scim_described_t *attribute);
static void ngx_svc_scim_schema_values(ngx_svc_json_writer_t *w,
    const ngx_svc_scim_described_t *attribute);
static ngx_int_t ngx_svc_scim_types_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_type_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_type_reply(ngx_svc_request_t *sr);
static void ngx_svc_scim_type_write(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);
static void ngx_svc_scim_described_open(ngx_svc_json_writer_t *w,
    const char *urn);
static void ngx_svc_scim_described_close(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr, const char *type, const char *path, const char *id);
static ngx_int_t ngx_svc_scim_described_send(ngx_svc_request_t *sr,
    ngx_svc_json_writer_t *w, const char *path, const char *id);
static void ngx_svc_scim_literal(ngx_svc_json_writer_t *w, const char *key,
    const char *value);


static const ngx_svc_scim_described_t  ngx_svc_scim_name_described[] = {

    { "familyName", "string", 0, "The family name.", NULL, NULL },
    { "givenName", "string", 0, "The given name.", NULL, NULL },

    { NULL, NULL, 0, NULL, NULL, NULL }
};

static const ngx_svc_scim_described_t  ngx_svc_scim_email_described[] = {

    { "value", "string", NGX_SVC_SCIM_A_READ_ONLY,
      "The address, which is the userName.", NULL, NULL },
    { "type", "string", NGX_SVC_SCIM_A_READ_ONLY,
      "The kind of the address.", NULL, "work" },
    { "primary", "boolean", NGX_SVC_SCIM_A_READ_ONLY,
      "Always true.", NULL, NULL },

    { NULL, NULL, 0, NULL, NULL, NULL }
};

static const ngx_svc_scim_described_t  ngx_svc_scim_user_described[] = {

    { "userName", "string", NGX_SVC_SCIM_A_REQUIRED|NGX_SVC_SCIM_A_UNIQUE,
      "The e-mail address that the user signs in with.", NULL, NULL },
    { "name", "complex", 0, "The parts of the user's name.",
      ngx_svc_scim_name_described, NULL },
    { "displayName", "string", 0, "The name that is shown.", NULL, NULL },
    { "title", "string", 0, "The job title.", NULL, NULL },
    { "locale", "string", 0, "The language of pages and mails.", NULL, NULL },
    { "active", "boolean", NGX_SVC_SCIM_A_REQUIRED,
      "Whether the user may sign in.", NULL, NULL },
    { "emails", "complex", NGX_SVC_SCIM_A_MULTI|NGX_SVC_SCIM_A_READ_ONLY,
      "The userName, as an address.", ngx_svc_scim_email_described, NULL },

    { NULL, NULL, 0, NULL, NULL, NULL }
};

static const ngx_svc_scim_described_t  ngx_svc_scim_enterprise_described[] = {

    { "department", "string", 0, "The department.", NULL, NULL },

    { NULL, NULL, 0, NULL, NULL, NULL }
};


static const ngx_svc_scim_schema_t  ngx_svc_scim_known_schemas[] = {

    { NGX_SVC_SCIM_CORE_URN, "User", "User Account",
      ngx_svc_scim_user_described },
    { NGX_SVC_SCIM_ENTERPRISE_URN, "EnterpriseUser", "Enterprise User",
      ngx_svc_scim_enterprise_described },

    { NULL, NULL, NULL, NULL }
};


#define ngx_svc_scim_described_route(name, p, r)                              \
    { .method = NGX_HTTP_GET,                                                 \
      .path = ngx_string(name),                                               \
      .permission = NGX_SVC_P_SCIM,                                           \
      .prepare = p,                                                           \
      .reply = r }

const ngx_svc_route_t  ngx_svc_scim_schemas[] = {

    ngx_svc_scim_described_route("/Schemas", ngx_svc_scim_discovery_prepare,
                                 ngx_svc_scim_schemas_reply),
    ngx_svc_scim_described_route("/Schemas/*", ngx_svc_scim_schema_prepare,
                                 ngx_svc_scim_schema_reply),
    ngx_svc_scim_described_route("/ResourceTypes",
                                 ngx_svc_scim_discovery_prepare,
                                 ngx_svc_scim_types_reply),
    ngx_svc_scim_described_route("/ResourceTypes/*", ngx_svc_scim_type_prepare,
                                 ngx_svc_scim_type_reply),

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_scim_schemas_reply(ngx_svc_request_t *sr)
{
    ngx_uint_t              i, n;
    ngx_svc_json_writer_t   w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 8192) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    for (n = 0; ngx_svc_scim_known_schemas[n].id; n++) { /* void */ }

    /* all schemas, without pages (RFC 7644, 4) */

    ngx_svc_scim_list_open(&w, n, 1, n);

    for (i = 0; i < n; i++) {
        ngx_svc_scim_schema_write(&w, sr, &ngx_svc_scim_known_schemas[i]);
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_scim_described_send(sr, &w, "/Schemas", "");
}


static ngx_int_t
ngx_svc_scim_schema_prepare(ngx_svc_request_t *sr)
{
    ngx_str_t                    *id;
    const ngx_svc_scim_schema_t  *schema;

    id = &sr->params[0];

    /* a URN is of any case (RFC 8141, 3.1) */

    for (schema = ngx_svc_scim_known_schemas; schema->id; schema++) {

        if (id->len == ngx_strlen(schema->id)
            && ngx_strncasecmp(id->data, (u_char *) schema->id, id->len) == 0)
        {
            sr->data = (void *) schema;
            return ngx_svc_scim_discovery_prepare(sr);
        }
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                        "There is no schema with this id.");
}


static ngx_int_t
ngx_svc_scim_schema_reply(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t         w;
    const ngx_svc_scim_schema_t  *schema;

    schema = sr->data;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 4096) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_scim_schema_write(&w, sr, schema);

    return ngx_svc_scim_described_send(sr, &w, "/Schemas/", schema->id);
}


static void
ngx_svc_scim_schema_write(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr,
    const ngx_svc_scim_schema_t *schema)
{
    ngx_svc_scim_described_open(w, NGX_SVC_SCIM_SCHEMA_URN);

    ngx_svc_scim_literal(w, "id", schema->id);
    ngx_svc_scim_literal(w, "name", schema->name);
    ngx_svc_scim_literal(w, "description", schema->description);
    ngx_svc_scim_schema_attributes(w, "attributes", schema->attributes);

    ngx_svc_scim_described_close(w, sr, "Schema", "/Schemas/", schema->id);
}


static void
ngx_svc_scim_schema_attributes(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_scim_described_t *attribute)
{
    ngx_uint_t  flags;

    ngx_svc_json_open(w, key, '[');

    for ( /* void */ ; attribute->name; attribute++) {

        flags = attribute->flags;

        ngx_svc_json_open(w, NULL, '{');

        ngx_svc_scim_literal(w, "name", attribute->name);
        ngx_svc_scim_literal(w, "type", attribute->type);
        ngx_svc_json_boolean(w, "multiValued",
                             (flags & NGX_SVC_SCIM_A_MULTI) != 0);
        ngx_svc_scim_literal(w, "description", attribute->description);
        ngx_svc_json_boolean(w, "required",
                             (flags & NGX_SVC_SCIM_A_REQUIRED) != 0);

        if (attribute->sub) {
            ngx_svc_scim_schema_attributes(w, "subAttributes", attribute->sub);
        }

        ngx_svc_scim_schema_values(w, attribute);

        ngx_svc_scim_literal(w, "mutability",
                             flags & NGX_SVC_SCIM_A_READ_ONLY ? "readOnly"
                                                              : "readWrite");
        ngx_svc_scim_literal(w, "returned", "default");
        ngx_svc_scim_literal(w, "uniqueness",
                             flags & NGX_SVC_SCIM_A_UNIQUE ? "server"
                                                           : "none");
        ngx_svc_json_close(w, '}');
    }

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_scim_schema_values(ngx_svc_json_writer_t *w,
    const ngx_svc_scim_described_t *attribute)
{
    if (attribute->canonical) {
        ngx_svc_json_open(w, "canonicalValues", '[');
        ngx_svc_scim_literal(w, NULL, attribute->canonical);
        ngx_svc_json_close(w, ']');
    }

    if (ngx_strcmp(attribute->type, "string") == 0) {
        ngx_svc_json_boolean(w, "caseExact", 0);
    }
}


static ngx_int_t
ngx_svc_scim_types_reply(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_scim_list_open(&w, 1, 1, 1);
    ngx_svc_scim_type_write(&w, sr);
    ngx_svc_json_close(&w, ']');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_scim_described_send(sr, &w, "/ResourceTypes", "");
}


static ngx_int_t
ngx_svc_scim_type_prepare(ngx_svc_request_t *sr)
{
    ngx_str_t  *id;

    id = &sr->params[0];

    if (id->len == 4 && ngx_strncmp(id->data, "User", 4) == 0) {
        return ngx_svc_scim_discovery_prepare(sr);
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                        "There is no resource type with this id.");
}


static ngx_int_t
ngx_svc_scim_type_reply(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_scim_type_write(&w, sr);

    return ngx_svc_scim_described_send(sr, &w, "/ResourceTypes/", "User");
}


static void
ngx_svc_scim_type_write(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    ngx_svc_scim_described_open(w, NGX_SVC_SCIM_TYPE_URN);

    ngx_svc_scim_literal(w, "id", "User");
    ngx_svc_scim_literal(w, "name", "User");
    ngx_svc_scim_literal(w, "endpoint", "/Users");
    ngx_svc_scim_literal(w, "description", "User Account");
    ngx_svc_scim_literal(w, "schema", NGX_SVC_SCIM_CORE_URN);

    ngx_svc_json_open(w, "schemaExtensions", '[');
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_scim_literal(w, "schema", NGX_SVC_SCIM_ENTERPRISE_URN);
    ngx_svc_json_boolean(w, "required", 0);
    ngx_svc_json_close(w, '}');
    ngx_svc_json_close(w, ']');

    ngx_svc_scim_described_close(w, sr, "ResourceType", "/ResourceTypes/",
                                 "User");
}


static void
ngx_svc_scim_described_open(ngx_svc_json_writer_t *w, const char *urn)
{
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_open(w, "schemas", '[');
    ngx_svc_scim_literal(w, NULL, urn);
    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_scim_described_close(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr,
    const char *type, const char *path, const char *id)
{
    ngx_str_t  location;

    if (ngx_svc_scim_url(sr, path, id, &location) != NGX_OK) {
        w->failed = 1;
        return;
    }

    ngx_svc_json_open(w, "meta", '{');
    ngx_svc_scim_literal(w, "resourceType", type);
    ngx_svc_json_plain(w, "location", location.data, location.len);
    ngx_svc_json_close(w, '}');
    ngx_svc_json_close(w, '}');
}


static ngx_int_t
ngx_svc_scim_described_send(ngx_svc_request_t *sr, ngx_svc_json_writer_t *w,
    const char *path, const char *id)
{
    ngx_str_t  location;

    if (ngx_svc_scim_url(sr, path, id, &location) != NGX_OK
        || ngx_svc_add_header(sr->request, "Content-Location", &location)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send(sr, NGX_HTTP_OK, w, NULL);
}


static void
ngx_svc_scim_literal(ngx_svc_json_writer_t *w, const char *key,
    const char *value)
{
    ngx_svc_json_plain(w, key, (const u_char *) value, ngx_strlen(value));
}
