/*
 * /v1/admin/webhooks and /v1/admin/webhooks/{id}.
 */

#include "ngx_svc_webhook_api.h"
#include "ngx_svc_webhook_secret.h"
#include "ngx_svc_webhook_target.h"


#define NGX_SVC_WEBHOOK_ENDPOINTS  100  /* of a tenant */
#define NGX_SVC_WEBHOOK_NAMES      100  /* of events, in one request */
#define NGX_SVC_WEBHOOK_SIZE       384  /* first guess, in bytes */


typedef struct {
    ngx_svc_value_t  url;
    ngx_svc_value_t  events;
    ngx_svc_value_t  enabled;
} ngx_svc_webhook_input_t;


/* What a create makes up, until its reply. */

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
static ngx_svc_webhook_new_t *ngx_svc_webhook_new(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_webhook_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, ngx_svc_webhook_input_t *endpoint);
static ngx_int_t ngx_svc_webhook_bind_events(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, cJSON *events);
static void ngx_svc_webhook_committed(PGresult **results);
static void ngx_svc_webhook_write(ngx_svc_json_writer_t *w, PGresult *res,
    int row);


static const ngx_svc_member_t  ngx_svc_webhook_event_element = {
    ngx_string("event"), NGX_SVC_T_STRING, 0, 0, 0,
    ngx_svc_webhook_event_check, NULL, NULL, 0
};


#define ngx_svc_webhook_rows(flags)                                           \
                                                                              \
    { ngx_string("url"), NGX_SVC_T_STRING, flags, 1, NGX_SVC_WEBHOOK_URL,     \
      ngx_svc_webhook_url_check, NULL, NULL,                                  \
      offsetof(ngx_svc_webhook_input_t, url) },                               \
                                                                              \
    { ngx_string("events"), NGX_SVC_T_ARRAY, flags, 1, NGX_SVC_WEBHOOK_NAMES, \
      NULL, NULL, &ngx_svc_webhook_event_element,                             \
      offsetof(ngx_svc_webhook_input_t, events) },                            \
                                                                              \
    { ngx_string("enabled"), NGX_SVC_T_BOOLEAN, 0, 0, 0, NULL, NULL, NULL,    \
      offsetof(ngx_svc_webhook_input_t, enabled) },                           \
                                                                              \
    ngx_svc_null_member

static const ngx_svc_member_t  ngx_svc_webhook_create_members[] = {
    ngx_svc_webhook_rows(NGX_SVC_M_REQUIRED)
};

static const ngx_svc_member_t  ngx_svc_webhook_patch_members[] = {
    ngx_svc_webhook_rows(0)
};


/* What ngx_svc_webhook_write() reads, in this order. */

#define NGX_SVC_WEBHOOK_COLUMNS(t)                                            \
    t ".id, " t ".url, array_to_json(" t ".events), " t ".enabled, "          \
    t ".created_at"

#define NGX_SVC_WEBHOOK_OURS  " tenant_id = " NGX_SVC_TENANT

#define NGX_SVC_WEBHOOK_AUDIT(action, details, from)                          \
    "e AS ("                                                                  \
        "INSERT INTO svc.audit_event (action, target_type, target_id,"        \
            " target_name, details)"                                          \
        " SELECT '" action "', 'webhook', u.id::text, "                       \
            NGX_SVC_WEBHOOK_HOST_OF("u.url") ", " details " FROM " from       \
    ")"

#define NGX_SVC_WEBHOOK_DIFFERS(column, name)                                 \
    "CASE WHEN u." column " <> o." column " THEN '" name "' END"

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_list = {
    .name = "webhook_list",
    .text =
        "SELECT " NGX_SVC_WEBHOOK_COLUMNS("w") " FROM svc.webhook_endpoint w"
        " WHERE" NGX_SVC_WEBHOOK_OURS
        " ORDER BY created_at DESC, id DESC LIMIT $1::int4 OFFSET $2::int4",
    .nparams = 2
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_total = {
    .name = "webhook_total",
    .text =
        "SELECT count(*) FROM svc.webhook_endpoint WHERE"
        NGX_SVC_WEBHOOK_OURS,
    .nparams = 0
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_get = {
    .name = "webhook_get",
    .text =
        "SELECT " NGX_SVC_WEBHOOK_COLUMNS("w") " FROM svc.webhook_endpoint w"
        " WHERE" NGX_SVC_WEBHOOK_OURS " AND id = $1",
    .nparams = 1
};

/* before the limit is looked at: creates of a tenant stand in line */

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_lock = {
    .name = "webhook_lock",
    .text =
        "SELECT revision FROM svc.governance"
        " WHERE" NGX_SVC_WEBHOOK_OURS " FOR NO KEY UPDATE",
    .nparams = 0
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_create = {
    .name = "webhook_create",
    .text =
        "WITH n AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS tenant_id, count(*) AS n"
            " FROM svc.webhook_endpoint WHERE" NGX_SVC_WEBHOOK_OURS
        "), u AS ("
            "INSERT INTO svc.webhook_endpoint (tenant_id, id, url, events,"
                " enabled, secret)"
            " SELECT n.tenant_id, $1::uuid, $2, $3::text::text[],"
                " coalesce($4::bool, true), $5::bytea FROM n"
            " WHERE n.tenant_id IS NOT NULL AND n.n < $6::int4 RETURNING *"
        "), " NGX_SVC_WEBHOOK_AUDIT("webhook.created",
                  "jsonb_build_object('events', to_jsonb(u.events), 'enabled',"
                  " u.enabled)", "u")
        " SELECT " NGX_SVC_WEBHOOK_COLUMNS("u") " FROM u",
    .nparams = 6
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_patch = {
    .name = "webhook_patch",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.webhook_endpoint"
            " WHERE" NGX_SVC_WEBHOOK_OURS " AND id = $1 FOR UPDATE"
        "), n AS ("
            "SELECT tenant_id, id, coalesce($2, url) AS url,"
                " coalesce($3::text::text[], events) AS events,"
                " coalesce($4::bool, enabled) AS enabled FROM o"
        "), u AS ("
            "UPDATE svc.webhook_endpoint w SET url = n.url, events = n.events,"
                " enabled = n.enabled, updated_at ="
                " greatest(now(), w.updated_at + interval '1 millisecond')"
            " FROM n, o WHERE w.tenant_id = n.tenant_id AND w.id = n.id"
                " AND (n.url, n.events, n.enabled)"
                    " <> (o.url, o.events, o.enabled)"
            " RETURNING w.*"
        "), " NGX_SVC_WEBHOOK_AUDIT("webhook.updated",
                  "jsonb_build_object('changed', to_jsonb(array_remove(ARRAY["
                  NGX_SVC_WEBHOOK_DIFFERS("url", "url") ", "
                  NGX_SVC_WEBHOOK_DIFFERS("events", "events") ", "
                  NGX_SVC_WEBHOOK_DIFFERS("enabled", "enabled")
                  "], NULL)))", "u, o")
        " SELECT " NGX_SVC_WEBHOOK_COLUMNS("u") " FROM u"
        " UNION ALL SELECT " NGX_SVC_WEBHOOK_COLUMNS("o") " FROM o"
        " WHERE NOT EXISTS (SELECT FROM u)",
    .nparams = 4
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_delete = {
    .name = "webhook_delete",
    .text =
        "WITH u AS ("
            "DELETE FROM svc.webhook_endpoint"
            " WHERE" NGX_SVC_WEBHOOK_OURS " AND id = $1 RETURNING id, url"
        "), " NGX_SVC_WEBHOOK_AUDIT("webhook.deleted", "'{}'", "u")
        " SELECT u.id FROM u",
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_webhook_endpoints_statements[] = {
    &ngx_svc_sql_webhook_list,
    &ngx_svc_sql_webhook_total,
    &ngx_svc_sql_webhook_get,
    &ngx_svc_sql_webhook_lock,
    &ngx_svc_sql_webhook_create,
    &ngx_svc_sql_webhook_patch,
    &ngx_svc_sql_webhook_delete,
    NULL
};


ngx_int_t
ngx_svc_webhook_list_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_page_calls(sr, &ngx_svc_sql_webhook_list,
                              &ngx_svc_sql_webhook_total);
}


ngx_int_t
ngx_svc_webhook_list_reply(ngx_svc_request_t *sr)
{
    int                     i, n;
    PGresult               *list;
    ngx_uint_t              kind;
    const ngx_str_t        *name;
    ngx_svc_json_writer_t   w;

    list = sr->results[0];
    n = PQntuples(list);

    if (ngx_svc_json_writer_init(&w, sr->request->pool,
                                 256 + n * NGX_SVC_WEBHOOK_SIZE)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "webhooks", '[');

    for (i = 0; i < n; i++) {
        ngx_svc_json_open(&w, NULL, '{');
        ngx_svc_webhook_write(&w, list, i);
        ngx_svc_json_close(&w, '}');
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_json_open(&w, "knownEvents", '[');

    for (kind = 0; kind < NGX_SVC_EVENTS; kind++) {
        name = ngx_svc_event_name(kind);
        ngx_svc_json_plain(&w, NULL, name->data, name->len);
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_page_write(&w, sr->results[1], sr->data);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


ngx_int_t
ngx_svc_webhook_create_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_pg_call_t        *call;
    ngx_svc_webhook_new_t    *new;
    ngx_svc_webhook_input_t   endpoint;

    ngx_memzero(&endpoint, sizeof(ngx_svc_webhook_input_t));

    rc = ngx_svc_schema_object(ngx_svc_webhook_create_members, 0, sr->json,
                               &endpoint, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    new = ngx_svc_webhook_new(sr);

    if (new == NULL || ngx_svc_pg_call(sr->op, &ngx_svc_sql_webhook_lock) == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_webhook_create);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, new->uuid, NGX_SVC_UUID_LEN);

    if (ngx_svc_webhook_bind(sr, call, &endpoint) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, new->sealed, new->sealed_len);

    sr->data = new;
    sr->op->committed = ngx_svc_webhook_committed;

    return ngx_svc_pg_bind_int(sr->op, call, NGX_SVC_WEBHOOK_ENDPOINTS);
}


ngx_int_t
ngx_svc_webhook_create_reply(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_svc_webhook_new_t  *new;
    ngx_svc_json_writer_t   w;

    static ngx_str_t        no_store = ngx_string("no-store");

    res = sr->results[1];
    new = sr->data;

    if (PQntuples(res) == 0) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LIMIT_EXCEEDED,
                            "The tenant has %d webhooks: delete one.",
                            NGX_SVC_WEBHOOK_ENDPOINTS);
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, NGX_SVC_WEBHOOK_SIZE)
        != NGX_OK
        || ngx_svc_add_header(sr->request, "Cache-Control", &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_webhook_write(&w, res, 0);
    ngx_svc_json_secret(&w, "secret", new->secret, NGX_SVC_WEBHOOK_SECRET);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_CREATED, &w, NULL);
}


ngx_int_t
ngx_svc_webhook_get_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_param_uuid(sr, 0,
                              ngx_svc_pg_call(sr->op, &ngx_svc_sql_webhook_get),
                              NGX_SVC_WEBHOOK_NONE);
}


ngx_int_t
ngx_svc_webhook_get_reply(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_svc_json_writer_t   w;

    res = sr->results[0];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_WEBHOOK_NONE);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, NGX_SVC_WEBHOOK_SIZE)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_webhook_write(&w, res, 0);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


ngx_int_t
ngx_svc_webhook_patch_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_pg_call_t        *call;
    ngx_svc_webhook_input_t   endpoint;

    ngx_memzero(&endpoint, sizeof(ngx_svc_webhook_input_t));

    rc = ngx_svc_schema_object(ngx_svc_webhook_patch_members, 0, sr->json,
                               &endpoint, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_webhook_patch);

    rc = ngx_svc_param_uuid(sr, 0, call, NGX_SVC_WEBHOOK_NONE);
    if (rc != NGX_OK) {
        return rc;
    }

    sr->op->committed = ngx_svc_webhook_committed;

    return ngx_svc_webhook_bind(sr, call, &endpoint);
}


ngx_int_t
ngx_svc_webhook_delete_prepare(ngx_svc_request_t *sr)
{
    sr->op->committed = ngx_svc_webhook_committed;

    return ngx_svc_param_uuid(sr, 0,
                              ngx_svc_pg_call(sr->op, &ngx_svc_sql_webhook_delete),
                              NGX_SVC_WEBHOOK_NONE);
}


ngx_int_t
ngx_svc_webhook_delete_reply(ngx_svc_request_t *sr)
{
    if (PQntuples(sr->results[0]) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_WEBHOOK_NONE);
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}


/* Stored is the scheme in lower case, its form by RFC 3986, 3.1. */

static ngx_int_t
ngx_svc_webhook_url_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_webhook_url(&value->str, &ngx_svc_webhook_conf()->allow, path,
                            err)
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
    if (ngx_svc_webhook_event_bit(value->str.data, value->str.len)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be one of \"%V\", \"%V\" and \"%V\".",
                        path, ngx_svc_event_name(NGX_SVC_EVENT_USER_CREATED),
                        ngx_svc_event_name(NGX_SVC_EVENT_USER_LOGIN),
                        ngx_svc_event_name(NGX_SVC_EVENT_USER_DELETED));
}


/* 0: there is no such event. */

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


/* NULL: no memory, or OpenSSL has failed. */

static ngx_svc_webhook_new_t *
ngx_svc_webhook_new(ngx_svc_request_t *sr)
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
        return NULL;
    }

    (void) ngx_hex_dump(new->secret, random, sizeof(random));

    id.data = text;
    id.len = ngx_svc_uuid_text(text, new->uuid) - text;

    if (ngx_svc_webhook_secret_seal(&id, new->secret, new->sealed,
                                    &new->sealed_len)
        != NGX_OK)
    {
        return NULL;
    }

    return new;
}


/* What is absent is NULL. */

static ngx_int_t
ngx_svc_webhook_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    ngx_svc_webhook_input_t *endpoint)
{
    ngx_svc_bind_value(call, &endpoint->url);

    if (ngx_svc_webhook_bind_events(sr, call, endpoint->events.json)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (endpoint->enabled.set) {
        ngx_svc_pg_bind_bool(call, (ngx_uint_t) endpoint->enabled.integer);

    } else {
        ngx_svc_pg_bind_str(call, NULL);
    }

    return NGX_OK;
}


/* Each of them once, in the order of the events. */

static ngx_int_t
ngx_svc_webhook_bind_events(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    cJSON *events)
{
    u_char           *p;
    cJSON            *event;
    ngx_str_t         text;
    ngx_uint_t        kind, mask;
    const ngx_str_t  *name;

    if (events == NULL) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    mask = 0;

    for (event = events->child; event; event = event->next) {
        mask |= ngx_svc_webhook_event_bit((u_char *) event->valuestring,
                                          ngx_strlen(event->valuestring));
    }

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


/* Those who keep endpoints in memory are to ask again. */

static void
ngx_svc_webhook_committed(PGresult **results)
{
    ngx_str_t  tenant;

    ngx_svc_request_committed(results);

    ngx_str_set(&tenant, "*");

    if (results) {
        if (PQntuples(results[0]) == 0 || PQgetisnull(results[0], 0, 0)) {
            return;
        }

        tenant = ngx_svc_pg_value(results[0], 0, 0);
    }

    ngx_svc_redis_publish(NGX_SVC_WEBHOOK_CHANNEL, &tenant);
}


static void
ngx_svc_webhook_write(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    ngx_svc_column_text(w, "id", res, row, 0);
    ngx_svc_column_text(w, "url", res, row, 1);
    ngx_svc_column_raw(w, "events", res, row, 2);
    ngx_svc_column_boolean(w, "enabled", res, row, 3);
    ngx_svc_column_time(w, "createdAt", res, row, 4);
}
