/*
 * Evaluates access policies, for comparison with another program: lines of
 * JSON in, lines of results out.
 *
 *   {"rules":[...],"defaultAction":"..."}    a policy; out: "some -1", or
 *                                            "none <index>" if it denies all
 *   {"address":"...","country":"FR"|null,"now":1700000000}
 *                                            out: "<action> <rule's index>"
 *   {"zone":"Europe/Paris","at":[0,...]}     out: the offset at each time
 *
 * Any other line ends the program, with a message.
 */

#include "ngx_env.h"
#include "ngx_svc_access.h"
#include "ngx_svc_access_eval.h"
#include "ngx_svc_access_lockout.h"
#include "ngx_svc_zone_load.h"


#define EVAL_LINE  (1024 * 1024)


static ngx_pool_t  *eval_pool(ngx_pool_t *pool);
static void eval_policy(const ngx_svc_zones_t *zones, cJSON *json);
static void eval_case(cJSON *json);
static void eval_zone(const ngx_svc_zones_t *zones, cJSON *json);
static void eval_fail(const char *what, ngx_svc_error_t *err);


static ngx_pool_t               *policy_pool;
static ngx_svc_access_policy_t  *policy;
static u_char                    line[EVAL_LINE];
static ngx_uint_t                nline;


int
main(int argc, char **argv)
{
    cJSON            *json;
    ngx_str_t         text, directory;
    ngx_pool_t       *pool, *zone_pool;
    ngx_svc_error_t   err;
    ngx_svc_zones_t  *zones;

    ngx_env_init();
    ngx_svc_json_init();

    directory.data = (u_char *) (argc > 1 ? argv[1] : "/usr/share/zoneinfo");
    directory.len = strlen((char *) directory.data);

    zone_pool = eval_pool(NULL);
    zones = ngx_svc_zones_load(zone_pool, &directory, ngx_env_log());
    if (zones == NULL) {
        return 1;
    }

    pool = eval_pool(NULL);

    while (fgets((char *) line, sizeof(line), stdin) != NULL) {
        nline++;

        text.data = line;
        text.len = strlen((char *) line);
        err.kind = NGX_SVC_E_NONE;

        pool = eval_pool(pool);

        if (ngx_svc_json_parse(pool, &text, &json, &err) != NGX_OK) {
            eval_fail("no JSON", &err);
        }

        if (cJSON_GetObjectItem(json, "rules")) {
            eval_policy(zones, json);

        } else if (cJSON_GetObjectItem(json, "zone")) {
            eval_zone(zones, json);

        } else {
            eval_case(json);
        }
    }

    ngx_destroy_pool(pool);

    if (policy_pool) {
        ngx_destroy_pool(policy_pool);
    }

    ngx_destroy_pool(zone_pool);

    return fflush(stdout) == 0 ? 0 : 1;
}


static ngx_pool_t *
eval_pool(ngx_pool_t *pool)
{
    if (pool) {
        ngx_destroy_pool(pool);
    }

    pool = ngx_create_pool(65536, ngx_env_log());
    if (pool == NULL) {
        abort();
    }

    return pool;
}


static void
eval_policy(const ngx_svc_zones_t *zones, cJSON *json)
{
    ngx_int_t         rule;
    ngx_uint_t        none;
    ngx_svc_error_t   err;

    err.kind = NGX_SVC_E_NONE;

    policy_pool = eval_pool(policy_pool);

    if (ngx_svc_access_parse(policy_pool, zones, json, "", 0, &policy, &err)
        != NGX_OK)
    {
        eval_fail("no policy", &err);
    }

    none = ngx_svc_access_denies_all(policy, &rule);

    printf("%s %d\n", none ? "none" : "some", none ? (int) rule : -1);
}


static void
eval_case(cJSON *json)
{
    cJSON                     *address, *country, *now;
    const char                *text;
    ngx_svc_addr_t             addr;
    ngx_svc_access_result_t    result;
    ngx_svc_access_country_t   code;

    address = cJSON_GetObjectItem(json, "address");
    country = cJSON_GetObjectItem(json, "country");
    now = cJSON_GetObjectItem(json, "now");

    if (policy == NULL || !cJSON_IsString(address) || !cJSON_IsNumber(now)) {
        eval_fail("no case", NULL);
    }

    text = address->valuestring;

    if (ngx_svc_addr_parse((u_char *) text, strlen(text), &addr) != NGX_OK) {
        eval_fail("no address", NULL);
    }

    ngx_memzero(&code, sizeof(code));

    if (cJSON_IsString(country) && strlen(country->valuestring) == 2) {
        ngx_memcpy(code.code, country->valuestring, 2);
    }

    result = ngx_svc_access_evaluate(policy, &addr, code,
                                     (int64_t) now->valuedouble);

    printf("%s %d\n", ngx_svc_access_action(result.action)->data,
           (int) result.rule);
}


static void
eval_zone(const ngx_svc_zones_t *zones, cJSON *json)
{
    cJSON                 *at;
    const char            *name;
    const ngx_svc_zone_t  *zone;

    name = cJSON_GetStringValue(cJSON_GetObjectItem(json, "zone"));

    zone = name ? ngx_svc_zone_find(zones, (u_char *) name, strlen(name))
                : NULL;
    if (zone == NULL) {
        eval_fail("no zone", NULL);
    }

    cJSON_ArrayForEach(at, cJSON_GetObjectItem(json, "at")) {
        printf("%s %d\n", name,
               (int) ngx_svc_zone_offset(zone, (int64_t) at->valuedouble));
    }
}


static void
eval_fail(const char *what, ngx_svc_error_t *err)
{
    fprintf(stderr, "line %u: %s", (unsigned) nline, what);

    if (err) {
        fprintf(stderr, ": %.*s", (int) err->len, err->detail);
    }

    fprintf(stderr, "\n");
    exit(1);
}
