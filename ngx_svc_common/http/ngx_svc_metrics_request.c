/*
 * The counters of requests, by route.
 */

#include "ngx_svc_metrics_request.h"
#include "ngx_svc_metrics_store.h"


#define NGX_SVC_METRICS_RESOURCES  32   /* first guess */


/* The routes of a resource, and where each one's numbers are. */

typedef struct {
    const ngx_svc_route_t      *first;
    const ngx_svc_route_t      *end;
    ngx_svc_metrics_route_t   **numbers;
} ngx_svc_metrics_table_t;


/* The numbers of requests that no route of a surface takes. */

typedef struct {
    const ngx_svc_surface_t    *surface;
    ngx_svc_metrics_route_t    *numbers;
} ngx_svc_metrics_none_t;


static ngx_int_t ngx_svc_metrics_log_handler(ngx_http_request_t *r);
static ngx_svc_metrics_route_t *ngx_svc_metrics_numbers(
    ngx_svc_request_t *sr);
static ngx_svc_metrics_none_t *ngx_svc_metrics_none(
    const ngx_svc_surface_t *surface);
static ngx_uint_t ngx_svc_metrics_method(ngx_uint_t method);
static ngx_uint_t ngx_svc_metrics_status(ngx_http_request_t *r);
static ngx_msec_t ngx_svc_metrics_time(ngx_http_request_t *r);
static ngx_int_t ngx_svc_metrics_surface(ngx_cycle_t *cycle,
    ngx_svc_main_conf_t *smcf, const ngx_svc_surface_t *surface);
static ngx_int_t ngx_svc_metrics_list(ngx_cycle_t *cycle,
    const ngx_svc_metrics_none_t *none, ngx_svc_resources_t *resources);
static ngx_int_t ngx_svc_metrics_table(ngx_cycle_t *cycle,
    const ngx_svc_metrics_none_t *none, const ngx_svc_route_t *routes);
static ngx_svc_metrics_route_t *ngx_svc_metrics_route(ngx_cycle_t *cycle,
    const ngx_svc_surface_t *surface, const ngx_str_t *path);
static ngx_svc_metrics_route_t *ngx_svc_metrics_find(
    const ngx_svc_surface_t *surface, u_char *name);
static u_char *ngx_svc_metrics_name(u_char *p, u_char *last,
    const ngx_str_t *text);


/* Methods and statuses by their index; the last of each is for all others. */

const char *const  ngx_svc_metrics_methods[NGX_SVC_METRICS_METHODS] = {
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"
};

/* the most frequent ones are first; 0 ends the table, and means others */

const uint16_t  ngx_svc_metrics_statuses[NGX_SVC_METRICS_STATUSES] = {
    200, 201, 204, 404, 401, 403, 400, 409, 412, 304, 503, 500, 405, 408,
    413, 429, 499, 206, 411, 414, 415, 416, 417, 421, 494, 501, 502, 504,
    505, 444, 0
};

/* the limits of the histogram's buckets, ms */

const uint16_t  ngx_svc_metrics_limits[NGX_SVC_METRICS_BUCKETS] = {
    1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000
};


/* Both are of the cycle's pool. */

static ngx_array_t  ngx_svc_metrics_tables;     /* ngx_svc_metrics_table_t */
static ngx_array_t  ngx_svc_metrics_nones;      /* ngx_svc_metrics_none_t */


ngx_int_t
ngx_svc_metrics_init(ngx_conf_t *cf)
{
    ngx_http_handler_pt        *h;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    h = ngx_array_push(&cmcf->phases[NGX_HTTP_LOG_PHASE].handlers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    *h = ngx_svc_metrics_log_handler;

    return NGX_OK;
}


/*
 * nginx calls this when the answer is sent, or the client has gone.  A request
 * that nginx has refused has its context from ngx_svc_envelope.c.
 */

static ngx_int_t
ngx_svc_metrics_log_handler(ngx_http_request_t *r)
{
    ngx_uint_t                i;
    ngx_msec_t                ms;
    ngx_svc_request_t        *sr;
    ngx_svc_metrics_route_t  *numbers;

    sr = ngx_http_get_module_ctx(r, ngx_http_svc_common_module);

    if (sr == NULL || ngx_svc_metrics == NULL) {
        return NGX_OK;
    }

    numbers = ngx_svc_metrics_numbers(sr);
    if (numbers == NULL) {
        return NGX_OK;
    }

    ms = ngx_svc_metrics_time(r);

    for (i = 0; i < NGX_SVC_METRICS_BUCKETS; i++) {
        if (ms <= ngx_svc_metrics_limits[i]) {
            break;
        }
    }

    (void) ngx_atomic_fetch_add(&numbers->buckets[i], 1);
    (void) ngx_atomic_fetch_add(&numbers->time, ms);
    (void) ngx_atomic_fetch_add(
               &numbers->requests[ngx_svc_metrics_method(r->method)]
                                 [ngx_svc_metrics_status(r)], 1);

    return NGX_OK;
}


static ngx_svc_metrics_route_t *
ngx_svc_metrics_numbers(ngx_svc_request_t *sr)
{
    ngx_uint_t                i;
    ngx_svc_metrics_none_t   *none;
    ngx_svc_metrics_table_t  *t;

    if (sr->route) {
        t = ngx_svc_metrics_tables.elts;

        for (i = 0; i < ngx_svc_metrics_tables.nelts; i++) {
            if (sr->route >= t[i].first && sr->route < t[i].end) {
                return t[i].numbers[sr->route - t[i].first];
            }
        }
    }

    none = ngx_svc_metrics_none(sr->surface);

    return none ? none->numbers : NULL;
}


static ngx_svc_metrics_none_t *
ngx_svc_metrics_none(const ngx_svc_surface_t *surface)
{
    ngx_uint_t               i;
    ngx_svc_metrics_none_t  *none;

    none = ngx_svc_metrics_nones.elts;

    for (i = 0; i < ngx_svc_metrics_nones.nelts; i++) {
        if (none[i].surface == surface) {
            return &none[i];
        }
    }

    return NULL;
}


static ngx_uint_t
ngx_svc_metrics_method(ngx_uint_t method)
{
    switch (method) {
    case NGX_HTTP_GET:
        return 0;
    case NGX_HTTP_HEAD:
        return 1;
    case NGX_HTTP_POST:
        return 2;
    case NGX_HTTP_PUT:
        return 3;
    case NGX_HTTP_PATCH:
        return 4;
    case NGX_HTTP_DELETE:
        return 5;
    case NGX_HTTP_OPTIONS:
        return 6;
    default:
        return 7;
    }
}


static ngx_uint_t
ngx_svc_metrics_status(ngx_http_request_t *r)
{
    ngx_uint_t  i, status;

    status = r->err_status ? r->err_status : r->headers_out.status;

    for (i = 0; ngx_svc_metrics_statuses[i]; i++) {
        if (ngx_svc_metrics_statuses[i] == status) {
            break;
        }
    }

    return i;
}


/* Returns the time as $request_time has it, ms. */

static ngx_msec_t
ngx_svc_metrics_time(ngx_http_request_t *r)
{
    ngx_time_t      *tp;
    ngx_msec_int_t   ms;

    tp = ngx_timeofday();

    ms = (ngx_msec_int_t) ((tp->sec - r->start_sec) * 1000
                           + (tp->msec - r->start_msec));

    return ngx_max(ms, 0);
}


ngx_int_t
ngx_svc_metrics_init_module(ngx_cycle_t *cycle, ngx_svc_main_conf_t *smcf)
{
    ngx_uint_t                i;
    ngx_svc_location_t       *location;
    const ngx_svc_surface_t  *surface;

    ngx_svc_metrics_open(smcf ? smcf->metrics : NULL);

    if (smcf == NULL || smcf->metrics == NULL) {
        return NGX_OK;
    }

    if (ngx_array_init(&ngx_svc_metrics_tables, cycle->pool,
                       NGX_SVC_METRICS_RESOURCES,
                       sizeof(ngx_svc_metrics_table_t))
        != NGX_OK
        || ngx_array_init(&ngx_svc_metrics_nones, cycle->pool, 2,
                          sizeof(ngx_svc_metrics_none_t))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {
        surface = location[i].conf->surface;

        if (surface && ngx_svc_metrics_none(surface) == NULL
            && ngx_svc_metrics_surface(cycle, smcf, surface) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_metrics_surface(ngx_cycle_t *cycle, ngx_svc_main_conf_t *smcf,
    const ngx_svc_surface_t *surface)
{
    ngx_uint_t                i;
    ngx_svc_metrics_none_t   *none;
    ngx_svc_resource_list_t  *more;

    none = ngx_array_push(&ngx_svc_metrics_nones);
    if (none == NULL) {
        return NGX_ERROR;
    }

    none->surface = surface;
    none->numbers = ngx_svc_metrics_route(cycle, surface, NULL);

    if (ngx_svc_metrics_list(cycle, none, surface->resources) != NGX_OK) {
        return NGX_ERROR;
    }

    more = smcf->resources.elts;

    for (i = 0; i < smcf->resources.nelts; i++) {

        if (more[i].prefix.len == surface->prefix.len
            && ngx_strncmp(more[i].prefix.data, surface->prefix.data,
                           surface->prefix.len)
               == 0
            && ngx_svc_metrics_list(cycle, none, more[i].list) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_metrics_list(ngx_cycle_t *cycle, const ngx_svc_metrics_none_t *none,
    ngx_svc_resources_t *resources)
{
    for ( /* void */ ; *resources; resources++) {

        if (ngx_svc_metrics_table(cycle, none, *resources) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_metrics_table(ngx_cycle_t *cycle, const ngx_svc_metrics_none_t *none,
    const ngx_svc_route_t *routes)
{
    ngx_uint_t                i, n;
    ngx_svc_metrics_table_t  *t;

    t = ngx_array_push(&ngx_svc_metrics_tables);
    if (t == NULL) {
        return NGX_ERROR;
    }

    for (n = 0; routes[n].method; n++) { /* void */ }

    t->first = routes;
    t->end = routes + n;
    t->numbers = ngx_palloc(cycle->pool,
                            n * sizeof(ngx_svc_metrics_route_t *));
    if (t->numbers == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        t->numbers[i] = ngx_svc_metrics_route(cycle, none->surface,
                                              &routes[i].path);
        if (t->numbers[i] == NULL) {
            t->numbers[i] = none->numbers;
        }
    }

    return NGX_OK;
}


/*
 * Adds a route to the shared memory.  path: NULL for requests without a route.
 * Returns NULL when there is no more room.
 */

static ngx_svc_metrics_route_t *
ngx_svc_metrics_route(ngx_cycle_t *cycle, const ngx_svc_surface_t *surface,
    const ngx_str_t *path)
{
    u_char                   *p, *last, name[NGX_SVC_METRICS_NAME];
    ngx_svc_metrics_route_t  *route;

    last = name + NGX_SVC_METRICS_NAME - 1;

    if (path) {
        p = ngx_svc_metrics_name(name, last, &surface->prefix);
        p = ngx_svc_metrics_name(p, last, path);

    } else {
        p = ngx_cpymem(name, "none", 4);
    }

    *p = '\0';

    route = ngx_svc_metrics_find(surface, name);

    if (route) {
        return route;
    }

    if (ngx_svc_metrics->nroutes == NGX_SVC_METRICS_ROUTES) {
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "svc_metrics: there have been more than %d routes: "
                      "requests to %s are counted without it",
                      NGX_SVC_METRICS_ROUTES, name);
        return NULL;
    }

    route = &ngx_svc_metrics->routes[ngx_svc_metrics->nroutes];

    p = ngx_svc_metrics_name(route->surface,
                             route->surface + NGX_SVC_METRICS_NAME - 1,
                             &surface->kind);
    *p = '\0';

    (void) ngx_cpystrn(route->route, name, NGX_SVC_METRICS_NAME);

    ngx_memory_barrier();
    ngx_svc_metrics->nroutes++;

    return route;
}


static ngx_svc_metrics_route_t *
ngx_svc_metrics_find(const ngx_svc_surface_t *surface, u_char *name)
{
    ngx_uint_t                i;
    ngx_svc_metrics_route_t  *route;

    for (i = 0; i < ngx_svc_metrics->nroutes; i++) {
        route = &ngx_svc_metrics->routes[i];

        if (ngx_strcmp(route->surface, surface->kind.data) == 0
            && ngx_strcmp(route->route, name) == 0)
        {
            return route;
        }
    }

    return NULL;
}


/* Writes a label's value, escaped, with "{id}" for "*". */

static u_char *
ngx_svc_metrics_name(u_char *p, u_char *last, const ngx_str_t *text)
{
    size_t  i;

    for (i = 0; i < text->len; i++) {

        switch (text->data[i]) {

        case '*':
            p = ngx_slprintf(p, last, "{id}");
            break;

        case '"':
        case '\\':
            p = ngx_slprintf(p, last, "\\%c", text->data[i]);
            break;

        default:
            p = ngx_slprintf(p, last, "%c", text->data[i]);
        }
    }

    /* cppcheck-suppress uninitvar ; p is set, the bytes at p may not be */
    return p;
}
