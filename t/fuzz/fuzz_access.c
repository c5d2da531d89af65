/*
 * An access policy: an accepted one is written, read again as the same, and
 * evaluated as its networks say one by one.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_access.h"
#include "ngx_svc_access_policy.h"
#include "ngx_svc_access_equal.h"
#include "ngx_svc_access_eval.h"
#include "ngx_svc_access_lockout.h"
#include "ngx_svc_access_write.h"
#include "ngx_svc_zone_load.h"


static ngx_svc_access_policy_t *fuzz_again(ngx_pool_t *pool,
    const ngx_svc_access_policy_t *policy, ngx_str_t *text);
static void fuzz_evaluate(const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_policy_t *again);
static void fuzz_address(const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_policy_t *again, const ngx_svc_addr_t *addr);
static ngx_uint_t fuzz_matches(const ngx_svc_access_rule_t *rule,
    const ngx_svc_addr_t *addr, const u_char *code);


static ngx_svc_zones_t  *zones;


void
fuzz_init(void)
{
    ngx_str_t           directory = ngx_string("/usr/share/zoneinfo");

    static ngx_pool_t  *pool;

    pool = fuzz_pool(65536);
    zones = ngx_svc_zones_load(pool, &directory, ngx_env_log());

    fuzz_assert(zones != NULL);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON                    *json;
    ngx_int_t                 rc;
    ngx_str_t                 body, text, second;
    ngx_pool_t               *pool;
    ngx_svc_error_t           err;
    ngx_svc_access_policy_t  *policy, *again;

    pool = fuzz_pool(4096);

    body.data = (u_char *) data;
    body.len = size;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_json_parse(pool, &body, &json, &err);

    if (rc == NGX_OK) {
        rc = ngx_svc_access_parse(pool, zones, json, "accessPolicy",
                                  size % 2, &policy, &err);

        fuzz_assert(rc == (err.kind ? NGX_DECLINED : NGX_OK));
    }

    if (rc == NGX_OK) {
        again = fuzz_again(pool, policy, &text);

        fuzz_assert(ngx_svc_access_equal(policy, policy));
        fuzz_assert(ngx_svc_access_equal(policy, again));
        fuzz_assert(ngx_svc_access_equal(again, policy));

        (void) fuzz_again(pool, again, &second);

        fuzz_assert(text.len == second.len);
        fuzz_assert(memcmp(text.data, second.data, text.len) == 0);

        fuzz_evaluate(policy, again);
    }

    ngx_destroy_pool(pool);

    return 0;
}


static ngx_svc_access_policy_t *
fuzz_again(ngx_pool_t *pool, const ngx_svc_access_policy_t *policy,
    ngx_str_t *text)
{
    cJSON                    *json;
    ngx_svc_error_t           err;
    ngx_svc_json_writer_t     w;
    ngx_svc_access_policy_t  *again;

    fuzz_assert(ngx_svc_json_writer_init(&w, pool, 64) == NGX_OK);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_access_write(&w, policy);
    ngx_svc_json_close(&w, '}');

    fuzz_assert(!w.failed);

    text->data = w.start;
    text->len = w.last - w.start;
    err.kind = NGX_SVC_E_NONE;

    fuzz_assert(ngx_svc_json_parse(pool, text, &json, &err) == NGX_OK);
    fuzz_assert(ngx_svc_access_parse(pool, zones, json, "", 1, &again, &err)
                == NGX_OK);

    return again;
}


/* Evaluates the first address of each network, and the ones next to it. */

static void
fuzz_evaluate(const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_policy_t *again)
{
    ngx_int_t                 rule;
    ngx_uint_t                i, j;
    ngx_svc_addr_t            addr;
    ngx_svc_error_t           err;
    ngx_svc_access_caller_t   caller;

    ngx_memzero(&caller, sizeof(ngx_svc_access_caller_t));
    caller.addr.family = AF_UNSPEC;
    caller.now = 1700000000;
    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_access_lockout(policy, &caller, &err) == NGX_OK) {
        fuzz_assert(!ngx_svc_access_denies_all(policy, &rule));

    } else {
        fuzz_assert(err.kind == NGX_SVC_E_ANTI_LOCKOUT);
        fuzz_assert(err.len < NGX_SVC_ERROR_DETAIL);
    }

    (void) ngx_svc_access_time_limited(policy, &caller);

    fuzz_address(policy, again, &caller.addr);

    for (i = 0; i < policy->nrules; i++) {
        for (j = 0; j < policy->rules[i].nnetworks; j++) {
            addr = policy->rules[i].networks[j].cidr.addr;
            fuzz_address(policy, again, &addr);

            addr.bytes[addr.family == AF_INET ? 3 : 15] ^= 1;
            fuzz_address(policy, again, &addr);

            addr.bytes[0] ^= 0x80;
            fuzz_address(policy, again, &addr);
        }
    }
}


static void
fuzz_address(const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_policy_t *again, const ngx_svc_addr_t *addr)
{
    int64_t                   now;
    ngx_uint_t                i, n;
    ngx_svc_access_result_t   one, two;
    ngx_svc_access_country_t  country;

    static const int64_t      times[] = {
        -1, 1700000000, 1711846800, 4102444799
    };

    ngx_memcpy(country.code, (addr->bytes[0] & 1) ? "FR" : "\0", 2);

    for (i = 0; i < 4; i++) {
        now = times[i];

        one = ngx_svc_access_evaluate(policy, addr, country, now);
        two = ngx_svc_access_evaluate(again, addr, country, now);

        fuzz_assert(one.rule == two.rule && one.action == two.action);

        n = one.rule < 0 ? policy->nrules : (ngx_uint_t) one.rule;

        fuzz_assert(n == policy->nrules
                    || fuzz_matches(&policy->rules[n], addr, country.code));

        while (n-- > 0) {
            fuzz_assert(policy->rules[n].nwindows
                        || !fuzz_matches(&policy->rules[n], addr,
                                         country.code));
        }
    }
}


/* Returns whether a rule matches, apart from its time windows. */

static ngx_uint_t
fuzz_matches(const ngx_svc_access_rule_t *rule, const ngx_svc_addr_t *addr,
    const u_char *code)
{
    ngx_uint_t  i, found;

    if (!rule->enabled) {
        return 0;
    }

    found = rule->nnetworks == 0;

    for (i = 0; i < rule->nnetworks; i++) {
        found |= ngx_svc_cidr_contains(&rule->networks[i].cidr, addr);
    }

    if (!found || rule->ncountries == 0) {
        return found;
    }

    if (code[0] == '\0') {
        code = (u_char *) "ZZ";
    }

    for (i = 0; i < rule->ncountries; i++) {
        if (ngx_memcmp(&rule->countries[2 * i], code, 2) == 0) {
            return 1;
        }
    }

    return 0;
}
