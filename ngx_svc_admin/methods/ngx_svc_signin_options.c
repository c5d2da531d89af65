/*
 * GET /v1/auth/options: what a sign-in page may offer, from the cache or else
 * from the database.
 *
 * A tenant's answer is kept under its domain, or under how it is named where
 * the Host is nobody's domain; of other Hosts it is known for a while that they
 * are none.  So who makes up Hosts and tenants fills no more than the room for
 * what is not there.  A refusal other than that is not kept.
 */

#include "ngx_svc_admin_public_answer.h"
#include "ngx_svc_admin_tenant.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_methods.h"
#include "ngx_svc_row.h"
#include "ngx_svc_signin_options.h"
#include "ngx_svc_signup.h"


#define NGX_SVC_OPTIONS_DOMAIN  253


static ngx_int_t ngx_svc_signin_options_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signin_options_create(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signin_options_argument(ngx_svc_request_t *sr,
    ngx_svc_value_t *tenant);
static ngx_int_t ngx_svc_signin_options_key(ngx_svc_options_t *options,
    const ngx_str_t *host, const ngx_str_t *slug, ngx_str_t *key);
static ngx_int_t ngx_svc_signin_options_more(ngx_svc_request_t *sr,
    ngx_int_t rc);
static ngx_int_t ngx_svc_signin_options_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signin_options_write(ngx_svc_request_t *sr,
    PGresult *res, ngx_svc_cache_answer_t *answer);
static void ngx_svc_signin_options_connections(ngx_svc_request_t *sr,
    ngx_svc_json_writer_t *w);
static ngx_int_t ngx_svc_signin_options_send(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer);
static ngx_uint_t ngx_svc_signin_options_mails(ngx_svc_request_t *sr);
static ngx_uint_t ngx_svc_signin_options_federates(ngx_svc_request_t *sr);
static ngx_uint_t ngx_svc_signin_options_makes(ngx_svc_request_t *sr);


#include "ngx_svc_signin_options.sql.h"


const ngx_svc_route_t  ngx_svc_signin_options[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/auth/options"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_signin_tenant,
                      &ngx_svc_sql_signin_options },
      .prepare = ngx_svc_signin_options_prepare,
      .reply = ngx_svc_signin_options_reply },

    ngx_svc_null_route
};


/* Is called again when a wait is over. */

static ngx_int_t
ngx_svc_signin_options_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_options_t       *options;
    ngx_svc_cache_answer_t   answer;

    if (sr->data == NULL) {
        rc = ngx_svc_signin_options_create(sr);
        if (rc != NGX_OK) {
            return rc == NGX_DECLINED ? rc : NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    options = sr->data;

    if (options->by_name.data == NULL) {
        return ngx_svc_signin_options_more(sr, ngx_svc_route_prepare(sr));
    }

    rc = ngx_svc_signin_options_get(options, &answer);

    if (rc == NGX_OK) {
        return ngx_svc_signin_options_send(sr, &answer);
    }

    rc = ngx_svc_admin_reader_prepare(&options->reader, rc);

    return ngx_svc_signin_options_more(sr, rc);
}


/* Without svc_federation nobody looks for connections. */

static ngx_int_t
ngx_svc_signin_options_more(ngx_svc_request_t *sr, ngx_int_t rc)
{
    return rc == NGX_OK && sr->op->ncalls
           && ngx_svc_signin_options_federates(sr)
           ? ngx_svc_route_call(sr, &ngx_svc_sql_signin_options_connections,
                                NULL)
           : rc;
}


static ngx_int_t
ngx_svc_signin_options_create(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_value_t     tenant;
    ngx_svc_options_t  *options;

    options = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_options_t));
    if (options == NULL) {
        return NGX_ERROR;
    }

    options->login.sr = sr;
    options->reader.sr = sr;
    options->reader.kind = NGX_SVC_CACHE_OPTIONS;

    rc = ngx_svc_signin_options_argument(sr, &tenant);

    if (rc == NGX_OK) {
        rc = ngx_svc_login_take_site(&options->login, &tenant);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_signin_options_keys(options);
    }

    if (rc == NGX_OK) {
        sr->data = options;
    }

    return rc;
}


static ngx_int_t
ngx_svc_signin_options_argument(ngx_svc_request_t *sr,
    ngx_svc_value_t *tenant)
{
    ngx_int_t  rc;

    static const ngx_svc_member_t  slug = ngx_svc_null_member;

    ngx_memzero(tenant, sizeof(ngx_svc_value_t));

    if (sr->request->args.len == 0) {
        return NGX_OK;
    }

    rc = ngx_svc_argument(sr, "tenant", &tenant->str);

    if (rc != NGX_OK || tenant->str.data == NULL) {
        return rc;
    }

    tenant->set = 1;

    return tenant->str.len && tenant->str.len <= NGX_SVC_ADMIN_SLUG
           ? ngx_svc_login_slug(&slug, tenant, "tenant", &sr->error)
           : ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                          "\"tenant\" must be the slug of a tenant, such as "
                          "\"acme\".");
}


/*
 * What svc_tenant says need not be a slug, and then nothing is kept.  At a
 * domain only its own tenant may be named, so that there are two keys for each.
 */

ngx_int_t
ngx_svc_signin_options_keys(ngx_svc_options_t *options)
{
    ngx_svc_error_t   err;
    ngx_svc_value_t   slug;
    ngx_svc_login_t  *login;

    static const ngx_str_t  none = ngx_null_string;

    login = &options->login;
    err.kind = NGX_SVC_E_NONE;

    ngx_memzero(&slug, sizeof(ngx_svc_value_t));
    slug.str = login->asked.slug;

    if (slug.str.len > NGX_SVC_ADMIN_SLUG
        || ngx_svc_login_slug(NULL, &slug, "tenant", &err) != NGX_OK)
    {
        return NGX_OK;
    }

    if (ngx_svc_signin_options_key(options, &none, &slug.str,
                                         &options->by_name)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (!ngx_svc_signin_options_domain(&login->asked.host)) {
        return NGX_OK;
    }

    return ngx_svc_signin_options_key(options, &login->asked.host,
                                            login->asked.named ? &slug.str
                                                               : &none,
                                            &options->by_host);
}


/* The memory outlives a reload, which may switch on and off what there is. */

static ngx_int_t
ngx_svc_signin_options_key(ngx_svc_options_t *options,
    const ngx_str_t *host, const ngx_str_t *slug, ngx_str_t *key)
{
    u_char              *p;
    ngx_str_t            name;
    ngx_svc_request_t   *sr;

    sr = options->login.sr;

    name.data = ngx_pnalloc(sr->request->pool,
                            host->len + slug->len + options->domain.len
                            + sizeof("/+*=@"));
    if (name.data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_sprintf(name.data, "%V/%V%s%s%s%s%V", host, slug,
                    ngx_svc_signin_options_mails(sr) ? "+" : "",
                    ngx_svc_signin_options_makes(sr) ? "*" : "",
                    ngx_svc_signin_options_federates(sr) ? "=" : "",
                    options->domain.data ? "@" : "", &options->domain);
    name.len = p - name.data;

    return ngx_svc_admin_reader_key(sr, &name, key);
}


/* What has no dot is none, and so no name of a tenant either. */

ngx_uint_t
ngx_svc_signin_options_domain(const ngx_str_t *host)
{
    u_char  *p, *end, c;

    end = host->data + host->len;

    if (host->len > NGX_SVC_OPTIONS_DOMAIN
        || ngx_strlchr(host->data, end, '.') == NULL)
    {
        return 0;
    }

    for (p = host->data; p < end; p++) {
        c = *p;

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
            && c != '.')
        {
            return 0;
        }
    }

    return 1;
}


ngx_int_t
ngx_svc_signin_options_get(ngx_svc_options_t *options,
    ngx_svc_cache_answer_t *answer)
{
    ngx_int_t                rc;
    ngx_http_request_t      *r;
    ngx_svc_admin_reader_t  *reader;

    reader = &options->reader;
    r = reader->sr->request;

    if (options->by_host.data) {
        reader->key = options->by_host;

        rc = ngx_svc_cache_get(r, reader->kind, &reader->key, answer,
                               &reader->ticket);

        if (rc != NGX_OK || answer->found) {
            return rc;
        }
    }

    reader->key = options->by_name;

    return ngx_svc_cache_get(r, reader->kind, &reader->key, answer,
                             &reader->ticket);
}


static ngx_int_t
ngx_svc_signin_options_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    PGresult                *res, *tenant;
    ngx_svc_options_t       *options;
    ngx_svc_cache_answer_t   answer;

    options = sr->data;
    tenant = ngx_svc_result(sr, &ngx_svc_sql_signin_tenant);
    res = ngx_svc_result(sr, &ngx_svc_sql_signin_options);

    ngx_memzero(&answer, sizeof(ngx_svc_cache_answer_t));

    rc = ngx_svc_login_tenant(&options->login, tenant);

    if (rc == NGX_OK && PQntuples(res)) {
        rc = ngx_svc_signin_options_write(sr, res, &answer);
    }

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (options->by_name.data) {
        ngx_svc_signin_options_put(options, tenant, &answer);
        ngx_svc_admin_reader_end(&options->reader);
    }

    return rc == NGX_OK ? ngx_svc_signin_options_send(sr, &answer)
                        : ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_signin_options_write(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer)
{
    ngx_svc_row_t          columns;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_row_init(&columns, res);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_row_write(&w, &columns, 0);

    ngx_svc_json_open(&w, "methods", '{');
    ngx_svc_signin_options_methods(sr, res, &w);
    ngx_svc_signin_options_connections(sr, &w);
    ngx_svc_json_close(&w, '}');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_admin_written_answer(sr, &w, answer);
}


void
ngx_svc_signin_options_methods(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_json_writer_t *w)
{
    const ngx_svc_method_t *const  *method;
    const ngx_svc_method_option_t  *option;

    for (method = ngx_svc_methods; *method; method++) {
        option = (*method)->option;

        if (option) {
            ngx_svc_json_boolean(w, option->name, option->offered == NULL
                                                  || option->offered(sr, res));
        }
    }

    ngx_svc_json_boolean(w, "passwordReset", ngx_svc_signin_options_mails(sr));
    ngx_svc_json_boolean(w, "signup", ngx_svc_row_true(res, 0, "_signup"));
    ngx_svc_json_boolean(w, "organizations", ngx_svc_signin_options_makes(sr));
}


/*
 * Identity providers that the page has a button for, or needs an address for.
 */

static void
ngx_svc_signin_options_connections(ngx_svc_request_t *sr,
    ngx_svc_json_writer_t *w)
{
    PGresult                                    *res;
    ngx_svc_row_signin_options_connections_t     row;

    static const ngx_str_t  none = ngx_string("[]");

    if (!ngx_svc_signin_options_federates(sr)) {
        ngx_svc_json_raw(w, "connections", none.data, none.len);
        return;
    }

    res = ngx_svc_result(sr, &ngx_svc_sql_signin_options_connections);
    ngx_svc_row_signin_options_connections(&row, res, 0);

    ngx_svc_json_raw(w, "connections", row.connections.data,
                     row.connections.len);
    ngx_svc_json_boolean(w, "discover", row.discover);
}


/* What is found is kept, and which of the keys lead nowhere. */

void
ngx_svc_signin_options_put(ngx_svc_options_t *options, PGresult *res,
    ngx_svc_cache_answer_t *answer)
{
    ngx_str_t                    nobody;
    ngx_svc_admin_reader_t      *reader;
    ngx_svc_cache_answer_t       none;
    ngx_svc_row_login_tenant_t   row;

    ngx_str_null(&nobody);
    ngx_memzero(&none, sizeof(ngx_svc_cache_answer_t));

    reader = &options->reader;
    ngx_svc_row_login_tenant(&row, res, 0, 0);

    if (options->by_host.data && !row.by_domain) {
        ngx_svc_cache_put(reader->kind, &options->by_host, &nobody, &none,
                          reader->ticket);
    }

    if (answer->found) {
        ngx_svc_cache_put(reader->kind, row.by_domain ? &options->by_host
                                                      : &options->by_name,
                          &row.id, answer, reader->ticket);

    } else if (PQntuples(res) == 0) {
        ngx_svc_cache_put(reader->kind, &options->by_name, &nobody, &none,
                          reader->ticket);
    }
}


static ngx_int_t
ngx_svc_signin_options_send(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer)
{
    ngx_svc_options_t  *options;

    options = sr->data;

    if (!answer->found) {
        if (ngx_svc_login_no_tenant(&options->login) == NGX_OK) {
            (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                                "There is no such tenant.");
        }

        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_signin_no_store(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_bytes(sr, &answer->content_type, &answer->body);
}


static ngx_uint_t
ngx_svc_signin_options_mails(ngx_svc_request_t *sr)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    return smcf->mail;
}


static ngx_uint_t
ngx_svc_signin_options_federates(ngx_svc_request_t *sr)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    return smcf->federation;
}


/* Tenants. */

static ngx_uint_t
ngx_svc_signin_options_makes(ngx_svc_request_t *sr)
{
    ngx_svc_main_conf_t        *smcf;
    ngx_svc_admin_main_conf_t  *amcf;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);
    amcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_admin_module);

    return ngx_svc_signup_organizations(amcf, smcf);
}
