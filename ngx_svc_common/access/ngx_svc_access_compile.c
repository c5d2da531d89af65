/*
 * Makes the tables that evaluation reads from a policy's rules.
 */

#include "ngx_svc_access_compile.h"


/* A point where a network of a rule begins, or has ended. */

typedef struct {
    ngx_svc_access_point_t  at;
    uint32_t                rule;
    int32_t                 step;       /* 1 or -1 */
} ngx_svc_access_edge_t;


static ngx_int_t ngx_svc_access_compile_space(ngx_pool_t *pool,
    ngx_svc_access_policy_t *policy, ngx_uint_t family,
    ngx_svc_access_space_t *space);
static ngx_uint_t ngx_svc_access_edges(ngx_svc_access_edge_t *edges,
    ngx_uint_t rule, const ngx_svc_cidr_t *cidr);
static ngx_int_t ngx_svc_access_sweep(ngx_pool_t *pool,
    ngx_svc_access_policy_t *policy, ngx_svc_access_edge_t *edges,
    ngx_uint_t n, ngx_svc_access_space_t *space);
static void ngx_svc_access_step(const ngx_svc_access_edge_t *edge,
    ngx_uint_t *depths, ngx_svc_access_set_t *set);
static ngx_int_t ngx_svc_access_compile_countries(ngx_pool_t *pool,
    ngx_svc_access_policy_t *policy);
static ngx_int_t ngx_svc_access_compile_zones(ngx_pool_t *pool,
    ngx_svc_access_policy_t *policy);
static int ngx_libc_cdecl ngx_svc_access_cmp_edges(const void *one,
    const void *two);


ngx_int_t
ngx_svc_access_compile(ngx_pool_t *pool, ngx_svc_access_policy_t *policy)
{
    ngx_uint_t              i;
    ngx_svc_access_rule_t  *rule;

    for (i = 0; i < policy->nrules; i++) {
        rule = &policy->rules[i];

        if (rule->enabled) {
            ngx_svc_access_set_add(&policy->enabled, i);
        }

        if (rule->nnetworks == 0) {
            ngx_svc_access_set_add(&policy->anywhere, i);
        }
    }

    if (ngx_svc_access_compile_space(pool, policy, AF_INET, &policy->v4)
        != NGX_OK
        || ngx_svc_access_compile_space(pool, policy, AF_INET6, &policy->v6)
           != NGX_OK
        || ngx_svc_access_compile_countries(pool, policy) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_access_compile_zones(pool, policy);
}


static ngx_int_t
ngx_svc_access_compile_space(ngx_pool_t *pool, ngx_svc_access_policy_t *policy,
    ngx_uint_t family, ngx_svc_access_space_t *space)
{
    ngx_int_t                  rc;
    ngx_uint_t                 i, j, n;
    ngx_svc_access_rule_t     *rule;
    ngx_svc_access_edge_t     *edges;

    n = 0;

    for (i = 0; i < policy->nrules; i++) {
        n += policy->rules[i].nnetworks;
    }

    edges = ngx_alloc((2 * n + 1) * sizeof(ngx_svc_access_edge_t), pool->log);
    if (edges == NULL) {
        return NGX_ERROR;
    }

    n = 0;

    for (i = 0; i < policy->nrules; i++) {
        rule = &policy->rules[i];

        for (j = 0; j < rule->nnetworks; j++) {
            if (rule->networks[j].cidr.addr.family == family) {
                n += ngx_svc_access_edges(&edges[n], i,
                                          &rule->networks[j].cidr);
            }
        }
    }

    rc = ngx_svc_access_sweep(pool, policy, edges, n, space);

    ngx_free(edges);

    return rc;
}


/*
 * Returns how many edges a network has: two, or one if it ends with the last
 * address of all.
 */

static ngx_uint_t
ngx_svc_access_edges(ngx_svc_access_edge_t *edges, ngx_uint_t rule,
    const ngx_svc_cidr_t *cidr)
{
    uint64_t                 step;
    ngx_svc_access_point_t  *end;

    edges[0].at = ngx_svc_access_point(&cidr->addr);
    edges[0].rule = (uint32_t) rule;
    edges[0].step = 1;

    edges[1].at = edges[0].at;
    edges[1].rule = (uint32_t) rule;
    edges[1].step = -1;

    end = &edges[1].at;

    if (cidr->addr.family == AF_INET) {
        end->high += (uint64_t) 1 << (32 - cidr->bits);

        return end->high > UINT32_MAX ? 1 : 2;
    }

    if (cidr->bits == 0) {
        return 1;
    }

    if (cidr->bits <= 64) {
        end->high += (uint64_t) 1 << (64 - cidr->bits);

    } else {
        step = (uint64_t) 1 << (128 - cidr->bits);
        end->low += step;
        end->high += end->low < step;
    }

    return end->high == 0 && end->low == 0 ? 1 : 2;
}


static ngx_int_t
ngx_svc_access_sweep(ngx_pool_t *pool, ngx_svc_access_policy_t *policy,
    ngx_svc_access_edge_t *edges, ngx_uint_t n, ngx_svc_access_space_t *space)
{
    ngx_uint_t              i, nparts, depths[NGX_SVC_ACCESS_RULES];
    ngx_svc_access_set_t    set;
    ngx_svc_access_point_t  at;

    ngx_qsort(edges, n, sizeof(ngx_svc_access_edge_t),
              ngx_svc_access_cmp_edges);

    nparts = 1 + (n > 0);

    for (i = 1; i < n; i++) {
        nparts += ngx_svc_access_cmp_edges(&edges[i - 1], &edges[i]) != 0;
    }

    space->starts = ngx_svc_access_alloc(pool, policy,
                                    nparts * sizeof(ngx_svc_access_point_t));
    space->sets = ngx_svc_access_alloc(pool, policy,
                                       nparts * sizeof(ngx_svc_access_set_t));

    if (space->starts == NULL || space->sets == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(depths, sizeof(depths));
    ngx_memzero(&set, sizeof(ngx_svc_access_set_t));
    ngx_memzero(&at, sizeof(ngx_svc_access_point_t));

    space->starts[0] = at;
    space->sets[0] = set;
    space->n = 1;

    for (i = 0; i < n; i++) {

        if (ngx_svc_access_point_cmp(&edges[i].at, &at) != 0) {
            at = edges[i].at;
            space->starts[space->n++] = at;
        }

        ngx_svc_access_step(&edges[i], depths, &set);
        space->sets[space->n - 1] = set;
    }

    return NGX_OK;
}


/* depths: how many networks of each rule contain the point. */

static void
ngx_svc_access_step(const ngx_svc_access_edge_t *edge, ngx_uint_t *depths,
    ngx_svc_access_set_t *set)
{
    depths[edge->rule] += edge->step;

    if (depths[edge->rule]) {
        ngx_svc_access_set_add(set, edge->rule);

    } else {
        ngx_svc_access_set_remove(set, edge->rule);
    }
}


static ngx_int_t
ngx_svc_access_compile_countries(ngx_pool_t *pool,
    ngx_svc_access_policy_t *policy)
{
    ngx_uint_t              i, j, n;
    ngx_svc_access_rule_t  *rule;
    ngx_svc_access_set_t   *sets, none;

    n = 0;
    ngx_memzero(&none, sizeof(ngx_svc_access_set_t));

    for (i = 0; i < policy->nrules; i++) {
        rule = &policy->rules[i];
        n += rule->ncountries;

        if (rule->ncountries == 0) {
            ngx_svc_access_set_add(&none, i);
        }
    }

    if (n == 0) {
        return NGX_OK;
    }

    sets = ngx_svc_access_alloc(pool, policy, NGX_SVC_ACCESS_CODES
                                              * sizeof(ngx_svc_access_set_t));
    if (sets == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_SVC_ACCESS_CODES; i++) {
        sets[i] = none;
    }

    for (i = 0; i < policy->nrules; i++) {
        rule = &policy->rules[i];

        for (j = 0; j < rule->ncountries; j++) {
            n = ngx_svc_access_code(&rule->countries[2 * j]);
            ngx_svc_access_set_add(&sets[n], i);
        }
    }

    policy->countries = sets;

    return NGX_OK;
}


/* Collects the distinct zones, and sets the index of each window's zone. */

static ngx_int_t
ngx_svc_access_compile_zones(ngx_pool_t *pool, ngx_svc_access_policy_t *policy)
{
    ngx_uint_t                i, j, k, n;
    ngx_svc_access_rule_t    *rule;
    ngx_svc_access_window_t  *window;

    n = 0;

    for (i = 0; i < policy->nrules; i++) {
        n += policy->rules[i].nwindows;
    }

    if (n == 0) {
        return NGX_OK;
    }

    policy->zones = ngx_svc_access_alloc(pool, policy,
                                         n * sizeof(ngx_svc_zone_t *));
    if (policy->zones == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < policy->nrules; i++) {
        rule = &policy->rules[i];

        for (j = 0; j < rule->nwindows; j++) {
            window = &rule->windows[j];

            for (k = 0; k < policy->nzones; k++) {
                if (policy->zones[k] == window->zone) {
                    break;
                }
            }

            if (k == policy->nzones) {
                policy->zones[policy->nzones++] = window->zone;
            }

            window->index = k;
        }
    }

    return NGX_OK;
}


static int ngx_libc_cdecl
ngx_svc_access_cmp_edges(const void *one, const void *two)
{
    const ngx_svc_access_edge_t  *first = one;
    const ngx_svc_access_edge_t  *second = two;

    return (int) ngx_svc_access_point_cmp(&first->at, &second->at);
}
