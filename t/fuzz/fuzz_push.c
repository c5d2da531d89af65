/*
 * Resources and lists of a SCIM target, as bytes.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_json_check.h"
#include "ngx_svc_push_patch.h"
#include "ngx_svc_push_write.h"


static void fuzz_read(const cJSON *json, const ngx_svc_push_want_t *want);
static void fuzz_merge(ngx_pool_t *pool, const cJSON *json,
    const ngx_svc_push_want_t *want);


static ngx_svc_push_want_t  fuzz_wants[] = {
    { .id = ngx_string("1-2"), .user_name = ngx_string("a@b.c"),
      .given_name = ngx_string("A"), .department = ngx_string("R"),
      .active = 1 },
    { .id = ngx_string("1-2"), .user_name = ngx_string("a@b.c"),
      .display_name = ngx_string("x"), .title = ngx_string("t"),
      .active = 1 },
    { .id = ngx_string("1-2"), .gone = 1 }
};


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON            *json;
    ngx_str_t         text;
    ngx_uint_t        i;
    ngx_pool_t       *pool;
    ngx_svc_error_t   err;

    pool = fuzz_pool(1024);

    text.data = ngx_pnalloc(pool, size + 1);
    text.len = size;
    memcpy(text.data, data, size);

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    if (ngx_svc_json_parse(pool, &text, &json, &err) == NGX_OK) {
        for (i = 0; i < sizeof(fuzz_wants) / sizeof(fuzz_wants[0]); i++) {
            fuzz_read(json, &fuzz_wants[i]);
            fuzz_merge(pool, json, &fuzz_wants[i]);
        }
    }

    ngx_destroy_pool(pool);

    return 0;
}


static void
fuzz_read(const cJSON *json, const ngx_svc_push_want_t *want)
{
    size_t        i;
    ngx_str_t     id;
    const cJSON  *resource;

    if (ngx_svc_push_read_id(json, &id) == NGX_OK) {
        fuzz_assert(id.len && id.len <= NGX_SVC_PUSH_ID);

        for (i = 0; i < id.len; i++) {
            fuzz_assert(id.data[i] >= 0x20);
        }
    }

    if (ngx_svc_push_read_find(json, want, NGX_SVC_PUSH_BY_NAME, &resource)) {
        fuzz_assert(want->user_name.len);
        fuzz_assert(ngx_svc_push_read_is(resource, "userName",
                                         &want->user_name, 0));
    }

    if (ngx_svc_push_read_find(json, want, NGX_SVC_PUSH_BY_ID, &resource)) {
        fuzz_assert(ngx_svc_push_read_is(resource, "externalId", &want->id, 1));
    }
}


/* After merging, the resource does not differ from the wanted one. */

static void
fuzz_merge(ngx_pool_t *pool, const cJSON *json,
    const ngx_svc_push_want_t *want)
{
    cJSON            *merged;
    ngx_str_t         body;
    ngx_int_t         rc;
    ngx_svc_error_t   err;

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    rc = ngx_svc_push_patch(pool, want, json, &body);

    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED);
    fuzz_assert(rc == NGX_DECLINED
                || ngx_svc_json_check(body.data, body.len, &err) == NGX_OK);

    fuzz_assert(ngx_svc_push_write_merged(pool, want, json, &body) == NGX_OK);
    fuzz_assert(ngx_svc_json_check(body.data, body.len, &err) == NGX_OK);

    if (ngx_svc_json_parse(pool, &body, &merged, &err) == NGX_OK) {
        fuzz_assert(ngx_svc_push_patch(pool, want, merged, &body)
                    == NGX_DECLINED);
    }
}
