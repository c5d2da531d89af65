/*
 * Parameters of statements.  The bytes of a value are in the body, which lives
 * as long as the request, or in the request's pool.
 */

#include "ngx_svc_bind.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_args.h"
#include "ngx_svc_base_url.h"
#include "ngx_svc_etag.h"
#include "ngx_svc_time.h"


static ngx_svc_value_t *ngx_svc_bind_member(const ngx_svc_param_t *param,
    void *body);
static ngx_int_t ngx_svc_bind_addr_text(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, ngx_str_t *text);
static ngx_int_t ngx_svc_bind_null(ngx_svc_pg_call_t *call);


ngx_int_t
ngx_svc_bind_path_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    return ngx_svc_param_uuid(sr, param->n, call, param->text);
}


ngx_int_t
ngx_svc_bind_path(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_str(call, &sr->params[param->n]);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_text(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_value_t  *value;

    value = ngx_svc_bind_member(param, body);

    ngx_svc_pg_bind_str(call, value ? &value->str : NULL);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_integer(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_value_t  *value;

    value = ngx_svc_bind_member(param, body);

    return value ? ngx_svc_pg_bind_int(sr->op, call, (int32_t) value->integer)
                 : ngx_svc_bind_null(call);
}


ngx_int_t
ngx_svc_bind_boolean(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_value_t  *value;

    value = ngx_svc_bind_member(param, body);
    if (value == NULL) {
        return ngx_svc_bind_null(call);
    }

    ngx_svc_pg_bind_bool(call, (ngx_uint_t) value->integer);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char           *id;
    ngx_svc_value_t  *value;

    value = ngx_svc_bind_member(param, body);
    if (value == NULL) {
        return ngx_svc_bind_null(call);
    }

    id = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);

    if (id == NULL
        || ngx_svc_uuid_parse(value->str.data, value->str.len, id) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, id, NGX_SVC_UUID_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_addr(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_int_t         rc;
    ngx_svc_value_t  *value;

    value = ngx_svc_bind_member(param, body);
    if (value == NULL) {
        return ngx_svc_bind_null(call);
    }

    rc = ngx_svc_bind_addr_text(sr, call, &value->str);

    return rc == NGX_DECLINED ? NGX_ERROR : rc;
}


ngx_int_t
ngx_svc_bind_path_addr(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_int_t  rc;

    rc = ngx_svc_bind_addr_text(sr, call, &sr->params[param->n]);

    return rc == NGX_DECLINED ? ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                                             "%s", param->text)
                              : rc;
}


/* Returns NGX_OK; NGX_DECLINED when the text is no address; or NGX_ERROR. */

static ngx_int_t
ngx_svc_bind_addr_text(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    ngx_str_t *text)
{
    u_char          *p;
    ngx_svc_addr_t   addr;

    if (ngx_svc_addr_parse(text->data, text->len, &addr) != NGX_OK) {
        return NGX_DECLINED;
    }

    p = ngx_pnalloc(sr->request->pool, NGX_SVC_ADDR_TEXT_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, p, ngx_svc_addr_text(p, &addr) - p);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_time(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char           *p;
    int64_t           msec;
    ngx_svc_value_t  *value;

    value = ngx_svc_bind_member(param, body);
    if (value == NULL) {
        return ngx_svc_bind_null(call);
    }

    p = ngx_pnalloc(sr->request->pool, NGX_INT64_LEN);

    if (p == NULL || ngx_svc_time_parse(&value->str, &msec) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, p, ngx_sprintf(p, "%L", msec) - p);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_permissions(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t         text;
    ngx_svc_value_t  *value;

    value = ngx_svc_bind_member(param, body);
    if (value == NULL) {
        return ngx_svc_bind_null(call);
    }

    if (ngx_svc_permissions_text(sr->request->pool,
                                 ngx_svc_permissions_json(value->json), &text)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &text);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_given(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_value_t  *value;

    value = (ngx_svc_value_t *) ((u_char *) body + param->offset);

    ngx_svc_pg_bind_bool(call, value->set);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_body(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_str(call, &sr->body);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_query(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_int_t  rc;
    ngx_str_t  value;

    rc = ngx_svc_text_argument(sr, param->text, param->n, &value);

    if (rc == NGX_OK) {
        ngx_svc_pg_bind_str(call, value.len ? &value : NULL);
    }

    return rc;
}


ngx_int_t
ngx_svc_bind_query_word(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_int_t    rc, n;
    const char  *word;

    rc = ngx_svc_word_argument(sr, param->text, param->words, &n);

    if (rc != NGX_OK || n == -1) {
        return rc == NGX_OK ? ngx_svc_bind_null(call) : rc;
    }

    word = param->words[n];

    ngx_svc_pg_bind(call, (u_char *) word, ngx_strlen(word));

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_page(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    int32_t  *n;

    n = (int32_t *) ((u_char *) sr->data + param->offset);

    return ngx_svc_pg_bind_int(sr->op, call, *n);
}


ngx_int_t
ngx_svc_bind_new_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    if (sr->new_id == NULL) {
        sr->new_id = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);

        if (sr->new_id == NULL || ngx_svc_uuid_new(sr->new_id) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    ngx_svc_pg_bind(call, sr->new_id, NGX_SVC_UUID_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_if_match(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t  versions;

    if (ngx_svc_if_match(sr, &versions) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, versions.data ? &versions : NULL);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_constant(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    return ngx_svc_pg_bind_int(sr->op, call, (int32_t) param->n);
}


ngx_int_t
ngx_svc_bind_base_url(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_str(call, ngx_svc_base_url(sr));

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_domain_url(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_str(call, ngx_svc_base_url_domain(sr) ? &sr->domain_url
                                                          : NULL);

    return NGX_OK;
}


ngx_int_t
ngx_svc_bind_data(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t  *value;

    value = (ngx_str_t *) ((u_char *) sr->data + param->offset);

    ngx_svc_pg_bind_str(call, value->data ? value : NULL);

    return NGX_OK;
}


/* Returns a member's value; NULL when it is absent or null. */

static ngx_svc_value_t *
ngx_svc_bind_member(const ngx_svc_param_t *param, void *body)
{
    ngx_svc_value_t  *value;

    value = (ngx_svc_value_t *) ((u_char *) body + param->offset);

    return value->set && !value->null ? value : NULL;
}


static ngx_int_t
ngx_svc_bind_null(ngx_svc_pg_call_t *call)
{
    ngx_svc_pg_bind_str(call, NULL);

    return NGX_OK;
}
