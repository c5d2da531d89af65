/*
 * How an application wants somebody to sign in.
 *
 * Whoever has the address can change it: what it says only makes an identity
 * provider ask for more.  When the browser is back there, the application's own
 * request is held against when, and how, its user has signed in.
 */

#include "ngx_svc_federation_wish.h"
#include "ngx_svc_form.h"


#define NGX_SVC_FEDERATION_WISH_ACR   1024  /* bytes */
#define NGX_SVC_FEDERATION_WISH_HINT  255   /* bytes */
#define NGX_SVC_FEDERATION_WISH_AGE   9     /* digits */


static void ngx_svc_federation_wish_again(ngx_svc_federation_flow_t *flow,
    const ngx_svc_form_t *form);
static void ngx_svc_federation_wish_value(const ngx_svc_form_t *form,
    const char *name, size_t max, ngx_str_t *value);


ngx_int_t
ngx_svc_federation_wish(ngx_svc_federation_flow_t *flow)
{
    u_char           *p;
    ngx_int_t         rc;
    ngx_str_t         query, *to;
    ngx_svc_form_t    form;
    ngx_svc_error_t   err;

    static const ngx_str_t  authorize = ngx_string("/oauth/authorize?");

    to = &flow->return_to;

    if (to->len < authorize.len
        || ngx_memcmp(to->data, authorize.data, authorize.len) != 0)
    {
        return NGX_OK;
    }

    query.data = to->data + authorize.len;
    query.len = to->len - authorize.len;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_form_parse(flow->login.sr->request->pool, &query, &form,
                            &err);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_OK : rc;
    }

    ngx_svc_federation_wish_again(flow, &form);
    ngx_svc_federation_wish_value(&form, "max_age",
                                  NGX_SVC_FEDERATION_WISH_AGE, &flow->max_age);
    ngx_svc_federation_wish_value(&form, "acr_values",
                                  NGX_SVC_FEDERATION_WISH_ACR,
                                  &flow->acr_values);

    if (flow->hint.data == NULL) {
        ngx_svc_federation_wish_value(&form, "login_hint",
                                      NGX_SVC_FEDERATION_WISH_HINT,
                                      &flow->hint);
    }

    for (p = flow->max_age.data; p && p < flow->max_age.data
                                          + flow->max_age.len; p++)
    {
        if (*p < '0' || *p > '9') {
            ngx_str_null(&flow->max_age);
            break;
        }
    }

    return NGX_OK;
}


/* auth_after stands for what has asked for a new sign-in. */

static void
ngx_svc_federation_wish_again(ngx_svc_federation_flow_t *flow,
    const ngx_svc_form_t *form)
{
    u_char     *p;
    ngx_str_t   prompt, after;

    ngx_svc_federation_wish_value(form, "prompt", NGX_SVC_FEDERATION_WISH_HINT,
                                  &prompt);
    ngx_svc_federation_wish_value(form, "auth_after",
                                  NGX_SVC_FEDERATION_WISH_HINT, &after);

    p = prompt.data ? ngx_strnstr(prompt.data, "login", prompt.len) : NULL;

    flow->again = after.data || p;
}


/* A value that is there twice, or too long, is as one that is not there. */

static void
ngx_svc_federation_wish_value(const ngx_svc_form_t *form, const char *name,
    size_t max, ngx_str_t *value)
{
    size_t           i;
    ngx_svc_error_t  err;

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_form_value(form, name, value, &err) != NGX_OK
        || value->len > max)
    {
        ngx_str_null(value);
    }

    for (i = 0; i < value->len; i++) {
        if (value->data[i] < 0x20 || value->data[i] == 0x7f) {
            ngx_str_null(value);
        }
    }
}


ngx_int_t
ngx_svc_federation_wish_acr(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *classes)
{
    u_char     *p;
    ngx_str_t  *acr;

    acr = &flow->acr_values;

    p = ngx_pnalloc(flow->login.sr->request->pool,
                    acr->len + 1 + classes->len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    acr->len = ngx_sprintf(p, "%V%s%V", acr, acr->len ? " " : "", classes) - p;
    acr->data = p;

    return NGX_OK;
}
