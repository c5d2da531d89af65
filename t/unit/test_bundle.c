/*
 * Config bundles: reading, comparing and writing them; and memory that runs out
 * meanwhile.
 */

#include "ngx_unit.h"
#include "ngx_svc_admin_plan.h"
#include "ngx_svc_zone_load.h"


#define ACCESS(rules, action)                                                 \
    "{\"version\":1,\"accessPolicy\":{\"rules\":[" rules "],"                 \
    "\"defaultAction\":\"" action "\"}}"
#define RULE(name, more)                                                      \
    "{\"name\":\"" name "\",\"action\":\"mfa\"" more "}"
#define MONDAY(more)                                                          \
    "{\"days\":[\"mon\"],\"start\":\"01:00\",\"end\":\"02:00\","              \
    "\"timezone\":\"UTC\"" more "}"
#define GROUP  "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6"


typedef struct {
    const char  *live;
    const char  *candidate;
    const char  *changes;       /* of the plan, with paths */
} row_t;


static ngx_svc_zones_t  *zones;


static const row_t  rows[] = {

    { ACCESS("", "allow"), ACCESS("", "allow"), "" },
    { ACCESS("", "allow"), ACCESS("", "deny"), "accessPolicy:defaultAction" },
    { ACCESS(RULE("a", ""), "mfa"), ACCESS("", "mfa"),
      "accessPolicy:rules[0]" },
    { ACCESS("", "mfa"), ACCESS(RULE("a", "") "," RULE("b", ""), "mfa"),
      "accessPolicy:rules[0],rules[1]" },
    { ACCESS(RULE("a", "") "," RULE("b", ""), "mfa"),
      ACCESS(RULE("b", "") "," RULE("a", ""), "mfa"),
      "accessPolicy:rules[0].name,rules[1].name" },
    { ACCESS(RULE("a", ""), "mfa"),
      ACCESS(RULE("a", ",\"enabled\":true,\"networks\":[],\"countries\":[],"
                       "\"timeWindows\":[]"), "mfa"), "" },
    { ACCESS(RULE("a", ""), "mfa"),
      ACCESS(RULE("a", ",\"enabled\":false"), "mfa"),
      "accessPolicy:rules[0].enabled" },
    { ACCESS(RULE("a", ",\"networks\":[\"10.0.0.0/8\",\"::1\"]"), "mfa"),
      ACCESS(RULE("a", ",\"networks\":[\"::1/128\",\"10.9.9.9/8\",\"::1\"]"),
             "mfa"), "" },
    { ACCESS(RULE("a", ",\"networks\":[\"10.0.0.0/8\"]"), "mfa"),
      ACCESS(RULE("a", ",\"networks\":[\"10.0.0.0/9\"],\"countries\":[\"fr\"]"),
             "mfa"),
      "accessPolicy:rules[0].networks,rules[0].countries" },
    { ACCESS(RULE("a", ",\"countries\":[\"fr\",\"DE\"]"), "mfa"),
      ACCESS(RULE("a", ",\"countries\":[\"DE\",\"FR\",\"de\"]"), "mfa"), "" },
    { ACCESS(RULE("a", ",\"timeWindows\":[" MONDAY("") "]"), "mfa"),
      ACCESS(RULE("a", ",\"timeWindows\":[" MONDAY("") "," MONDAY("") "]"),
             "mfa"), "" },
    { ACCESS(RULE("a", ",\"timeWindows\":[" MONDAY("") "]"), "mfa"),
      ACCESS(RULE("a", ""), "mfa"), "accessPolicy:rules[0].timeWindows" },

    { "{\"version\":1,\"riskPolicy\":{\"enabled\":true,\"mfaThreshold\":1,"
      "\"denyThreshold\":9}}",
      "{\"version\":1,\"riskPolicy\":{\"denyThreshold\":8,\"mfaThreshold\":1,"
      "\"enabled\":false}}", "riskPolicy:enabled,denyThreshold" },

    { "{\"version\":1,\"groupPasswordPolicies\":["
      "{\"groupId\":\"" GROUP "b\",\"minLength\":9},"
      "{\"groupId\":\"" GROUP "c\",\"minLength\":9},"
      "{\"groupId\":\"" GROUP "a\",\"requireLower\":false}]}",
      "{\"version\":1,\"groupPasswordPolicies\":["
      "{\"groupId\":\"" GROUP "d\",\"maxAgeDays\":0},"
      "{\"groupId\":\"" GROUP "c\",\"minLength\":9,\"maxAgeDays\":0},"
      "{\"groupId\":\"" GROUP "a\",\"requireLower\":false}]}",
      "groupPasswordPolicy:" GROUP "b: groupPasswordPolicy:" GROUP "c:"
      "maxAgeDays groupPasswordPolicy:" GROUP "d:" },

    { "{\"version\":1,\"roles\":["
      "{\"key\":\"bb\",\"name\":\"B\",\"permissions\":[\"users:view\"]},"
      "{\"key\":\"b\\u002d\",\"name\":\"B\",\"permissions\":[]},"
      "{\"key\":\"aa\",\"name\":\"A\",\"permissions\":[]}]}",
      "{\"version\":1,\"roles\":["
      "{\"key\":\"bb\",\"name\":\" C \",\"permissions\":[]},"
      "{\"key\":\"bbb\",\"name\":\"B\",\"permissions\":[]},"
      "{\"key\":\"b-\",\"name\":\"B \",\"permissions\":[]}]}",
      "role:aa: role:bb:name,permissions role:bbb:" },

    /* sections that one of them does not have are not compared */

    { "{\"version\":1,\"roles\":[]}", ACCESS("", "mfa"), "" },
};


static ngx_int_t
read_bundle(ngx_pool_t *pool, const char *text, ngx_svc_admin_bundle_t *bundle,
    ngx_svc_error_t *err)
{
    cJSON      *json;
    ngx_int_t   rc;
    ngx_str_t   str;

    str.data = (u_char *) text;
    str.len = strlen(text);
    ngx_memzero(err, sizeof(ngx_svc_error_t));

    rc = ngx_svc_json_parse(pool, &str, &json, err);

    return rc == NGX_OK
           ? ngx_svc_admin_bundle_parse(pool, zones, json, bundle, err) : rc;
}


static ngx_int_t
make_plan(ngx_pool_t *pool, const row_t *row, ngx_svc_admin_bundle_t *live,
    ngx_svc_admin_bundle_t *candidate, ngx_svc_admin_plan_t *plan)
{
    ngx_int_t        rc;
    ngx_svc_error_t  err;

    rc = read_bundle(pool, row->live, live, &err);

    if (rc == NGX_OK) {
        rc = read_bundle(pool, row->candidate, candidate, &err);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    ngx_memzero(plan, sizeof(ngx_svc_admin_plan_t));

    plan->live = live;
    plan->candidate = candidate;
    plan->caller.addr.family = AF_INET;

    return ngx_svc_admin_plan_make(pool, plan);
}


static ngx_int_t
write_plan(ngx_pool_t *pool, const ngx_svc_admin_plan_t *plan,
    ngx_str_t *text)
{
    ngx_svc_json_writer_t  w;

    static ngx_str_t       revision = ngx_string("7");

    if (ngx_svc_json_writer_init(&w, pool, 64) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_admin_plan_write(&w, plan, 1, &revision);

    text->data = w.start;
    text->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


/* Writes the answer as "resource:path,path resource:". */

static void
shorten(ngx_pool_t *pool, ngx_str_t *text, char *p, char *last)
{
    cJSON            *json, *change, *path;
    ngx_svc_error_t   err;

    ngx_memzero(&err, sizeof(ngx_svc_error_t));
    assert_int_equal(ngx_svc_json_parse(pool, text, &json, &err), NGX_OK);

    *p = '\0';

    cJSON_ArrayForEach(change, cJSON_GetObjectItem(json, "changes")) {
        p += snprintf(p, last - p, "%s%s:",
                      change->prev && change->prev->next ? " " : "",
                      cJSON_GetObjectItem(change, "resource")->valuestring);

        cJSON_ArrayForEach(path, cJSON_GetObjectItem(change, "paths")) {
            p += snprintf(p, last - p, "%s%s", p[-1] == ':' ? "" : ",",
                          path->valuestring);
        }
    }

    assert_string_equal(cJSON_GetObjectItem(json, "etag")->valuestring,
                        "\"7\"");
}


static void
test_plan(void **state)
{
    char                    changes[1024];
    ngx_str_t               text;
    ngx_uint_t              i;
    ngx_svc_admin_plan_t    plan;
    ngx_svc_admin_bundle_t  live, candidate;

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(make_plan(*state, &rows[i], &live, &candidate, &plan),
                         NGX_OK);
        assert_int_equal(write_plan(*state, &plan, &text), NGX_OK);

        shorten(*state, &text, changes, changes + sizeof(changes));
        assert_string_equal(changes, rows[i].changes);
    }
}


/* Memory that runs out anywhere is an error. */

static void
test_memory(void **state)
{
    ngx_int_t                rc, n;
    ngx_str_t                text;
    ngx_uint_t               i;
    ngx_pool_t              *pool;
    ngx_svc_admin_plan_t     plan;
    ngx_svc_admin_bundle_t   live, candidate;

    for (i = 0; i < ngx_unit_len(rows); i++) {

        for (n = 0; n < 1000; n++) {
            pool = ngx_create_pool(NGX_MIN_POOL_SIZE, ngx_env_log());
            assert_non_null(pool);

            ngx_env_alloc_limit(n);

            rc = make_plan(pool, &rows[i], &live, &candidate, &plan);

            if (rc == NGX_OK) {
                rc = write_plan(pool, &plan, &text);
            }

            ngx_env_alloc_limit(-1);
            ngx_destroy_pool(pool);

            if (rc == NGX_OK) {
                break;
            }

            assert_int_equal(rc, NGX_ERROR);
        }

        assert_true(n > 0 && n < 1000);
    }
}


int
main(void)
{
    int          rc;
    ngx_str_t    directory = ngx_string("/usr/share/zoneinfo/Etc");
    ngx_pool_t  *pool;

    static const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_plan),
        ngx_unit_test(test_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    pool = ngx_create_pool(4096, ngx_env_log());
    zones = ngx_svc_zones_load(pool, &directory, ngx_env_log());

    if (zones == NULL) {
        return 1;
    }

    rc = cmocka_run_group_tests(tests, NULL, NULL);

    ngx_destroy_pool(pool);

    return rc;
}
