/*
 * Bodies of PATCH, as bytes.
 */

#include "ngx_fuzz_scim.h"


static ngx_int_t fuzz_patch(cJSON *json, ngx_svc_scim_user_t *user);
static void fuzz_ignored(ngx_pool_t *pool, cJSON *json,
    ngx_svc_scim_user_t *user);
static void fuzz_leave(ngx_pool_t *pool, cJSON *json);
static void fuzz_rfc(cJSON *json, ngx_int_t rc, ngx_svc_scim_user_t *user);
static void fuzz_append(ngx_pool_t *pool, cJSON *json, const char *text);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON                *json;
    ngx_int_t             rc;
    ngx_pool_t           *pool;
    ngx_svc_scim_user_t   user;

    /* few enough operations that two can be added */

    if (size > 8192) {
        return 0;
    }

    pool = fuzz_pool(1024);

    json = fuzz_scim_json(pool, data, size);

    if (json) {
        rc = fuzz_patch(json, &user);
        fuzz_rfc(json, rc, &user);

        if (rc == NGX_OK) {
            fuzz_ignored(pool, json, &user);
            fuzz_leave(pool, json);
        }
    }

    ngx_destroy_pool(pool);

    return 0;
}


static ngx_int_t
fuzz_patch(cJSON *json, ngx_svc_scim_user_t *user)
{
    ngx_int_t        rc;
    ngx_svc_error_t  err;

    ngx_memzero(user, sizeof(ngx_svc_scim_user_t));
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    rc = ngx_svc_scim_user_patch(json, user, &err);

    fuzz_assert(!user->user_name.set);

    fuzz_scim_user(rc, user, &err);

    return rc;
}


/* What the strict mode accepts both read the same, except for a userName. */

static void
fuzz_rfc(cJSON *json, ngx_int_t rc, ngx_svc_scim_user_t *user)
{
    size_t                i;
    ngx_svc_error_t       err;
    ngx_svc_value_t      *value, *other;
    ngx_svc_scim_user_t   rfc;

    ngx_memzero(&rfc, sizeof(ngx_svc_scim_user_t));
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    if (ngx_svc_scim_user_rfc_patch(json, &rfc, &err) != NGX_OK) {
        fuzz_assert(err.kind != NGX_SVC_E_NONE);
        return;
    }

    fuzz_assert(rc == NGX_OK);
    fuzz_assert(!rfc.user_name.null);
    fuzz_scim_user(NGX_OK, &rfc, &err);

    value = fuzz_scim_mapped(user);
    other = fuzz_scim_mapped(&rfc);

    for (i = 0; i < fuzz_scim_count; i++, value++, other++) {
        fuzz_assert(value->set == other->set);
        fuzz_assert(value->null == other->null);
        fuzz_assert(value->str.data == other->str.data);
    }
}


/* An operation on an attribute that is not mapped changes nothing. */

static void
fuzz_ignored(ngx_pool_t *pool, cJSON *json, ngx_svc_scim_user_t *user)
{
    size_t                i;
    ngx_svc_value_t      *before, *after;
    ngx_svc_scim_user_t   again;

    fuzz_append(pool, json, "{\"op\":\"Add\",\"path\":"
                            "\"emails[type eq \\\"work\\\"].value\"}");

    fuzz_assert(fuzz_patch(json, &again) == NGX_OK);

    before = fuzz_scim_mapped(user);
    after = fuzz_scim_mapped(&again);

    for (i = 0; i < fuzz_scim_count; i++, before++, after++) {
        fuzz_assert(after->set == before->set);
        fuzz_assert(after->null == before->null);
        fuzz_assert(after->integer == before->integer);
        fuzz_assert(after->str.data == before->str.data);
        fuzz_assert(after->str.len == before->str.len);
    }
}


/* An operation that is accepted does not stop those after it. */

static void
fuzz_leave(ngx_pool_t *pool, cJSON *json)
{
    ngx_svc_scim_user_t  user;

    fuzz_append(pool, json, "{\"op\":\"Replace\",\"path\":\"active\","
                            "\"value\":\"False\"}");

    fuzz_assert(fuzz_patch(json, &user) == NGX_OK);
    fuzz_assert(user.active.set && user.active.integer == 0);
}


static void
fuzz_append(ngx_pool_t *pool, cJSON *json, const char *text)
{
    cJSON  *operation, *operations;

    operation = fuzz_scim_json(pool, text, strlen(text));
    operations = cJSON_GetObjectItem(json, "operations");

    fuzz_assert(operation != NULL);
    fuzz_assert(cJSON_AddItemToArray(operations, operation));
}
