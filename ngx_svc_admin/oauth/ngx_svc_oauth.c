/*
 * What the requests under /oauth share.
 */

#include "ngx_svc_oauth.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_application_scope.h"


static ngx_int_t ngx_svc_oauth_named_origin(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_origin(ngx_svc_request_t *sr,
    ngx_str_t *origin);
static ngx_uint_t ngx_svc_oauth_split(const ngx_str_t *text, ngx_str_t *scopes,
    ngx_uint_t max);
static int ngx_libc_cdecl ngx_svc_oauth_cmp(const void *one, const void *two);


ngx_int_t
ngx_svc_oauth_begin(ngx_svc_request_t *sr, ngx_svc_oauth_t **oauth)
{
    ngx_svc_oauth_t  *o;

    static const ngx_str_t  none = ngx_string("");

    o = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_oauth_t));
    if (o == NULL) {
        return NGX_ERROR;
    }

    o->sr = sr;
    o->issuer = ngx_svc_oauth_issuer(sr, &none);
    sr->data = o;
    *oauth = o;

    return o->issuer.data ? ngx_svc_oauth_begin_form(o) : NGX_ERROR;
}


ngx_int_t
ngx_svc_oauth_begin_form(ngx_svc_oauth_t *o)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    static const char *const  repeatable[] = { "resource", "audience", NULL };

    sr = o->sr;

    if (ngx_svc_oauth_headers(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_svc_oauth_type(sr) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (sr->request->args.len) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "Parameters belong into the body, not into the "
                            "query.");
    }

    rc = ngx_svc_form_parse(sr->request->pool, &sr->body, &o->form,
                            &sr->error);

    return rc == NGX_OK ? ngx_svc_form_unique(&o->form, repeatable, &sr->error)
                        : rc;
}


/* Parameters of the type are ignored: there is only one charset. */

ngx_int_t
ngx_svc_oauth_type(ngx_svc_request_t *sr)
{
    ngx_str_t  *type;

    static const ngx_str_t  form =
        ngx_string("application/x-www-form-urlencoded");

    if (sr->request->headers_in.content_type) {
        type = &sr->request->headers_in.content_type->value;

        if (type->len >= form.len
            && ngx_strncasecmp(type->data, form.data, form.len) == 0
            && (type->len == form.len || type->data[form.len] == ';'
                || type->data[form.len] == ' '))
        {
            return NGX_OK;
        }
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "The Content-Type must be %V.", &form);
}


/* RFC 6749, 5.1.  Each answer sets Cache-Control for itself. */

ngx_int_t
ngx_svc_oauth_headers(ngx_svc_request_t *sr)
{
    static ngx_str_t  no_cache = ngx_string("no-cache");

    if (ngx_svc_add_header(sr->request, "Pragma", &no_cache) != NGX_OK) {
        return NGX_ERROR;
    }

    return (sr->route->flags & NGX_SVC_ROUTE_ANY_ORIGIN)
           ? ngx_svc_oauth_named_origin(sr) : NGX_OK;
}


/*
 * A page that sends cookies along, as those of keycloak-js do, may read an
 * answer only if that names the page's origin (Fetch, "CORS protocol and
 * credentials").  No cookie is looked at here, and the answer is not kept: it
 * tells no page more than any other client.
 */

static ngx_int_t
ngx_svc_oauth_named_origin(ngx_svc_request_t *sr)
{
    ngx_table_elt_t  *origin;

    static ngx_str_t  yes = ngx_string("true");

    origin = ngx_svc_header_in(sr->request, "Origin", sizeof("Origin") - 1,
                               NULL);
    if (origin == NULL) {
        return ngx_svc_oauth_any_origin(sr);
    }

    if (ngx_svc_add_header(sr->request, "Access-Control-Allow-Credentials",
                           &yes)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_origin(sr, &origin->value);
}


ngx_int_t
ngx_svc_oauth_any_origin(ngx_svc_request_t *sr)
{
    static ngx_str_t  any = ngx_string("*");

    return ngx_svc_oauth_origin(sr, &any);
}


static ngx_int_t
ngx_svc_oauth_origin(ngx_svc_request_t *sr, ngx_str_t *origin)
{
    static ngx_str_t  exposed = ngx_string("DPoP-Nonce, WWW-Authenticate");

    if (ngx_svc_add_header(sr->request, "Access-Control-Allow-Origin", origin)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_add_header(sr->request, "Access-Control-Expose-Headers",
                              &exposed);
}


ngx_int_t
ngx_svc_oauth_value(ngx_svc_oauth_t *o, const char *name, ngx_str_t *value)
{
    return ngx_svc_form_value(&o->form, name, value, &o->sr->error);
}


ngx_int_t
ngx_svc_oauth_needed(ngx_svc_oauth_t *o, const char *name, ngx_str_t *value)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_value(o, name, value);

    if (rc == NGX_OK && value->data == NULL) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "The parameter '%s' is missing.", name);
    }

    return rc;
}


ngx_int_t
ngx_svc_oauth_scope(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;
    ngx_str_t  text;

    rc = ngx_svc_oauth_value(o, "scope", &text);

    return rc == NGX_OK && text.data
           ? ngx_svc_oauth_scopes(o->sr, &text, &o->scopes) : rc;
}


/* Each scope is quoted in the array, and none has a quote or a backslash. */

ngx_int_t
ngx_svc_oauth_scopes(ngx_svc_request_t *sr, const ngx_str_t *text,
    ngx_str_t *array)
{
    u_char      *p;
    ngx_str_t    scopes[NGX_SVC_APPLICATION_SCOPES + 1];
    ngx_uint_t   i, n;

    n = ngx_svc_oauth_split(text, scopes, NGX_SVC_APPLICATION_SCOPES + 1);

    if (n > NGX_SVC_APPLICATION_SCOPES) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_SCOPE,
                            "'scope' has more than %d scopes, or what is no "
                            "scope.", NGX_SVC_APPLICATION_SCOPES);
    }

    ngx_qsort(scopes, n, sizeof(ngx_str_t), ngx_svc_oauth_cmp);

    p = ngx_pnalloc(sr->request->pool, 2 + text->len + 3 * n);
    if (p == NULL) {
        return NGX_ERROR;
    }

    array->data = p;
    *p++ = '{';

    for (i = 0; i < n; i++) {

        if (i && ngx_svc_oauth_cmp(&scopes[i - 1], &scopes[i]) == 0) {
            continue;
        }

        p = ngx_sprintf(p, i ? ",\"%V\"" : "\"%V\"", &scopes[i]);
    }

    *p++ = '}';
    array->len = p - array->data;

    return NGX_OK;
}


/*
 * Splits a text, and returns the number of scopes; it is max if there are too
 * many, or one is malformed.
 */

static ngx_uint_t
ngx_svc_oauth_split(const ngx_str_t *text, ngx_str_t *scopes, ngx_uint_t max)
{
    u_char      *p, *end;
    ngx_uint_t   n;

    n = 0;
    p = text->data;
    end = p + text->len;

    for ( ;; ) {

        while (p < end && *p == ' ') {
            p++;
        }

        if (p == end) {
            return n;
        }

        scopes[n].data = p;

        while (p < end && *p != ' ') {
            p++;
        }

        scopes[n].len = p - scopes[n].data;

        if (!ngx_svc_application_scope(&scopes[n]) || ++n == max) {
            return max;
        }
    }
}


static int ngx_libc_cdecl
ngx_svc_oauth_cmp(const void *one, const void *two)
{
    const ngx_str_t *a = one;
    const ngx_str_t *b = two;

    int  rc;

    rc = ngx_memcmp(a->data, b->data, ngx_min(a->len, b->len));

    return rc ? rc : (a->len > b->len) - (a->len < b->len);
}


ngx_int_t
ngx_svc_oauth_later(ngx_svc_oauth_t *o, ngx_int_t rc)
{
    ngx_svc_error_t  *error;

    static const ngx_str_t  target = ngx_string(NGX_SVC_OAUTH_FAULT_TARGET);
    static const ngx_str_t  scope = ngx_string(NGX_SVC_OAUTH_FAULT_SCOPE);

    error = &o->sr->error;

    if (rc != NGX_DECLINED
        || (error->kind != NGX_SVC_E_TARGET && error->kind != NGX_SVC_E_SCOPE))
    {
        return rc;
    }

    if (o->fault.data == NULL) {
        o->fault = (error->kind == NGX_SVC_E_TARGET) ? target : scope;

        if (ngx_svc_oauth_bytes(o->sr, &o->fault_detail, error->detail,
                                error->len)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    error->kind = NGX_SVC_E_NONE;

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_resource(ngx_svc_oauth_t *o)
{
    ngx_str_t  uri, more;

    if (ngx_svc_form_nth(&o->form, "resource", 0, &uri) != NGX_OK) {
        return NGX_OK;
    }

    if (ngx_svc_form_nth(&o->form, "resource", 1, &more) == NGX_OK) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_TARGET,
                            "A token is for one 'resource'.");
    }

    return ngx_svc_oauth_target(o, &uri);
}


ngx_int_t
ngx_svc_oauth_target(ngx_svc_oauth_t *o, const ngx_str_t *uri)
{
    if (uri->len <= NGX_SVC_APPLICATION_RESOURCE) {
        o->resource = *uri;
        o->resource_key.data = ngx_pnalloc(o->sr->request->pool, uri->len + 1);

        if (o->resource_key.data == NULL) {
            return NGX_ERROR;
        }

        if (ngx_svc_application_resource(uri, &o->resource_key) == NGX_OK) {
            return NGX_OK;
        }
    }

    ngx_str_null(&o->resource_key);

    return ngx_svc_fail(&o->sr->error, NGX_SVC_E_TARGET,
                        "'resource' must be an absolute URI of at most %d "
                        "bytes, without a fragment.",
                        NGX_SVC_APPLICATION_RESOURCE);
}


ngx_int_t
ngx_svc_oauth_caller(ngx_svc_oauth_t *o)
{
    ngx_svc_access_caller_t  caller;

    if (ngx_svc_access_caller(o->sr, &caller) != NGX_OK) {
        return NGX_ERROR;
    }

    if (caller.addr.family != AF_UNSPEC) {
        o->ip.data = ngx_pnalloc(o->sr->request->pool, NGX_SVC_ADDR_TEXT_LEN);
        if (o->ip.data == NULL) {
            return NGX_ERROR;
        }

        o->ip.len = ngx_svc_addr_text(o->ip.data, &caller.addr) - o->ip.data;
    }

    o->request_id = ngx_svc_request_id(o->sr->request);

    return caller.country.code[0] == '\0'
           ? NGX_OK : ngx_svc_oauth_bytes(o->sr, &o->country,
                                          (u_char *) caller.country.code, 2);
}


ngx_int_t
ngx_svc_oauth_bytes(ngx_svc_request_t *sr, ngx_str_t *dst, const u_char *data,
    size_t len)
{
    dst->data = ngx_pnalloc(sr->request->pool, len ? len : 1);
    if (dst->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(dst->data, data, len);
    dst->len = len;

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_copy(ngx_svc_request_t *sr, ngx_str_t *dst,
    const ngx_str_t *value)
{
    ngx_str_null(dst);

    return value->data ? ngx_svc_oauth_bytes(sr, dst, value->data, value->len)
                       : NGX_OK;
}


ngx_str_t
ngx_svc_oauth_slug(ngx_svc_request_t *sr)
{
    static const ngx_str_t  none = ngx_null_string;

    return sr->route->path.len && sr->route->path.data[0] == '['
           ? sr->params[0] : none;
}


ngx_str_t
ngx_svc_oauth_issuer(ngx_svc_request_t *sr, const ngx_str_t *slug)
{
    ngx_str_t            issuer;
    ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);

    ngx_str_null(&issuer);

    issuer.data = ngx_pnalloc(sr->request->pool, slcf->base_key.len
                              + sizeof("/oauth/t/") - 1 + slug->len);
    if (issuer.data) {
        issuer.len = ngx_sprintf(issuer.data, "%V/oauth/t/%V", &slcf->base_key,
                                 slug)
                     - issuer.data;
    }

    return issuer;
}


ngx_int_t
ngx_svc_oauth_bind_data(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t        *value;
    ngx_svc_oauth_t  *o;

    o = sr->data;
    value = (ngx_str_t *) ((u_char *) o->data + param->offset);

    ngx_svc_pg_bind_str(call, value->data ? value : NULL);

    return NGX_OK;
}


const ngx_svc_oauth_verdict_t *
ngx_svc_oauth_verdict(const ngx_svc_oauth_verdict_t *table,
    const ngx_str_t *verdict)
{
    u_char  *space;
    size_t   len;

    space = ngx_strlchr(verdict->data, verdict->data + verdict->len, ' ');
    len = space ? (size_t) (space - verdict->data) : verdict->len;

    for ( /* void */ ; table->name; table++) {
        if (ngx_strlen(table->name) == len
            && ngx_memcmp(table->name, verdict->data, len) == 0)
        {
            return table;
        }
    }

    return NULL;
}
