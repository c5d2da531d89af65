/*
 * /v1/admin/webhooks and /v1/admin/webhooks/{id}.
 */

#include "ngx_svc_webhook_api.h"
#include "ngx_svc_webhook_secret.h"
#include "ngx_svc_outbound_target.h"
#include "ngx_svc_redis_pubsub.h"


#define NGX_SVC_WEBHOOK_ENDPOINTS  100  /* webhooks of a tenant, at most */
#define NGX_SVC_WEBHOOK_NAMES      100  /* names of events in a request */


typedef struct {
    ngx_svc_value_t  url;
    ngx_svc_value_t  events;
    ngx_svc_value_t  enabled;
} ngx_svc_webhook_input_t;


/* The values made for a new endpoint, until the reply. */

typedef struct {
    u_char           uuid[NGX_SVC_UUID_LEN];
    u_char           secret[NGX_SVC_WEBHOOK_SECRET];
    u_char           sealed[NGX_SVC_WEBHOOK_SEALED];
    size_t           sealed_len;
} ngx_svc_webhook_new_t;


static ngx_int_t ngx_svc_webhook_url_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_webhook_event_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_uint_t ngx_svc_webhook_event_bit(const u_char *name, size_t len);
static ngx_uint_t ngx_svc_webhook_event_mask(cJSON *events);
static void ngx_svc_webhook_known(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);
static void ngx_svc_webhook_shown(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_webhook_bind_new(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_webhook_bind_events(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_webhook_bind_sealed(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static void ngx_svc_webhook_committed(const ngx_svc_pg_results_t *results);


static const ngx_svc_member_t  ngx_svc_webhook_event_element = {
    .name = ngx_string("event"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_webhook_event_check
};


#define ngx_svc_webhook_rows(required)                                        \
                                                                              \
    { .name = ngx_string("url"),                                              \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_OUTBOUND_URL,                                            \
      .check = ngx_svc_webhook_url_check,                                     \
      .offset = offsetof(ngx_svc_webhook_input_t, url) },                     \
                                                                              \
    { .name = ngx_string("events"),                                           \
      .type = NGX_SVC_T_ARRAY,                                                \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_WEBHOOK_NAMES,                                           \
      .element = &ngx_svc_webhook_event_element,                              \
      .offset = offsetof(ngx_svc_webhook_input_t, events) },                  \
                                                                              \
    { .name = ngx_string("enabled"),                                          \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_webhook_input_t, enabled) },                 \
                                                                              \
    ngx_svc_null_member

static const ngx_svc_member_t  ngx_svc_webhook_create_members[] = {
    ngx_svc_webhook_rows(NGX_SVC_M_REQUIRED)
};

static const ngx_svc_member_t  ngx_svc_webhook_patch_members[] = {
    ngx_svc_webhook_rows(0)
};


#include "ngx_svc_webhook_endpoints.sql.h"


const ngx_svc_route_t  ngx_svc_webhook_endpoints[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/webhooks"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_webhook_total,
                      &ngx_svc_sql_webhook_list },
      .list = "webhooks",
      .total = &ngx_svc_sql_webhook_total,
      .more = ngx_svc_webhook_known },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/webhooks"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_webhook_create_members,
      .body_size = sizeof(ngx_svc_webhook_input_t),
      .statements = { &ngx_svc_sql_webhook_lock,
                      &ngx_svc_sql_webhook_create },
      .status = NGX_HTTP_CREATED,
      .more = ngx_svc_webhook_shown,
      .committed = ngx_svc_webhook_committed },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/webhooks/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_webhook_get } },

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/admin/webhooks/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER,
      .members = ngx_svc_webhook_patch_members,
      .body_size = sizeof(ngx_svc_webhook_input_t),
      .statements = { &ngx_svc_sql_webhook_patch },
      .committed = ngx_svc_webhook_committed },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/webhooks/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_webhook_delete },
      .status = NGX_HTTP_NO_CONTENT,
      .committed = ngx_svc_webhook_committed },

    ngx_svc_null_route
};


/*
 * Checks the URL, which is stored with the scheme in lower case (RFC 3986,
 * 3.1).
 */

static ngx_int_t
ngx_svc_webhook_url_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_outbound_url(&value->str, &ngx_svc_webhook_conf()->allow, 0,
                             path, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ngx_strlow(value->str.data, value->str.data, sizeof("https") - 1);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_event_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    u_char       known[NGX_SVC_ERROR_DETAIL];
    u_char      *p, *last;
    ngx_uint_t   kind;

    if (ngx_svc_webhook_event_bit(value->str.data, value->str.len)) {
        return NGX_OK;
    }

    p = known;
    last = known + sizeof(known);

    for (kind = 0; kind < NGX_SVC_EVENTS; kind++) {
        p = ngx_slprintf(p, last, "%s\"%V\"",
                         kind == 0 ? ""
                         : kind == NGX_SVC_EVENTS - 1 ? " and " : ", ",
                         ngx_svc_event_name(kind));
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be one of %*s.", path,
                        (size_t) (p - known), known);
}


/* Returns the bit of an event; 0: there is no such event. */

static ngx_uint_t
ngx_svc_webhook_event_bit(const u_char *name, size_t len)
{
    ngx_uint_t        kind;
    const ngx_str_t  *known;

    for (kind = 0; kind < NGX_SVC_EVENTS; kind++) {
        known = ngx_svc_event_name(kind);

        if (known->len == len && ngx_memcmp(known->data, name, len) == 0) {
            return 1 << kind;
        }
    }

    return 0;
}


/* Returns the bits of an array of names, which are all known. */

static ngx_uint_t
ngx_svc_webhook_event_mask(cJSON *events)
{
    cJSON       *event;
    ngx_uint_t   mask;

    mask = 0;

    for (event = events->child; event; event = event->next) {
        mask |= ngx_svc_webhook_event_bit((u_char *) event->valuestring,
                                          ngx_strlen(event->valuestring));
    }

    return mask;
}


/* Writes the names of all events. */

static void
ngx_svc_webhook_known(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    ngx_uint_t        kind;
    const ngx_str_t  *name;

    ngx_svc_json_open(w, "knownEvents", '[');

    for (kind = 0; kind < NGX_SVC_EVENTS; kind++) {
        name = ngx_svc_event_name(kind);
        ngx_svc_json_plain(w, NULL, name->data, name->len);
    }

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_webhook_shown(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    ngx_svc_webhook_new_t  *new;

    new = sr->data;

    ngx_svc_json_secret(w, "secret", new->secret, NGX_SVC_WEBHOOK_SECRET);
}


/* Binds the id; makes the secret, too, which is sealed for the id. */

static ngx_int_t
ngx_svc_webhook_bind_new(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char                  text[NGX_SVC_UUID_TEXT_LEN];
    u_char                  random[NGX_SVC_WEBHOOK_SECRET / 2];
    ngx_str_t               id;
    ngx_svc_webhook_new_t  *new;

    new = ngx_palloc(sr->request->pool, sizeof(ngx_svc_webhook_new_t));

    if (new == NULL
        || ngx_svc_uuid_new(new->uuid) != NGX_OK
        || ngx_svc_random(random, sizeof(random)) != NGX_OK)
    {
        return NGX_ERROR;
    }

    (void) ngx_hex_dump(new->secret, random, sizeof(random));

    id.data = text;
    id.len = ngx_svc_uuid_text(text, new->uuid) - text;

    if (ngx_svc_webhook_secret_seal(&id, new->secret, new->sealed,
                                    &new->sealed_len)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    sr->data = new;

    ngx_svc_pg_bind(call, new->uuid, NGX_SVC_UUID_LEN);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_bind_sealed(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_webhook_new_t  *new;

    new = sr->data;

    ngx_svc_pg_bind(call, new->sealed, new->sealed_len);

    return NGX_OK;
}


/* Binds each event once, in a fixed order; NULL: the member is absent. */

static ngx_int_t
ngx_svc_webhook_bind_events(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_webhook_input_t *input = body;

    u_char           *p;
    ngx_str_t         text;
    ngx_uint_t        kind, mask;
    const ngx_str_t  *name;

    if (!input->events.set) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    mask = ngx_svc_webhook_event_mask(input->events.json);

    p = ngx_pnalloc(sr->request->pool, NGX_SVC_EVENTS * 32);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text.data = p;
    *p++ = '{';

    for (kind = 0; kind < NGX_SVC_EVENTS; kind++) {
        if (mask & (1 << kind)) {
            name = ngx_svc_event_name(kind);
            p = ngx_sprintf(p, "%s%V", p[-1] == '{' ? "" : ",", name);
        }
    }

    *p++ = '}';
    text.len = p - text.data;

    ngx_svc_pg_bind_str(call, &text);

    return NGX_OK;
}


/* Tells the helpers, which keep endpoints in memory, to read them again. */

static void
ngx_svc_webhook_committed(const ngx_svc_pg_results_t *results)
{
    ngx_str_t  tenant;

    ngx_svc_request_committed(results);

    if (ngx_svc_committed_tenant(results, &tenant) == NGX_OK) {
        ngx_svc_redis_publish(NGX_SVC_WEBHOOK_CHANNEL, &tenant);
    }
}
