/*
 * /v1/admin/audit: the list, one event of it, and the filter that export and
 * stream use, too.
 */

#include "ngx_svc_admin_audit.h"


#define NGX_SVC_ADMIN_AUDIT_Q       200     /* characters */
#define NGX_SVC_ADMIN_AUDIT_WORD    200
#define NGX_SVC_ADMIN_AUDIT_TARGET  255     /* as long as a domain's name */
#define NGX_SVC_ADMIN_AUDIT_DIGITS  32      /* of a request's id */

#define NGX_SVC_ADMIN_NO_EVENT      "There is no event with this id."


/* sr->data; parameters of the page look for it there. */

typedef struct {
    ngx_svc_page_t                page;     /* first */
    ngx_svc_admin_audit_filter_t  filter;
} ngx_svc_admin_audit_list_t;


static ngx_int_t ngx_svc_admin_audit_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_audit_text(ngx_svc_request_t *sr,
    const char *name, ngx_uint_t max, ngx_str_t *text);
static ngx_int_t ngx_svc_admin_audit_request(ngx_svc_request_t *sr,
    ngx_str_t *id);
static ngx_int_t ngx_svc_admin_audit_bind_id(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_admin_audit.sql.h"


const ngx_svc_route_t  ngx_svc_admin_audit[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/audit"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .check = ngx_svc_admin_audit_check,
      .statements = { &ngx_svc_sql_admin_audit_list },
      .list = "events" },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/audit/*"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .statements = { &ngx_svc_sql_admin_audit_get } },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_audit_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_page_t              *page;
    ngx_svc_admin_audit_list_t  *list;

    list = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_audit_list_t));
    if (list == NULL) {
        return NGX_ERROR;
    }

    page = sr->data;
    list->page = *page;

    sr->data = list;

    return ngx_svc_admin_audit_search(sr, &list->filter);
}


ngx_int_t
ngx_svc_admin_audit_search(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter)
{
    ngx_int_t  rc;

    rc = ngx_svc_admin_audit_filter(sr, filter);

    if (rc == NGX_OK) {
        rc = ngx_svc_time_argument(sr, "from", &filter->from);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_time_argument(sr, "to", &filter->to);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    sr->op->kind = ngx_svc_admin_audit_pool(filter);
    sr->slow = "The search took too long: narrow it with \"from\" and \"to\".";

    return NGX_OK;
}


ngx_svc_pg_pool_e
ngx_svc_admin_audit_pool(ngx_svc_admin_audit_filter_t *filter)
{
    return filter->q.data || filter->outcome.data || filter->action.data
           || filter->actor_id.data || filter->target_id.data
           || filter->request_id.data ? NGX_SVC_PG_SLOW : NGX_SVC_PG_READ;
}


ngx_int_t
ngx_svc_admin_audit_filter(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter)
{
    ngx_int_t  rc, n;

    static const char *const  outcomes[] = { "success", "failure", NULL };

    n = -1;
    rc = ngx_svc_admin_audit_text(sr, "q", NGX_SVC_ADMIN_AUDIT_Q, &filter->q);

    if (rc == NGX_OK) {
        rc = ngx_svc_word_argument(sr, "outcome", outcomes, &n);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (n >= 0) {
        filter->outcome.data = (u_char *) outcomes[n];
        filter->outcome.len = ngx_strlen(outcomes[n]);
    }

    rc = ngx_svc_admin_audit_text(sr, "action", NGX_SVC_ADMIN_AUDIT_WORD,
                                  &filter->action);

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_audit_text(sr, "actorId", NGX_SVC_ADMIN_AUDIT_WORD,
                                      &filter->actor_id);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_audit_text(sr, "targetId",
                                      NGX_SVC_ADMIN_AUDIT_TARGET,
                                      &filter->target_id);
    }

    return rc == NGX_OK ? ngx_svc_admin_audit_request(sr, &filter->request_id)
                        : rc;
}


/* An empty text is no filter. */

static ngx_int_t
ngx_svc_admin_audit_text(ngx_svc_request_t *sr, const char *name,
    ngx_uint_t max, ngx_str_t *text)
{
    ngx_int_t  rc;

    rc = ngx_svc_text_argument(sr, name, max, text);

    if (text->len == 0) {
        text->data = NULL;
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_audit_request(ngx_svc_request_t *sr, ngx_str_t *id)
{
    ngx_int_t   rc;
    ngx_uint_t  i;

    rc = ngx_svc_admin_audit_text(sr, "requestId", NGX_SVC_ADMIN_AUDIT_DIGITS,
                                  id);
    if (rc != NGX_OK || id->data == NULL) {
        return rc;
    }

    for (i = 0; i < id->len; i++) {
        if ((id->data[i] < '0' || id->data[i] > '9')
            && (id->data[i] < 'a' || id->data[i] > 'f'))
        {
            break;
        }
    }

    return i == NGX_SVC_ADMIN_AUDIT_DIGITS
           ? NGX_OK
           : ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                          "\"requestId\" must be 32 digits of 0-9 and a-f, as "
                          "X-Request-Id has them.");
}


/* Binds the id in the path, which must be spelled as we spell it. */

static ngx_int_t
ngx_svc_admin_audit_bind_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t  *id;

    id = &sr->params[0];

    if (id->data[0] == '0' || ngx_atoof(id->data, id->len) == NGX_ERROR) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                            NGX_SVC_ADMIN_NO_EVENT);
    }

    ngx_svc_pg_bind_str(call, id);

    return NGX_OK;
}
