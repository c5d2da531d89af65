/*
 * Bodies of plan and apply, as bytes: an accepted one is written in a form that
 * is read as the same bundle, and written again as the same text.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_admin_plan.h"
#include "ngx_svc_zone_load.h"


static ngx_int_t fuzz_bundle(ngx_pool_t *pool, ngx_str_t *text,
    ngx_svc_admin_bundle_t *bundle);
static ngx_str_t fuzz_canonical(ngx_pool_t *pool,
    ngx_svc_admin_bundle_t *bundle);
static void fuzz_sorted(ngx_svc_admin_bundle_t *bundle);
static void fuzz_same(ngx_pool_t *pool, ngx_svc_admin_bundle_t *a,
    ngx_svc_admin_bundle_t *b);
static void fuzz_plan(ngx_pool_t *pool, ngx_svc_admin_bundle_t *live,
    ngx_svc_admin_bundle_t *candidate);


static ngx_svc_zones_t  *zones;


void
fuzz_init(void)
{
    static ngx_pool_t  *pool;
    static ngx_str_t    directory = ngx_string("/usr/share/zoneinfo/Etc");

    pool = fuzz_pool(4096);

    zones = ngx_svc_zones_load(pool, &directory, ngx_env_log());
    fuzz_assert(zones != NULL);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t                text, first, second;
    ngx_pool_t              *pool;
    ngx_svc_admin_bundle_t   one, two, none;

    pool = fuzz_pool(1024);

    text.data = (u_char *) data;
    text.len = size;

    if (fuzz_bundle(pool, &text, &one) == NGX_OK) {

        fuzz_sorted(&one);

        first = fuzz_canonical(pool, &one);
        fuzz_assert(fuzz_bundle(pool, &first, &two) == NGX_OK);

        second = fuzz_canonical(pool, &two);
        fuzz_assert(first.len == second.len);
        fuzz_assert(memcmp(first.data, second.data, first.len) == 0);

        fuzz_same(pool, &one, &two);

        ngx_str_set(&text, "{\"version\":1,\"accessPolicy\":{\"rules\":[],"
                           "\"defaultAction\":\"mfa\"},"
                           "\"groupPasswordPolicies\":[],\"roles\":[]}");
        fuzz_assert(fuzz_bundle(pool, &text, &none) == NGX_OK);

        fuzz_plan(pool, &none, &one);
        fuzz_plan(pool, &one, &none);
    }

    ngx_destroy_pool(pool);

    return 0;
}


static ngx_int_t
fuzz_bundle(ngx_pool_t *pool, ngx_str_t *text, ngx_svc_admin_bundle_t *bundle)
{
    cJSON            *json;
    ngx_int_t         rc;
    ngx_svc_error_t   err;

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    if (ngx_svc_json_parse(pool, text, &json, &err) != NGX_OK) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_admin_bundle_parse(pool, zones, json, bundle, &err);

    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED);
    fuzz_assert((rc == NGX_OK) == (err.kind == NGX_SVC_E_NONE));
    fuzz_assert(rc == NGX_OK || err.len > 0);
    fuzz_assert(err.len <= NGX_SVC_ERROR_DETAIL);

    return rc;
}


static ngx_str_t
fuzz_canonical(ngx_pool_t *pool, ngx_svc_admin_bundle_t *bundle)
{
    ngx_str_t              text;
    ngx_svc_json_writer_t  w;

    fuzz_assert(ngx_svc_json_writer_init(&w, pool, 64) == NGX_OK);

    ngx_svc_admin_bundle_write(&w, bundle);
    fuzz_assert(!w.failed);

    text.data = w.start;
    text.len = w.last - w.start;

    return text;
}


/* Tests that they are sorted, without equal keys. */

static void
fuzz_sorted(ngx_svc_admin_bundle_t *bundle)
{
    ngx_uint_t                        i;
    ngx_svc_admin_bundle_role_t      *role;
    ngx_svc_admin_bundle_override_t  *override;

    role = bundle->roles.elts;

    for (i = 1; i < bundle->roles.nelts; i++) {
        fuzz_assert(ngx_svc_admin_bundle_compare(&role[i - 1].key,
                                                 &role[i].key) < 0);
    }

    override = bundle->overrides.elts;

    for (i = 1; i < bundle->overrides.nelts; i++) {
        fuzz_assert(ngx_svc_admin_bundle_compare(&override[i - 1].group_id,
                                                 &override[i].group_id) < 0);
    }
}


static void
fuzz_same(ngx_pool_t *pool, ngx_svc_admin_bundle_t *a,
    ngx_svc_admin_bundle_t *b)
{
    ngx_svc_admin_plan_t  plan;

    ngx_memzero(&plan, sizeof(ngx_svc_admin_plan_t));

    plan.live = a;
    plan.candidate = b;

    fuzz_assert(ngx_svc_admin_plan_make(pool, &plan) == NGX_OK);
    fuzz_assert(plan.changes.nelts == 0);
}


/* Each plan can be written, and is JSON. */

static void
fuzz_plan(ngx_pool_t *pool, ngx_svc_admin_bundle_t *live,
    ngx_svc_admin_bundle_t *candidate)
{
    cJSON                  *json;
    ngx_str_t               text;
    ngx_svc_error_t         err;
    ngx_svc_admin_plan_t    plan;
    ngx_svc_json_writer_t   w;

    static ngx_str_t        revision = ngx_string("1");

    ngx_memzero(&plan, sizeof(ngx_svc_admin_plan_t));
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    plan.live = live;
    plan.candidate = candidate;
    plan.caller.addr.family = AF_INET;

    fuzz_assert(ngx_svc_admin_plan_make(pool, &plan) == NGX_OK);
    fuzz_assert(ngx_svc_json_writer_init(&w, pool, 64) == NGX_OK);

    ngx_svc_admin_plan_write(&w, &plan, 1, &revision);
    fuzz_assert(!w.failed);

    text.data = w.start;
    text.len = w.last - w.start;

    fuzz_assert(ngx_svc_json_parse(pool, &text, &json, &err) == NGX_OK);
}
