/*
 * /v1/admin/tenant/logo.
 *
 * The credential is checked first, and then a thread decodes the image: that
 * takes longer than other requests should wait.  Each worker decodes one image
 * at a time, since a small body may need hundreds of megabytes to be decoded.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_image.h"
#include "ngx_svc_admin_tenant.h"
#include "ngx_svc_work.h"


#define NGX_SVC_ADMIN_LOGO_WAITING  8       /* requests of a worker */
#define NGX_SVC_ADMIN_LOGO_TIME     20000   /* ms to wait, and to run */


typedef struct {
    ngx_svc_work_t         work;
    ngx_svc_request_t     *sr;
    ngx_str_t              body;        /* a copy */
    ngx_int_t              rc;
    ngx_svc_image_type_e   type;
    ngx_svc_error_t        error;
} ngx_svc_admin_logo_t;


static ngx_int_t ngx_svc_admin_logo_bind_type(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_logo_put_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_logo_put_reply(ngx_svc_request_t *sr);
static ngx_svc_admin_logo_t *ngx_svc_admin_logo_create(ngx_svc_request_t *sr);
static void ngx_svc_admin_logo_check(ngx_svc_work_t *work);
static void ngx_svc_admin_logo_checked(ngx_svc_work_t *work);
static ngx_int_t ngx_svc_admin_logo_verdict(ngx_svc_admin_logo_t *logo);


#include "ngx_svc_admin_logo.sql.h"


const ngx_svc_route_t  ngx_svc_admin_logo[] = {

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/tenant/logo"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_RAW,
      .statements = { &ngx_svc_sql_admin_logo_put },
      .object = "tenant",
      .committed = ngx_svc_admin_tenant_committed,
      .prepare = ngx_svc_admin_logo_put_prepare,
      .reply = ngx_svc_admin_logo_put_reply },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/tenant/logo"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_logo_delete },
      .object = "tenant",
      .committed = ngx_svc_admin_tenant_committed },

    ngx_svc_null_route
};


static ngx_svc_work_queue_t  ngx_svc_admin_logo_queue =
    ngx_svc_work_queue(ngx_svc_admin_logo_queue, 1, NGX_SVC_ADMIN_LOGO_WAITING,
                       NGX_SVC_ADMIN_LOGO_TIME);


/* Checks the credential alone: the statement follows when the image is good. */

static ngx_int_t
ngx_svc_admin_logo_put_prepare(ngx_svc_request_t *sr)
{
    return NGX_OK;
}


/* Called when the credential is good. */

static ngx_int_t
ngx_svc_admin_logo_put_reply(ngx_svc_request_t *sr)
{
    ngx_int_t              rc;
    ngx_svc_admin_logo_t  *logo;

    logo = ngx_svc_admin_logo_create(sr);

    rc = logo ? ngx_svc_work_post(&logo->work) : NGX_ERROR;

    if (rc == NGX_BUSY) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "Too many images wait to be looked at: try "
                            "again.");
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sr->request->main->count++;

    return NGX_DONE;
}


static ngx_svc_admin_logo_t *
ngx_svc_admin_logo_create(ngx_svc_request_t *sr)
{
    ngx_svc_admin_logo_t  *logo;

    logo = ngx_svc_work_create(&ngx_svc_admin_logo_queue, sr->request->pool,
                               sizeof(ngx_svc_admin_logo_t));
    if (logo == NULL) {
        return NULL;
    }

    logo->work.run = ngx_svc_admin_logo_check;
    logo->work.handler = ngx_svc_admin_logo_checked;

    logo->sr = sr;
    logo->body.len = sr->body.len;
    logo->body.data = ngx_pnalloc(logo->work.pool, sr->body.len + 1);

    if (logo->body.data == NULL) {
        ngx_svc_work_cancel(&logo->work);
        return NULL;
    }

    ngx_memcpy(logo->body.data, sr->body.data, sr->body.len);

    return logo;
}


/* Runs in a thread. */

static void
ngx_svc_admin_logo_check(ngx_svc_work_t *work)
{
    ngx_svc_admin_logo_t  *logo;

    logo = (ngx_svc_admin_logo_t *) work;

    logo->rc = ngx_svc_image_check(logo->body.data, logo->body.len,
                                   &logo->type, &logo->error);
}


static void
ngx_svc_admin_logo_checked(ngx_svc_work_t *work)
{
    ngx_http_request_t    *r;
    ngx_svc_admin_logo_t  *logo;

    logo = (ngx_svc_admin_logo_t *) work;
    r = logo->sr->request;

    ngx_http_set_log_request(r->connection->log, r);

    ngx_svc_work_finalize(r, ngx_svc_admin_logo_verdict(logo));
}


static ngx_int_t
ngx_svc_admin_logo_verdict(ngx_svc_admin_logo_t *logo)
{
    ngx_svc_request_t  *sr;

    sr = logo->sr;

    if (logo->work.rc == NGX_BUSY) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "The image could not be looked at in time: try "
                            "again.");
        return ngx_svc_send_error(sr);
    }

    if (logo->work.rc != NGX_OK || logo->rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (logo->rc == NGX_DECLINED) {
        (void) ngx_svc_fail(&sr->error, logo->error.kind, "%*s",
                            logo->error.len, logo->error.detail);
        return ngx_svc_send_error(sr);
    }

    sr->data = (void *) ngx_svc_image_content_type(logo->type);

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_route_prepare, ngx_svc_route_reply);
}


static ngx_int_t
ngx_svc_admin_logo_bind_type(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_str(call, sr->data);

    return NGX_OK;
}
