/*
 * Bodies of POST and PUT, as bytes.
 */

#include "ngx_fuzz_scim.h"


static void fuzz_create(cJSON *json, ngx_svc_scim_user_t *user,
    ngx_int_t *created);
static void fuzz_replace(cJSON *json, ngx_svc_scim_user_t *created,
    ngx_int_t rc);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON                *json;
    ngx_int_t             rc;
    ngx_pool_t           *pool;
    ngx_svc_scim_user_t   user;

    pool = fuzz_pool(1024);

    json = fuzz_scim_json(pool, data, size);

    if (json) {
        fuzz_create(json, &user, &rc);
        fuzz_replace(json, &user, rc);
    }

    ngx_destroy_pool(pool);

    return 0;
}


static void
fuzz_create(cJSON *json, ngx_svc_scim_user_t *user, ngx_int_t *created)
{
    u_char           *p;
    ngx_str_t        *str;
    ngx_svc_error_t   err;

    ngx_memzero(user, sizeof(ngx_svc_scim_user_t));
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    *created = ngx_svc_scim_user_create(json, user, &err);

    fuzz_scim_user(*created, user, &err);

    if (*created != NGX_OK) {
        return;
    }

    fuzz_assert(user->user_name.set && !user->user_name.null);

    str = &user->user_name.str;

    fuzz_assert(str->len >= 3 && str->len <= 254);
    fuzz_assert(strpbrk((char *) str->data, " \t\r\n\x7f") == NULL);

    p = (u_char *) strchr((char *) str->data, '@');

    fuzz_assert(p != NULL && p > str->data && p[1] != '\0');
    fuzz_assert(strchr((char *) p + 1, '@') == NULL);
}


/* PUT accepts what POST accepts, reads the same, and clears what is absent. */

static void
fuzz_replace(cJSON *json, ngx_svc_scim_user_t *created, ngx_int_t rc)
{
    size_t                i;
    ngx_int_t             replaced;
    ngx_svc_value_t      *before, *after;
    ngx_svc_error_t       err;
    ngx_svc_scim_user_t   user;

    ngx_memzero(&user, sizeof(ngx_svc_scim_user_t));
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    replaced = ngx_svc_scim_user_replace(json, &user, &err);

    fuzz_assert(!user.user_name.set);

    if (replaced == NGX_OK) {
        /* formatted is cleared, and has no effect any more */
        user.formatted.set = 0;
        user.formatted.null = 0;
    }

    fuzz_scim_user(replaced, &user, &err);

    if (rc == NGX_OK) {
        fuzz_assert(replaced == NGX_OK);
    }

    if (replaced != NGX_OK) {
        return;
    }

    before = fuzz_scim_mapped(created);
    after = fuzz_scim_mapped(&user);

    for (i = 0; i < fuzz_scim_count; i++, before++, after++) {

        if (after == &user.formatted) {
            continue;
        }

        fuzz_assert(after->set || after == &user.active);

        if (rc != NGX_OK) {
            continue;
        }

        if (!before->set) {
            fuzz_assert(after->null || !after->set);
            continue;
        }

        fuzz_assert(after->null == before->null);
        fuzz_assert(after->integer == before->integer);
        fuzz_assert(after->str.data == before->str.data);
    }
}
