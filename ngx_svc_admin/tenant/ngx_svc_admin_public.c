/*
 * /v1/tenants/{slug}/branding and /logo, which a sign-in page fetches, from the
 * cache or else from the database.
 */

#include "ngx_svc_admin_public_answer.h"
#include "ngx_svc_admin_tenant.h"


#define NGX_SVC_ADMIN_SLUG_MAX    63
#define NGX_SVC_ADMIN_DOMAIN_MAX  253
#define NGX_SVC_ADMIN_FRESH       100   /* ms; younger answers do */


typedef struct {
    ngx_svc_admin_reader_t  reader;
    ngx_str_t               name;       /* a slug, or a domain in lower case */
    ngx_str_t               version;    /* "v" of a logo; no data: none */
} ngx_svc_admin_public_t;


typedef struct {
    const char             *name;       /* NULL ends the list */
    ngx_str_t               value;
} ngx_svc_admin_header_t;


/* The differences between the kinds of answers. */

typedef struct {
    ngx_svc_admin_answer_pt  answer;
    ngx_svc_admin_header_t   headers[4];    /* Cache-Control first */
    ngx_uint_t               ranges;
} ngx_svc_admin_public_kind_t;


static ngx_int_t ngx_svc_admin_public_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_public_create(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_public_name(ngx_svc_request_t *sr,
    ngx_str_t *name);
static ngx_int_t ngx_svc_admin_public_bind_name(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_public_reply(ngx_svc_request_t *sr);
static ngx_uint_t ngx_svc_admin_public_other(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer);
static ngx_int_t ngx_svc_admin_public_send(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer);


static ngx_svc_admin_public_kind_t
    ngx_svc_admin_public_kinds[] = {

    [NGX_SVC_CACHE_BRANDING] = {
        .answer = ngx_svc_admin_json_answer,
        .headers = {
            { "Cache-Control", ngx_string("public, max-age=60") },
            { "Access-Control-Allow-Origin", ngx_string("*") }
        }
    },

    [NGX_SVC_CACHE_LOGO] = {
        .answer = ngx_svc_admin_logo_answer,
        .headers = {
            { "Cache-Control",
              ngx_string("public, max-age=31536000, immutable") },
            { "X-Content-Type-Options", ngx_string("nosniff") },
            { "Content-Security-Policy",
              ngx_string("default-src 'none'; sandbox") }
        },
        .ranges = 1
    }
};


#include "ngx_svc_admin_public.sql.h"


const ngx_svc_route_t  ngx_svc_admin_public[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/tenants/*/branding"),
      .flags = NGX_SVC_ROUTE_PUBLIC,
      .statements = { &ngx_svc_sql_public_branding },
      .prepare = ngx_svc_admin_public_prepare,
      .reply = ngx_svc_admin_public_reply },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/tenants/*/logo"),
      .flags = NGX_SVC_ROUTE_PUBLIC,
      .statements = { &ngx_svc_sql_public_logo },
      .prepare = ngx_svc_admin_public_prepare,
      .reply = ngx_svc_admin_public_reply },

    ngx_svc_null_route
};


/* The route calls this again when a wait is over. */

static ngx_int_t
ngx_svc_admin_public_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_admin_reader_t  *reader;
    ngx_svc_cache_answer_t   answer;

    if (sr->data == NULL) {
        rc = ngx_svc_admin_public_create(sr);
        if (rc != NGX_OK) {
            return rc == NGX_DECLINED ? rc : NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    reader = sr->data;

    rc = ngx_svc_cache_get(sr->request, reader->kind, &reader->key, &answer,
                           &reader->ticket);

    if (rc == NGX_OK
        && (answer.age < NGX_SVC_ADMIN_FRESH
            || !ngx_svc_admin_public_other(sr, &answer)))
    {
        return ngx_svc_admin_public_send(sr, &answer);
    }

    return ngx_svc_admin_reader_prepare(reader, rc);
}


static ngx_int_t
ngx_svc_admin_public_create(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_admin_public_t  *public;

    public = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_public_t));
    if (public == NULL) {
        return NGX_ERROR;
    }

    public->reader.sr = sr;
    public->reader.kind = sr->route->statements[0] == &ngx_svc_sql_public_logo
                          ? NGX_SVC_CACHE_LOGO : NGX_SVC_CACHE_BRANDING;

    rc = ngx_svc_admin_public_name(sr, &public->name);

    public->reader.key = public->name;

    /* a tenant with this domain has verified it */

    if (rc == NGX_OK && ngx_svc_base_url_domain(sr)
        && public->name.len == sr->domain.len
        && ngx_strncmp(public->name.data, sr->domain.data, sr->domain.len)
           == 0)
    {
        ngx_svc_base_url_found(sr);
    }

    if (rc == NGX_OK && public->reader.kind == NGX_SVC_CACHE_BRANDING) {
        rc = ngx_svc_admin_reader_key(sr, &public->name, &public->reader.key);
    }

    if (rc == NGX_OK && public->reader.kind == NGX_SVC_CACHE_LOGO
        && sr->request->args.len)
    {
        rc = ngx_svc_argument(sr, "v", &public->version);
    }

    if (rc == NGX_OK) {
        sr->data = public;
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_public_bind_name(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_public_t  *public;

    public = sr->data;

    ngx_svc_pg_bind_str(call, &public->name);

    return NGX_OK;
}


/*
 * Refuses a text that can be neither a slug nor a domain.  Slugs are in lower
 * case; domains are in any case (RFC 4343).
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
 * Returns 1 when a logo's URL names another version than the answer has.  One
 * of the two is old: a cached answer is read again, and the answer may be kept
 * for a minute only.
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
ngx_svc_admin_public_send(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer)
{
    ngx_svc_admin_header_t       *h;
    ngx_svc_admin_reader_t       *reader;
    ngx_svc_admin_public_kind_t  *kind;

    static ngx_str_t              minute = ngx_string("public, max-age=60");

    if (!answer->found) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                            "There is no such tenant, or it has none.");
        return ngx_svc_send_error(sr);
    }

    reader = sr->data;
    kind = &ngx_svc_admin_public_kinds[reader->kind];

    for (h = kind->headers; h->name; h++) {

        if (ngx_svc_add_header(sr->request, h->name,
                               h == kind->headers
                               && ngx_svc_admin_public_other(sr, answer)
                               ? &minute : &h->value)
            != NGX_OK)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    if (ngx_svc_send_etag(sr, &answer->etag) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sr->request->allow_ranges = kind->ranges;

    return ngx_svc_send_bytes(sr, &answer->content_type, &answer->body);
}


static ngx_int_t
ngx_svc_admin_public_reply(ngx_svc_request_t *sr)
{
    ngx_svc_admin_reader_t  *reader;
    ngx_svc_cache_answer_t   answer;

    reader = sr->data;

    if (ngx_svc_admin_public_keep(reader,
                                  ngx_svc_admin_public_kinds[reader->kind]
                                      .answer,
                                  &answer)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_admin_public_send(sr, &answer);
}
