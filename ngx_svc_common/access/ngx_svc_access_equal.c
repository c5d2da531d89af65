/*
 * The comparison of access policies.
 */

#include "ngx_svc_access_equal.h"
#include "ngx_svc_access_policy.h"


/* The members of two rules that differ in meaning. */

#define NGX_SVC_ACCESS_RULE_NAME       0x01
#define NGX_SVC_ACCESS_RULE_ENABLED    0x02
#define NGX_SVC_ACCESS_RULE_ACTION     0x04
#define NGX_SVC_ACCESS_RULE_NETWORKS   0x08
#define NGX_SVC_ACCESS_RULE_COUNTRIES  0x10
#define NGX_SVC_ACCESS_RULE_WINDOWS    0x20


static ngx_uint_t ngx_svc_access_rule_differs(const ngx_svc_access_rule_t *a,
    const ngx_svc_access_rule_t *b);
static void ngx_svc_access_rule_paths(ngx_uint_t i, ngx_uint_t mask,
    ngx_svc_access_path_pt handler, void *data);
static ngx_uint_t ngx_svc_access_equal_countries(
    const ngx_svc_access_rule_t *a, const ngx_svc_access_rule_t *b);
static ngx_uint_t ngx_svc_access_equal_networks(
    const ngx_svc_access_rule_t *a, const ngx_svc_access_rule_t *b);
static ngx_uint_t ngx_svc_access_sorted_networks(
    const ngx_svc_access_rule_t *rule, const ngx_svc_cidr_t **cidrs);
static int ngx_libc_cdecl ngx_svc_access_cmp_cidrs(const void *one,
    const void *two);
static ngx_uint_t ngx_svc_access_within_windows(
    const ngx_svc_access_rule_t *a, const ngx_svc_access_rule_t *b);


/* The names of these members, in the order of their bits. */

static const char *const  ngx_svc_access_rule_members[] = {
    "name", "enabled", "action", "networks", "countries", "timeWindows", NULL
};


ngx_uint_t
ngx_svc_access_equal(const ngx_svc_access_policy_t *a,
    const ngx_svc_access_policy_t *b)
{
    ngx_uint_t  i;

    if (a->nrules != b->nrules || a->action != b->action) {
        return 0;
    }

    for (i = 0; i < a->nrules; i++) {
        if (ngx_svc_access_rule_differs(&a->rules[i], &b->rules[i])) {
            return 0;
        }
    }

    return 1;
}


void
ngx_svc_access_differences(const ngx_svc_access_policy_t *a,
    const ngx_svc_access_policy_t *b, ngx_uint_t members,
    ngx_svc_access_path_pt handler, void *data)
{
    u_char      *p, path[NGX_SVC_ACCESS_PATH];
    ngx_uint_t   i, n, mask, any;

    n = ngx_max(a->nrules, b->nrules);
    any = 0;

    for (i = 0; i < n; i++) {

        if (i < a->nrules && i < b->nrules) {
            mask = ngx_svc_access_rule_differs(&a->rules[i], &b->rules[i]);
            any |= mask;

            if (!members) {
                ngx_svc_access_rule_paths(i, mask, handler, data);
            }

            continue;
        }

        any = 1;

        if (!members) {
            p = ngx_sprintf(path, "rules[%ui]", i);
            handler(data, path, p - path);
        }
    }

    if (members && any) {
        handler(data, (u_char *) "rules", sizeof("rules") - 1);
    }

    if (a->action != b->action) {
        handler(data, (u_char *) "defaultAction",
                sizeof("defaultAction") - 1);
    }
}


static void
ngx_svc_access_rule_paths(ngx_uint_t i, ngx_uint_t mask,
    ngx_svc_access_path_pt handler, void *data)
{
    u_char      *p, path[NGX_SVC_ACCESS_PATH];
    ngx_uint_t   m;

    for (m = 0; ngx_svc_access_rule_members[m]; m++) {

        if (mask & (1 << m)) {
            p = ngx_sprintf(path, "rules[%ui].%s", i,
                            ngx_svc_access_rule_members[m]);
            handler(data, path, p - path);
        }
    }
}


static ngx_uint_t
ngx_svc_access_rule_differs(const ngx_svc_access_rule_t *a,
    const ngx_svc_access_rule_t *b)
{
    ngx_uint_t  mask;

    mask = 0;

    if (a->name.len != b->name.len
        || ngx_memcmp(a->name.data, b->name.data, a->name.len) != 0)
    {
        mask |= NGX_SVC_ACCESS_RULE_NAME;
    }

    if (a->enabled != b->enabled) {
        mask |= NGX_SVC_ACCESS_RULE_ENABLED;
    }

    if (a->action != b->action) {
        mask |= NGX_SVC_ACCESS_RULE_ACTION;
    }

    if (!ngx_svc_access_equal_networks(a, b)) {
        mask |= NGX_SVC_ACCESS_RULE_NETWORKS;
    }

    if (!ngx_svc_access_equal_countries(a, b)) {
        mask |= NGX_SVC_ACCESS_RULE_COUNTRIES;
    }

    if (!ngx_svc_access_within_windows(a, b)
        || !ngx_svc_access_within_windows(b, a))
    {
        mask |= NGX_SVC_ACCESS_RULE_WINDOWS;
    }

    return mask;
}


static ngx_uint_t
ngx_svc_access_equal_countries(const ngx_svc_access_rule_t *a,
    const ngx_svc_access_rule_t *b)
{
    u_char      seen[NGX_SVC_ACCESS_CODES];
    ngx_uint_t  i, code;

    ngx_memzero(seen, sizeof(seen));

    for (i = 0; i < a->ncountries; i++) {
        seen[ngx_svc_access_code(&a->countries[2 * i])] = 1;
    }

    for (i = 0; i < b->ncountries; i++) {
        code = ngx_svc_access_code(&b->countries[2 * i]);

        if (seen[code] == 0) {
            return 0;
        }

        seen[code] = 2;
    }

    for (i = 0; i < a->ncountries; i++) {
        if (seen[ngx_svc_access_code(&a->countries[2 * i])] != 2) {
            return 0;
        }
    }

    return 1;
}


static ngx_uint_t
ngx_svc_access_equal_networks(const ngx_svc_access_rule_t *a,
    const ngx_svc_access_rule_t *b)
{
    ngx_uint_t             i, n;
    const ngx_svc_cidr_t  *first[NGX_SVC_ACCESS_NETWORKS];
    const ngx_svc_cidr_t  *second[NGX_SVC_ACCESS_NETWORKS];

    n = ngx_svc_access_sorted_networks(a, first);

    if (n != ngx_svc_access_sorted_networks(b, second)) {
        return 0;
    }

    for (i = 0; i < n; i++) {
        if (ngx_svc_access_cmp_cidrs(&first[i], &second[i]) != 0) {
            return 0;
        }
    }

    return 1;
}


/* Sorts the networks, and returns how many there are without duplicates. */

static ngx_uint_t
ngx_svc_access_sorted_networks(const ngx_svc_access_rule_t *rule,
    const ngx_svc_cidr_t **cidrs)
{
    ngx_uint_t  i, n;

    if (rule->nnetworks == 0) {
        return 0;
    }

    for (i = 0; i < rule->nnetworks; i++) {
        cidrs[i] = &rule->networks[i].cidr;
    }

    ngx_qsort(cidrs, i, sizeof(ngx_svc_cidr_t *), ngx_svc_access_cmp_cidrs);

    n = 0;

    for (i = 0; i < rule->nnetworks; i++) {
        if (n == 0 || ngx_svc_access_cmp_cidrs(&cidrs[n - 1], &cidrs[i]) != 0)
        {
            cidrs[n++] = cidrs[i];
        }
    }

    return n;
}


static int ngx_libc_cdecl
ngx_svc_access_cmp_cidrs(const void *one, const void *two)
{
    const ngx_svc_cidr_t  *first, *second;

    first = *(const ngx_svc_cidr_t *const *) one;
    second = *(const ngx_svc_cidr_t *const *) two;

    if (first->addr.family != second->addr.family) {
        return first->addr.family < second->addr.family ? -1 : 1;
    }

    if (first->bits != second->bits) {
        return first->bits < second->bits ? -1 : 1;
    }

    return ngx_memcmp(first->addr.bytes, second->addr.bytes,
                      sizeof(first->addr.bytes));
}


/* Returns 1 if each window of a is one of b's; there are few windows. */

static ngx_uint_t
ngx_svc_access_within_windows(const ngx_svc_access_rule_t *a,
    const ngx_svc_access_rule_t *b)
{
    ngx_uint_t                      i, j;
    const ngx_str_t                *first, *second;
    const ngx_svc_access_window_t  *one, *two;

    for (i = 0; i < a->nwindows; i++) {
        one = &a->windows[i];
        first = ngx_svc_zone_name(one->zone);

        for (j = 0; j < b->nwindows; j++) {
            two = &b->windows[j];
            second = ngx_svc_zone_name(two->zone);

            if (one->start == two->start
                && one->end == two->end
                && one->mask == two->mask
                && first->len == second->len
                && ngx_memcmp(first->data, second->data, first->len) == 0)
            {
                break;
            }
        }

        if (j == b->nwindows) {
            return 0;
        }
    }

    return 1;
}
