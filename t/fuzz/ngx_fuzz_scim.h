/*
 * For the fuzzers of SCIM.
 */

#ifndef _NGX_FUZZ_SCIM_H_INCLUDED_
#define _NGX_FUZZ_SCIM_H_INCLUDED_


#include "ngx_fuzz.h"
#include "ngx_svc_scim_user.h"


#define fuzz_scim_mapped(user)  (&(user)->external_id)
#define fuzz_scim_count                                                       \
    ((sizeof(ngx_svc_scim_user_t)                                             \
      - offsetof(ngx_svc_scim_user_t, external_id)) / sizeof(ngx_svc_value_t))


/*
 * Tests that what is stored is within its limits, and that an error has a
 * message.
 */

static inline void
fuzz_scim_user(ngx_int_t rc, ngx_svc_scim_user_t *user, ngx_svc_error_t *err)
{
    size_t            i;
    ngx_svc_value_t  *value;

    fuzz_assert(err->len <= NGX_SVC_ERROR_DETAIL);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED);
        fuzz_assert(err->kind >= NGX_SVC_E_INVALID_SYNTAX);
        fuzz_assert(err->kind <= NGX_SVC_E_MUTABILITY);
        fuzz_assert(err->len > 0);
        return;
    }

    fuzz_assert(err->kind == NGX_SVC_E_NONE);
    fuzz_assert(!user->active.null);
    fuzz_assert(user->active.integer == 0 || user->active.integer == 1);
    fuzz_assert(user->display_name.set || !user->formatted.set);

    value = fuzz_scim_mapped(user);

    for (i = 0; i < fuzz_scim_count; i++, value++) {

        fuzz_assert(value->set || !value->null);

        if (value == &user->active || !value->set || value->null) {
            continue;
        }

        fuzz_assert(value->str.len > 0 && value->str.len <= 1024);
        fuzz_assert(value->str.len == strlen((char *) value->str.data));
    }
}


/* Parses; returns NULL when it is not a JSON object. */

static inline cJSON *
fuzz_scim_json(ngx_pool_t *pool, const void *data, size_t size)
{
    cJSON            *json;
    ngx_str_t         text;
    ngx_svc_error_t   err;

    text.data = (u_char *) data;
    text.len = size;
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    if (ngx_svc_json_parse(pool, &text, &json, &err) != NGX_OK) {
        return NULL;
    }

    return json;
}


#endif /* _NGX_FUZZ_SCIM_H_INCLUDED_ */
