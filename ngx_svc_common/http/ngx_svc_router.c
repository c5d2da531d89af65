/*
 * Route tables.
 */

#include "ngx_svc_router.h"
#include "ngx_svc_args.h"


typedef struct {
    ngx_uint_t   method;
    ngx_str_t    name;
} ngx_svc_method_t;


/* A request that a route is looked for, and what was found so far. */

typedef struct {
    ngx_str_t         path;
    ngx_uint_t        method;
    ngx_uint_t        methods;      /* of the routes with that path */
    const ngx_str_t  *pattern;      /* the one that matches; NULL: none yet */
} ngx_svc_match_t;


static ngx_int_t ngx_svc_router_look(ngx_svc_request_t *sr,
    ngx_svc_match_t *m, const ngx_svc_main_conf_t *smcf);
static ngx_int_t ngx_svc_router_list(ngx_svc_request_t *sr,
    ngx_svc_match_t *m, ngx_svc_resources_t *resources);
static ngx_int_t ngx_svc_router_resource(ngx_svc_request_t *sr,
    ngx_svc_match_t *m, const ngx_svc_route_t *route);
static ngx_int_t ngx_svc_router_path(ngx_svc_request_t *sr, ngx_str_t *path);
static ngx_uint_t ngx_svc_router_match(const ngx_str_t *pattern,
    const ngx_str_t *path, ngx_str_t *params);
static ngx_uint_t ngx_svc_router_segments(const u_char *p, const u_char *pend,
    const ngx_str_t *path, ngx_str_t *params);
static ngx_int_t ngx_svc_router_allow(ngx_svc_request_t *sr,
    ngx_uint_t methods);

#define ngx_svc_router_same(a, b)                                             \
    ((a)->len == (b)->len && ngx_memcmp((a)->data, (b)->data, (a)->len) == 0)


/* A route that has GET answers HEAD, too. */

static const ngx_svc_method_t  ngx_svc_methods[] = {
    { NGX_HTTP_GET, ngx_string("GET, HEAD") },
    { NGX_HTTP_POST, ngx_string("POST") },
    { NGX_HTTP_PUT, ngx_string("PUT") },
    { NGX_HTTP_PATCH, ngx_string("PATCH") },
    { NGX_HTTP_DELETE, ngx_string("DELETE") },
    { 0, ngx_null_string }
};


/*
 * A path without parameters is looked for in the tables once; one with a "*" in
 * it may be the text of a pattern, and is not kept.
 */

ngx_int_t
ngx_svc_router_find(ngx_svc_request_t *sr)
{
    ngx_int_t               rc;
    ngx_svc_match_t         m;
    ngx_svc_main_conf_t    *smcf;
    ngx_svc_known_route_t  *known;

    ngx_memzero(&m, sizeof(ngx_svc_match_t));

    if (ngx_svc_router_path(sr, &m.path) != NGX_OK) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                            "There is no such resource.");
    }

    m.method = (sr->request->method == NGX_HTTP_HEAD) ? NGX_HTTP_GET
                                                      : sr->request->method;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    known = &smcf->known[(ngx_murmur_hash2(m.path.data, m.path.len) ^ m.method)
                         % NGX_SVC_KNOWN_ROUTES];

    if (known->surface == sr->surface && known->route->method == m.method
        && ngx_svc_router_same(&known->route->path, &m.path))
    {
        sr->route = known->route;
        return NGX_OK;
    }

    rc = ngx_svc_router_look(sr, &m, smcf);

    if (rc == NGX_OK && ngx_svc_router_same(&sr->route->path, &m.path)
        && ngx_strlchr(m.path.data, m.path.data + m.path.len, '*') == NULL)
    {
        known->surface = sr->surface;
        known->route = sr->route;
    }

    return rc;
}


static ngx_int_t
ngx_svc_router_look(ngx_svc_request_t *sr, ngx_svc_match_t *m,
    const ngx_svc_main_conf_t *smcf)
{
    ngx_uint_t                i;
    ngx_svc_resource_list_t  *more;

    if (ngx_svc_router_list(sr, m, sr->surface->resources) == NGX_OK) {
        return NGX_OK;
    }

    more = smcf->resources.elts;

    for (i = 0; i < smcf->resources.nelts; i++) {

        if (ngx_svc_router_same(&more[i].prefix, &sr->surface->prefix)
            && ngx_svc_router_list(sr, m, more[i].list) == NGX_OK)
        {
            return NGX_OK;
        }
    }

    if (m->methods == 0) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                            "There is no such resource.");
    }

    if (ngx_svc_router_allow(sr, m->methods) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_METHOD_NOT_ALLOWED,
                        "The method is not offered here; allowed: %V.",
                        &sr->allow);
}


static ngx_int_t
ngx_svc_router_list(ngx_svc_request_t *sr, ngx_svc_match_t *m,
    ngx_svc_resources_t *resources)
{
    for ( /* void */ ; *resources; resources++) {

        if (ngx_svc_router_resource(sr, m, *resources) == NGX_OK) {
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


/*
 * Returns NGX_OK with sr->route set, or NGX_DECLINED with the methods of the
 * path added to m->methods.
 */

static ngx_int_t
ngx_svc_router_resource(ngx_svc_request_t *sr, ngx_svc_match_t *m,
    const ngx_svc_route_t *route)
{
    for ( /* void */ ; route->method; route++) {

        /* the first pattern that matches hides others, as "unlock" hides "*" */

        if (m->pattern && !ngx_svc_router_same(&route->path, m->pattern)) {
            continue;
        }

        if (!ngx_svc_router_match(&route->path, &m->path, sr->params)) {
            continue;
        }

        m->pattern = &route->path;

        if (route->method == m->method) {
            sr->route = route;
            return NGX_OK;
        }

        m->methods |= route->method;
    }

    return NGX_DECLINED;
}


ngx_int_t
ngx_svc_add_resources(ngx_conf_t *cf, const ngx_str_t *prefix,
    ngx_svc_resources_t *resources)
{
    ngx_svc_main_conf_t      *smcf;
    ngx_svc_resource_list_t  *more;

    smcf = ngx_svc_main_conf(cf);

    more = ngx_array_push(&smcf->resources);
    if (more == NULL) {
        return NGX_ERROR;
    }

    more->prefix = *prefix;
    more->list = resources;

    return ngx_svc_check_resources(cf, resources);
}


ngx_int_t
ngx_svc_check_resources(ngx_conf_t *cf, ngx_svc_resources_t *resources)
{
    const ngx_svc_route_t  *route;

    for ( /* void */ ; *resources; resources++) {
        for (route = *resources; route->method; route++) {

            if (route->body_size > NGX_SVC_BODY_VALUES
                                   * sizeof(ngx_svc_value_t))
            {
                ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                                   "the body of \"%V\" has more than %d "
                                   "values", &route->path,
                                   NGX_SVC_BODY_VALUES);
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}


/*
 * Finds what follows the prefix, without one slash at the end.  nginx has
 * decoded and normalized r->uri: an encoded slash in an id makes two segments
 * of it, which no route has.  A path that is not valid text has no route: it
 * must not come to a statement.
 */

static ngx_int_t
ngx_svc_router_path(ngx_svc_request_t *sr, ngx_str_t *path)
{
    const ngx_str_t     *prefix;
    ngx_http_request_t  *r;

    r = sr->request;
    prefix = &sr->surface->prefix;

    if (r->uri.len < prefix->len
        || ngx_memcmp(r->uri.data, prefix->data, prefix->len) != 0)
    {
        return NGX_DECLINED;
    }

    path->data = r->uri.data + prefix->len;
    path->len = r->uri.len - prefix->len;

    if (path->len > 1 && path->data[path->len - 1] == '/') {
        path->len--;
    }

    return ngx_svc_text_length(path) == NGX_ERROR ? NGX_DECLINED : NGX_OK;
}


static ngx_uint_t
ngx_svc_router_match(const ngx_str_t *pattern, const ngx_str_t *path,
    ngx_str_t *params)
{
    u_char  *p, *end;

    p = pattern->data;
    end = p + pattern->len;

    if (p == end || *p != '[') {
        return ngx_svc_router_segments(p, end, path, params);
    }

    if (ngx_svc_router_segments(p + 1, end, path, params)) {
        return 1;
    }

    ngx_str_null(&params[0]);

    return ngx_svc_router_segments(ngx_strlchr(p, end, ']') + 1, end, path,
                                   params);
}


/* Matches segments; a "]" in the pattern stands for nothing. */

static ngx_uint_t
ngx_svc_router_segments(const u_char *p, const u_char *pend,
    const ngx_str_t *path, ngx_str_t *params)
{
    u_char      *s, *send;
    ngx_uint_t   n;

    s = path->data;
    send = s + path->len;
    n = 0;

    while (p < pend && s < send) {

        if (*p == ']') {
            p++;
            continue;
        }

        if (*p != '*') {
            if (*p++ != *s++) {
                return 0;
            }

            continue;
        }

        p++;
        params[n].data = s;

        while (s < send && *s != '/') {
            s++;
        }

        params[n].len = s - params[n].data;

        if (params[n].len == 0) {
            return 0;
        }

        n++;
    }

    return p == pend && s == send;
}


static ngx_int_t
ngx_svc_router_allow(ngx_svc_request_t *sr, ngx_uint_t methods)
{
    u_char                  *p;
    const ngx_svc_method_t  *m;

    p = ngx_pnalloc(sr->request->pool,
                    sizeof("GET, HEAD, POST, PUT, PATCH, DELETE, "));
    if (p == NULL) {
        return NGX_ERROR;
    }

    sr->allow.data = p;

    for (m = ngx_svc_methods; m->method; m++) {

        if (!(methods & m->method)) {
            continue;
        }

        if (p != sr->allow.data) {
            *p++ = ',';
            *p++ = ' ';
        }

        p = ngx_cpymem(p, m->name.data, m->name.len);
    }

    sr->allow.len = p - sr->allow.data;

    return NGX_OK;
}
