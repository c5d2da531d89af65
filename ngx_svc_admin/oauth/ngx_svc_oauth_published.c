/*
 * Requests that wait for the keys that their client publishes.
 */

#include "ngx_svc_oauth_published.h"
#include "ngx_svc_oauth_client.h"
#include "ngx_svc_oauth_client_keys.h"
#include "ngx_svc_oauth_client_keys.row.h"
#include "ngx_svc_oauth_fragments.row.h"
#include "ngx_svc_oauth_jwks.h"


typedef struct {
    ngx_svc_oauth_jwks_wait_t    wait;
    ngx_svc_request_t           *sr;
    ngx_int_t                  (*calls)(ngx_svc_request_t *sr);
    ngx_int_t                  (*reply)(ngx_svc_request_t *sr);
} ngx_svc_oauth_published_t;


static ngx_int_t ngx_svc_oauth_published_ask(ngx_svc_oauth_t *o);
static void ngx_svc_oauth_published_gone(void *data);
static void ngx_svc_oauth_published_over(void *data);


ngx_int_t
ngx_svc_oauth_published(ngx_svc_oauth_t *o,
    ngx_int_t (*calls)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr))
{
    ngx_http_cleanup_t         *cln;
    ngx_svc_oauth_published_t  *published;

    if (ngx_svc_oauth_published_ask(o) == NGX_ERROR) {
        return NGX_ERROR;
    }

    cln = ngx_http_cleanup_add(o->sr->request,
                               sizeof(ngx_svc_oauth_published_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    published = cln->data;
    ngx_memzero(published, sizeof(ngx_svc_oauth_published_t));

    cln->handler = ngx_svc_oauth_published_gone;

    published->sr = o->sr;
    published->calls = calls;
    published->reply = reply;
    published->wait.handler = ngx_svc_oauth_published_over;
    published->wait.data = published;

    if (ngx_svc_oauth_jwks_wait(&o->client.id, &published->wait) != NGX_OK) {
        return NGX_DECLINED;
    }

    o->sr->request->main->count++;

    return NGX_DONE;
}


/* Asks for them, unless that was done just now. */

static ngx_int_t
ngx_svc_oauth_published_ask(ngx_svc_oauth_t *o)
{
    u_char                           tenant[NGX_SVC_UUID_LEN];
    ngx_svc_row_login_found_t        login;
    ngx_svc_row_oauth_client_keys_t  row;

    ngx_svc_row_oauth_client_keys(&row,
        ngx_svc_result(o->sr, &ngx_svc_sql_oauth_client_keys), 0);

    if (!row.askable) {
        return NGX_DECLINED;
    }

    ngx_svc_row_login_found(&login, ngx_svc_oauth_client_result(o), 0, 0);

    return ngx_svc_uuid_parse(login.tenant.data, login.tenant.len, tenant)
           == NGX_OK
           ? ngx_svc_oauth_jwks_refresh(tenant, &o->client.id) : NGX_ERROR;
}


static void
ngx_svc_oauth_published_gone(void *data)
{
    ngx_svc_oauth_published_t  *published = data;

    ngx_svc_oauth_jwks_forget(&published->wait);
}


static void
ngx_svc_oauth_published_over(void *data)
{
    ngx_connection_t           *c;
    ngx_http_request_t         *r;
    ngx_svc_oauth_published_t  *published = data;

    r = published->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r,
        ngx_svc_request_again(published->sr, NGX_SVC_PG_READ,
                              published->calls, published->reply));

    ngx_http_run_posted_requests(c);
}
