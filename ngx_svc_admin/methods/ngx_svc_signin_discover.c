/*
 * POST /v1/auth/discover: what a sign-in page may offer to people of an
 * address's domain.
 *
 * The answer is the same for all addresses of a domain: no user is looked up,
 * and nothing is counted by the address.  It is kept as that of
 * GET /v1/auth/options is, of domains that the tenant has verified: whoever
 * makes up domains fills no more than the room for what is not there.
 */

#include "ngx_svc_admin_public_answer.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_row.h"
#include "ngx_svc_signin_options.h"


static ngx_int_t ngx_svc_signin_discover_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signin_discover_take(ngx_svc_login_t *login);
static void ngx_svc_signin_discover_domain(ngx_svc_options_t *options);
static ngx_int_t ngx_svc_signin_discover_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signin_discover_write(ngx_svc_request_t *sr,
    PGresult *res, ngx_svc_cache_answer_t *answer);
static void ngx_svc_signin_discover_put(ngx_svc_options_t *options,
    ngx_svc_cache_answer_t *answer);
static ngx_int_t ngx_svc_signin_discover_send(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer);
static ngx_int_t ngx_svc_signin_discover_nobody(ngx_svc_request_t *sr);


#include "ngx_svc_signin_discover.sql.h"


const ngx_svc_route_t  ngx_svc_signin_discover[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/discover"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_login_address_members,
      .body_size = sizeof(ngx_svc_login_body_t),
      .statements = { &ngx_svc_sql_signin_discover_tenant,
                      &ngx_svc_sql_signin_discover },
      .prepare = ngx_svc_signin_discover_prepare,
      .reply = ngx_svc_signin_discover_reply },

    ngx_svc_null_route
};


/* Is called again when the limits have answered, and when a wait is over. */

static ngx_int_t
ngx_svc_signin_discover_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_login_t         *login;
    ngx_svc_options_t       *options;
    ngx_svc_cache_answer_t   answer;

    login = sr->data;

    if (login == NULL) {
        login = ngx_svc_login_create(sr, sizeof(ngx_svc_options_t), NULL,
                                     ngx_svc_signin_discover_take);
        if (login == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        rc = ngx_svc_login_limit(login);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (login->limit.verdict != NGX_SVC_LIMIT_ADMITTED
        && ngx_svc_risk_client(sr, &login->client) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ngx_svc_login_limited(login) != NGX_OK || login->invalid) {
        return NGX_DECLINED;
    }

    options = sr->data;

    if (options->by_name.data == NULL) {
        return ngx_svc_route_prepare(sr);
    }

    rc = ngx_svc_signin_options_get(options, &answer);

    return rc == NGX_OK ? ngx_svc_signin_discover_send(sr, &answer)
                        : ngx_svc_admin_reader_prepare(&options->reader, rc);
}


/* Without a MAC of the address the limits count the client alone. */

static ngx_int_t
ngx_svc_signin_discover_take(ngx_svc_login_t *login)
{
    ngx_int_t              rc;
    ngx_svc_options_t     *options;
    ngx_svc_request_t     *sr;
    ngx_svc_login_body_t   body;

    sr = login->sr;
    options = sr->data;
    options->reader.sr = sr;
    options->reader.kind = NGX_SVC_CACHE_OPTIONS;

    ngx_memzero(&body, sizeof(ngx_svc_login_body_t));

    rc = ngx_svc_schema_object(ngx_svc_login_address_members, 0, sr->json,
                               &body, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    login->asked.email = body.email.str;

    if (ngx_svc_login_take_site(login, &body.tenant) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_signin_discover_domain(options);

    return options->domain.data ? ngx_svc_signin_options_keys(options)
                                : NGX_OK;
}


/* What is not ASCII is not kept: several spellings are one domain. */

static void
ngx_svc_signin_discover_domain(ngx_svc_options_t *options)
{
    u_char     *p, *end;
    ngx_str_t   domain;

    end = options->login.asked.email.data + options->login.asked.email.len;
    p = ngx_strlchr(options->login.asked.email.data, end, '@');

    if (p == NULL) {
        return;
    }

    domain.data = p + 1;
    domain.len = end - domain.data;

    ngx_strlow(domain.data, domain.data, domain.len);

    if (ngx_svc_signin_options_domain(&domain)) {
        options->domain = domain;
    }
}


static ngx_int_t
ngx_svc_signin_discover_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    PGresult                *res, *tenant;
    ngx_svc_options_t       *options;
    ngx_svc_cache_answer_t   answer;

    options = sr->data;
    tenant = ngx_svc_result(sr, &ngx_svc_sql_signin_discover_tenant);
    res = ngx_svc_result(sr, &ngx_svc_sql_signin_discover);

    ngx_memzero(&answer, sizeof(ngx_svc_cache_answer_t));

    rc = PQntuples(tenant) ? ngx_svc_login_tenant(&options->login, tenant)
                           : NGX_OK;

    if (rc == NGX_OK && PQntuples(res)) {
        rc = ngx_svc_signin_discover_write(sr, res, &answer);
    }

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (options->by_name.data) {
        ngx_svc_signin_discover_put(options, &answer);
        ngx_svc_admin_reader_end(&options->reader);
    }

    return rc == NGX_OK ? ngx_svc_signin_discover_send(sr, &answer)
                        : ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_signin_discover_write(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer)
{
    ngx_svc_row_t          columns;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_row_init(&columns, res);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_row_write(&w, &columns, 0);
    ngx_svc_json_open(&w, "methods", '{');
    ngx_svc_signin_options_methods(sr, res, &w);
    ngx_svc_json_close(&w, '}');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_admin_written_answer(sr, &w, answer);
}


/* Keeps nothing of a domain that the tenant does not have. */

static void
ngx_svc_signin_discover_put(ngx_svc_options_t *options,
    ngx_svc_cache_answer_t *answer)
{
    PGresult                *res;
    ngx_svc_cache_answer_t   none;

    res = ngx_svc_result(options->login.sr, &ngx_svc_sql_signin_discover);

    ngx_memzero(&none, sizeof(ngx_svc_cache_answer_t));

    ngx_svc_signin_options_put(options,
                               ngx_svc_result(options->login.sr,
                                        &ngx_svc_sql_signin_discover_tenant),
                               ngx_svc_row_true(res, 0, "_owned") ? answer
                                                                  : &none);
}


static ngx_int_t
ngx_svc_signin_discover_send(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer)
{
    ngx_svc_options_t  *options;

    options = sr->data;

    if (!answer->found && options->login.asked.slug.data) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                            "There is no such tenant.");
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_signin_no_store(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return answer->found ? ngx_svc_send_bytes(sr, &answer->content_type,
                                              &answer->body)
                         : ngx_svc_signin_discover_nobody(sr);
}


/* A domain that no tenant has is answered, too. */

static ngx_int_t
ngx_svc_signin_discover_nobody(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 128) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_null(&w, "tenant");
    ngx_svc_json_open(&w, "connections", '[');
    ngx_svc_json_close(&w, ']');
    ngx_svc_json_null(&w, "required");
    ngx_svc_json_null(&w, "methods");
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
