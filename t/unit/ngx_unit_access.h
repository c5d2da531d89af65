/*
 * Access policies for tests: parsed from a text with ' for ", and the system's
 * zones.
 */

#ifndef _NGX_UNIT_ACCESS_H_INCLUDED_
#define _NGX_UNIT_ACCESS_H_INCLUDED_


#include "ngx_unit.h"
#include "ngx_svc_access.h"
#include "ngx_svc_access_write.h"
#include "ngx_svc_zone_load.h"


/* The zones are read once, and never freed. */

static inline const ngx_svc_zones_t *
ngx_unit_zones(void)
{
    ngx_str_t                directory = ngx_string("/usr/share/zoneinfo");

    static ngx_pool_t       *pool;
    static ngx_svc_zones_t  *zones;

    if (pool == NULL) {
        pool = ngx_create_pool(65536, ngx_env_log());
        assert_non_null(pool);

        zones = ngx_svc_zones_load(pool, &directory, ngx_env_log());
    }

    assert_non_null(zones);

    return zones;
}


static inline cJSON *
ngx_unit_json(ngx_pool_t *pool, const char *text)
{
    cJSON            *json;
    ngx_str_t         str;
    ngx_uint_t        i;
    ngx_svc_error_t   err;

    str.len = strlen(text);
    str.data = ngx_pnalloc(pool, str.len);
    assert_non_null(str.data);

    for (i = 0; i < str.len; i++) {
        str.data[i] = text[i] == '\'' ? '"' : (u_char) text[i];
    }

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, &str, &json, &err) != NGX_OK) {
        fail_msg("%s: %.*s", text, (int) err.len, err.detail);
    }

    return json;
}


static inline ngx_svc_access_policy_t *
ngx_unit_policy(ngx_pool_t *pool, const char *text)
{
    ngx_svc_error_t           err;
    ngx_svc_access_policy_t  *policy;

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_access_parse(pool, ngx_unit_zones(), ngx_unit_json(pool, text),
                             "", 1, &policy, &err)
        != NGX_OK)
    {
        fail_msg("%s: %.*s", text, (int) err.len, err.detail);
    }

    return policy;
}


/* Returns what ngx_svc_access_write() writes, as a NUL-terminated object. */

static inline char *
ngx_unit_policy_text(ngx_pool_t *pool, const ngx_svc_access_policy_t *policy)
{
    ngx_svc_json_writer_t  w;

    assert_int_equal(ngx_svc_json_writer_init(&w, pool, 1024), NGX_OK);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_access_write(&w, policy);
    ngx_svc_json_close(&w, '}');
    ngx_svc_json_raw(&w, NULL, (u_char *) "\0", 1);

    assert_false(w.failed);

    /* the writer puts a comma after the object */

    w.last[-2] = '\0';

    return (char *) w.start;
}


#endif /* _NGX_UNIT_ACCESS_H_INCLUDED_ */
