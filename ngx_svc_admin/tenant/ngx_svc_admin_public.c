/*
 * /v1/tenants/{slug}/branding and /logo: what a sign-in page fetches, from the
 * cache or else from the database.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_public_answer.h"
#include "ngx_svc_admin_tenant.h"


#define NGX_SVC_ADMIN_SLUG_MAX    63
#define NGX_SVC_ADMIN_DOMAIN_MAX  253
#define NGX_SVC_ADMIN_WAIT        1000  /* ms */
#define NGX_SVC_ADMIN_FRESH       100   /* ms; not read again for its version */


/*
 * One that is not in the cache is read once by each worker: the first request
 * for it reads, the others wait for that one, or for a while.  Of the request's
 * pool.
 */

typedef struct {
    ngx_svc_request_t      *sr;
    ngx_svc_cache_kind_e    kind;
    ngx_str_t               name;       /* a slug, or a domain in lower case */
    ngx_str_t               version;    /* "v" of a logo; no data: none */
    ngx_str_t               key;        /* in the cache */
    uint64_t                ticket;
    ngx_queue_t             queue;      /* of who reads; or of who waits */
    ngx_queue_t             waiting;    /* for this one that reads */
    ngx_event_t             event;      /* the end of the wait */
    unsigned                reads:1;
    unsigned                waits:1;
} ngx_svc_admin_public_t;


static ngx_int_t ngx_svc_admin_public_branding_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_public_branding_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_public_logo_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_public_logo_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_public_prepare(ngx_svc_request_t *sr,
    ngx_svc_cache_kind_e kind);
static ngx_int_t ngx_svc_admin_public_create(ngx_svc_request_t *sr,
    ngx_svc_cache_kind_e kind);
static ngx_int_t ngx_svc_admin_public_name(ngx_svc_request_t *sr,
    ngx_str_t *name);
static ngx_int_t ngx_svc_admin_public_key(ngx_svc_admin_public_t *public);
static ngx_int_t ngx_svc_admin_public_read(ngx_svc_admin_public_t *public);
static ngx_svc_admin_public_t *ngx_svc_admin_public_reader(
    ngx_svc_admin_public_t *public);
static ngx_int_t ngx_svc_admin_public_wait(ngx_svc_admin_public_t *public,
    ngx_svc_admin_public_t *reader);
static void ngx_svc_admin_public_resume(ngx_event_t *ev);
static void ngx_svc_admin_public_done(ngx_svc_admin_public_t *public);
static void ngx_svc_admin_public_cleanup(void *data);
static ngx_uint_t ngx_svc_admin_public_other(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer);
static ngx_int_t ngx_svc_admin_public_keep(ngx_svc_request_t *sr,
    ngx_str_t *tenant, ngx_svc_cache_answer_t *answer);
static ngx_int_t ngx_svc_admin_public_send(ngx_svc_request_t *sr,
    ngx_svc_cache_kind_e kind, ngx_svc_cache_answer_t *answer);
static ngx_int_t ngx_svc_admin_public_not_found(ngx_svc_request_t *sr);


static ngx_queue_t  ngx_svc_admin_readers = {
    &ngx_svc_admin_readers, &ngx_svc_admin_readers
};


/* Each runs as the owner of the schema: see the functions. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_public_branding = {
    .name = "public_branding",
    .text =
        "SELECT t.id, t.name, t.slug, t.branding ||"
        NGX_SVC_ADMIN_LOGO_URL("t.slug", "t.logo_etag")
        ", t.allow_signup, t.allow_passwordless FROM svc.public_tenant($2) t",
    .nparams = 2
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_public_logo = {
    .name = "public_logo",
    .text =
        "SELECT id, logo_etag, content_type, data FROM svc.public_logo($1)",
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_admin_public_statements[] = {
    &ngx_svc_sql_public_branding,
    &ngx_svc_sql_public_logo,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_public[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/tenants/*/branding"),
      .flags = NGX_SVC_ROUTE_PUBLIC,
      .prepare = ngx_svc_admin_public_branding_prepare,
      .reply = ngx_svc_admin_public_branding_reply },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/tenants/*/logo"),
      .flags = NGX_SVC_ROUTE_PUBLIC,
      .prepare = ngx_svc_admin_public_logo_prepare,
      .reply = ngx_svc_admin_public_logo_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_public_branding_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_public_prepare(sr, NGX_SVC_CACHE_BRANDING);
}


static ngx_int_t
ngx_svc_admin_public_logo_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_public_prepare(sr, NGX_SVC_CACHE_LOGO);
}


/* Is called again when a wait is over. */

static ngx_int_t
ngx_svc_admin_public_prepare(ngx_svc_request_t *sr, ngx_svc_cache_kind_e kind)
{
    ngx_int_t                rc;
    ngx_svc_admin_public_t  *public, *reader;
    ngx_svc_cache_answer_t   answer;

    if (sr->data == NULL) {
        rc = ngx_svc_admin_public_create(sr, kind);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    public = sr->data;

    rc = ngx_svc_cache_get(sr->request, kind, &public->key, &answer,
                           &public->ticket);

    if (rc == NGX_OK
        && (answer.age < NGX_SVC_ADMIN_FRESH
            || !ngx_svc_admin_public_other(sr, &answer)))
    {
        return ngx_svc_admin_public_send(sr, kind, &answer);
    }

    if (rc == NGX_BUSY) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "Too many clients are reading it: try again.");
        return ngx_svc_send_error(sr);
    }

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    reader = ngx_svc_admin_public_reader(public);

    if (reader) {
        return ngx_svc_admin_public_wait(public, reader);
    }

    return ngx_svc_admin_public_read(public);
}


static ngx_int_t
ngx_svc_admin_public_create(ngx_svc_request_t *sr, ngx_svc_cache_kind_e kind)
{
    ngx_int_t                rc;
    ngx_str_t                name;
    ngx_svc_admin_public_t  *public;

    rc = ngx_svc_admin_public_name(sr, &name);
    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? rc : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    public = ngx_palloc(sr->request->pool, sizeof(ngx_svc_admin_public_t));
    if (public == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    public->sr = sr;
    public->kind = kind;
    public->name = name;
    ngx_str_null(&public->version);
    public->reads = 0;
    public->waits = 0;
    public->event.timer_set = 0;
    public->event.posted = 0;

    if (ngx_svc_admin_public_key(public) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (kind == NGX_SVC_CACHE_LOGO && sr->request->args.len) {
        rc = ngx_svc_argument(sr, "v", &public->version);
        if (rc != NGX_OK) {
            return rc == NGX_DECLINED ? rc : NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    sr->data = public;

    return NGX_OK;
}


/* What is answered depends on the location, where it has its URL in it. */

static ngx_int_t
ngx_svc_admin_public_key(ngx_svc_admin_public_t *public)
{
    u_char              *p;
    ngx_svc_loc_conf_t  *slcf;

    public->key = public->name;

    if (public->kind == NGX_SVC_CACHE_LOGO) {
        return NGX_OK;
    }

    slcf = ngx_http_get_module_loc_conf(public->sr->request,
                                        ngx_http_svc_common_module);

    public->key.len = public->name.len + 1 + slcf->base_url.len;

    p = ngx_pnalloc(public->sr->request->pool, public->key.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    public->key.data = p;

    p = ngx_cpymem(p, public->name.data, public->name.len);
    *p++ = ' ';
    ngx_memcpy(p, slcf->base_url.data, slcf->base_url.len);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_public_read(ngx_svc_admin_public_t *public)
{
    ngx_svc_request_t   *sr;
    ngx_svc_pg_call_t   *call;
    ngx_http_cleanup_t  *cln;

    sr = public->sr;

    cln = ngx_http_cleanup_add(sr->request, 0);
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_svc_admin_public_cleanup;
    cln->data = public;

    public->reads = 1;
    ngx_queue_init(&public->waiting);
    ngx_queue_insert_tail(&ngx_svc_admin_readers, &public->queue);

    if (public->kind == NGX_SVC_CACHE_BRANDING) {
        call = ngx_svc_admin_tenant_call(sr, &ngx_svc_sql_public_branding);

    } else {
        call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_public_logo);
    }

    if (call == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_pg_bind_str(call, &public->name);

    return NGX_OK;
}


/*
 * Who reads the same, and began after the last change that this request must
 * see; or NULL.
 */

static ngx_svc_admin_public_t *
ngx_svc_admin_public_reader(ngx_svc_admin_public_t *public)
{
    ngx_queue_t             *q;
    ngx_svc_admin_public_t  *reader;

    for (q = ngx_queue_head(&ngx_svc_admin_readers);
         q != ngx_queue_sentinel(&ngx_svc_admin_readers);
         q = ngx_queue_next(q))
    {
        reader = ngx_queue_data(q, ngx_svc_admin_public_t, queue);

        if (reader->kind == public->kind
            && reader->ticket == public->ticket
            && reader->key.len == public->key.len
            && ngx_memcmp(reader->key.data, public->key.data, public->key.len)
               == 0)
        {
            return reader;
        }
    }

    return NULL;
}


static ngx_int_t
ngx_svc_admin_public_wait(ngx_svc_admin_public_t *public,
    ngx_svc_admin_public_t *reader)
{
    ngx_http_cleanup_t  *cln;
    ngx_http_request_t  *r;

    r = public->sr->request;

    cln = ngx_http_cleanup_add(r, 0);
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_svc_admin_public_cleanup;
    cln->data = public;

    public->waits = 1;
    ngx_queue_insert_tail(&reader->waiting, &public->queue);

    ngx_memzero(&public->event, sizeof(ngx_event_t));

    public->event.handler = ngx_svc_admin_public_resume;
    public->event.data = public;
    public->event.log = r->connection->log;

    ngx_add_timer(&public->event, NGX_SVC_ADMIN_WAIT);

    r->read_event_handler = ngx_http_test_reading;
    r->write_event_handler = ngx_http_request_empty_handler;

    r->main->count++;

    return NGX_DONE;
}


static void
ngx_svc_admin_public_resume(ngx_event_t *ev)
{
    ngx_svc_admin_public_t  *public;

    public = ev->data;

    ngx_svc_admin_public_cleanup(public);
    ngx_svc_request_public_again(public->sr);
}


/* It has been read, or not: those who wait look for themselves. */

static void
ngx_svc_admin_public_done(ngx_svc_admin_public_t *public)
{
    ngx_queue_t             *q;
    ngx_svc_admin_public_t  *waiting;

    if (!public->reads) {
        return;
    }

    public->reads = 0;
    ngx_queue_remove(&public->queue);

    for (q = ngx_queue_head(&public->waiting);
         q != ngx_queue_sentinel(&public->waiting);
         q = ngx_queue_next(q))
    {
        waiting = ngx_queue_data(q, ngx_svc_admin_public_t, queue);
        waiting->waits = 0;

        ngx_post_event(&waiting->event, &ngx_posted_events);
    }

    ngx_queue_init(&public->waiting);
}


static void
ngx_svc_admin_public_cleanup(void *data)
{
    ngx_svc_admin_public_t *public = data;

    ngx_svc_admin_public_done(public);

    if (public->waits) {
        public->waits = 0;
        ngx_queue_remove(&public->queue);
    }

    if (public->event.timer_set) {
        ngx_del_timer(&public->event);
    }

    if (public->event.posted) {
        ngx_delete_posted_event(&public->event);
    }
}


/*
 * What can be neither a slug nor a domain is not looked for.  Slugs are in
 * lower case; domains are in any (RFC 4343).
 */

static ngx_int_t
ngx_svc_admin_public_name(ngx_svc_request_t *sr, ngx_str_t *name)
{
    u_char      *p, *end, *dst, c;
    ngx_uint_t   domain;

    *name = sr->params[0];

    end = name->data + name->len;
    domain = ngx_strlchr(name->data, end, '.') != NULL;

    if (name->len > (domain ? NGX_SVC_ADMIN_DOMAIN_MAX
                            : NGX_SVC_ADMIN_SLUG_MAX))
    {
        goto none;
    }

    dst = NULL;

    for (p = name->data; p < end; p++) {
        c = *p;

        if (c >= 'A' && c <= 'Z' && domain) {
            dst = p;

        } else if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
                   && c != '.')
        {
            goto none;
        }
    }

    if (dst) {
        dst = ngx_pnalloc(sr->request->pool, name->len);
        if (dst == NULL) {
            return NGX_ERROR;
        }

        ngx_strlow(dst, name->data, name->len);
        name->data = dst;
    }

    return NGX_OK;

none:

    return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                        "There is no such tenant.");
}


/*
 * A logo's URL names its version.  When that is not the one at hand either is
 * old: what is cached is read again, and what is sent is not to be kept.
 */

static ngx_uint_t
ngx_svc_admin_public_other(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer)
{
    ngx_str_t               *version;
    ngx_svc_admin_public_t  *public;

    public = sr->data;
    version = &public->version;

    if (!answer->found || version->data == NULL) {
        return 0;
    }

    return version->len != answer->etag.len - 2
           || ngx_memcmp(version->data, answer->etag.data + 1, version->len)
              != 0;
}


static ngx_int_t
ngx_svc_admin_public_send(ngx_svc_request_t *sr, ngx_svc_cache_kind_e kind,
    ngx_svc_cache_answer_t *answer)
{
    ngx_uint_t           i;
    ngx_str_t           *value;
    ngx_http_request_t  *r;

    static ngx_str_t     minute = ngx_string("public, max-age=60");

    typedef struct {
        const char  *name;
        ngx_str_t    value;
    } ngx_svc_admin_header_t;

    static ngx_svc_admin_header_t  headers[NGX_SVC_CACHE_KINDS][3] = {
        { { "Cache-Control", ngx_string("public, max-age=60") },
          { "Access-Control-Allow-Origin", ngx_string("*") },
          { NULL, ngx_null_string } },

        { { "Cache-Control",
            ngx_string("public, max-age=31536000, immutable") },
          { "X-Content-Type-Options", ngx_string("nosniff") },
          { "Content-Security-Policy",
            ngx_string("default-src 'none'; sandbox") } }
    };

    r = sr->request;

    if (!answer->found) {
        return ngx_svc_admin_public_not_found(sr);
    }

    for (i = 0; i < 3 && headers[kind][i].name; i++) {
        value = &headers[kind][i].value;

        if (i == 0 && ngx_svc_admin_public_other(sr, answer)) {
            value = &minute;
        }

        if (ngx_svc_add_header(r, headers[kind][i].name, value) != NGX_OK)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    if (ngx_svc_send_etag(sr, &answer->etag) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    r->allow_ranges = (kind == NGX_SVC_CACHE_LOGO);

    return ngx_svc_send_bytes(sr, &answer->content_type, &answer->body);
}


static ngx_int_t
ngx_svc_admin_public_not_found(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                        "There is no such tenant, or it has none.");

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_admin_public_branding_reply(ngx_svc_request_t *sr)
{
    PGresult                *res;
    ngx_str_t                tenant;
    ngx_svc_cache_answer_t   answer;

    ngx_memzero(&answer, sizeof(ngx_svc_cache_answer_t));
    ngx_str_null(&tenant);

    res = sr->results[0];

    if (PQntuples(res)) {
        if (ngx_svc_admin_branding_answer(sr, res, &answer) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        tenant = ngx_svc_pg_value(res, 0, 0);
    }

    return ngx_svc_admin_public_keep(sr, &tenant, &answer);
}


static ngx_int_t
ngx_svc_admin_public_logo_reply(ngx_svc_request_t *sr)
{
    PGresult                *res;
    ngx_str_t                tenant;
    ngx_svc_cache_answer_t   answer;

    ngx_memzero(&answer, sizeof(ngx_svc_cache_answer_t));
    ngx_str_null(&tenant);

    res = sr->results[0];

    if (PQntuples(res)) {
        tenant = ngx_svc_pg_value(res, 0, 0);
    }

    if (tenant.data && !PQgetisnull(res, 0, 3)
        && ngx_svc_admin_logo_answer(sr, res, &answer) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_admin_public_keep(sr, &tenant, &answer);
}


/* For those who wait for it, and who come later. */

static ngx_int_t
ngx_svc_admin_public_keep(ngx_svc_request_t *sr, ngx_str_t *tenant,
    ngx_svc_cache_answer_t *answer)
{
    ngx_svc_admin_public_t  *public;

    public = sr->data;

    ngx_svc_cache_put(public->kind, &public->key, tenant, answer,
                      public->ticket);
    ngx_svc_admin_public_done(public);

    return ngx_svc_admin_public_send(sr, public->kind, answer);
}
