/*
 * Access policies: evaluation at its edges, lockouts, and the cache.
 *  t/access_oracle.t tests random policies.
 */

#include "ngx_unit_access.h"
#include "ngx_svc_access_policy.h"
#include "ngx_svc_time.h"
#include "ngx_svc_access_cache.h"
#include "ngx_svc_access_eval.h"
#include "ngx_svc_access_lockout.h"


#define A10   "aaaaaaaaaa"
#define A100  A10 A10 A10 A10 A10 A10 A10 A10 A10 A10
#define E10   "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"              \
              "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"              \
              "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"              \
              "\xf0\x9f\x98\x80"
#define E60   E10 E10 E10 E10 E10 E10
#define E100  E60 E10 E10 E10 E10

#define POLICY(rules)  "{'rules':[" rules "],'defaultAction':'allow'}"
#define CLOSED(rules)  "{'rules':[" rules "],'defaultAction':'deny'}"
#define DENY(more)     "{'name':'r','action':'deny'" more "}"
#define OFF(more)      "{'name':'off','action':'deny','enabled':false" more "}"
#define NET(n)         ",'networks':[" n "]"
#define FROM(c)        ",'countries':[" c "]"
#define AT(w)          ",'timeWindows':[{" w "}]"

#define NOON           "2026-11-21T12:00:00Z"


typedef struct {
    const char  *policy;
    const char  *address;               /* NULL: none */
    const char  *country;
    const char  *at;
    ngx_int_t    rule;
} row_t;


static ngx_svc_access_caller_t caller_of(const char *address,
    const char *country, const char *at);
static const ngx_svc_access_policy_t *cached(const char *tenant,
    int64_t version, const char *text);


static const row_t  rows[] = {

    { POLICY(""), "192.0.2.1", "FR", NOON, -1 },
    { POLICY(DENY("")), "192.0.2.1", "FR", NOON, 0 },
    { POLICY(DENY("")), NULL, "", NOON, 0 },
    { POLICY(OFF("") "," DENY("")), "192.0.2.1", "FR", NOON, 1 },

    /* first match */

    { POLICY(DENY(NET("'192.0.2.0/24'")) "," DENY(NET("'192.0.0.0/16'"))),
      "192.0.2.1", "", NOON, 0 },
    { POLICY(DENY(NET("'192.0.2.0/24'")) "," DENY(NET("'192.0.0.0/16'"))),
      "192.0.3.1", "", NOON, 1 },

    /* families */

    { POLICY(DENY(NET("'0.0.0.0/0'"))), "::1", "", NOON, -1 },
    { POLICY(DENY(NET("'0.0.0.0/0'"))), "255.255.255.255", "", NOON, 0 },
    { POLICY(DENY(NET("'0.0.0.0/0'"))), "0.0.0.0", "", NOON, 0 },
    { POLICY(DENY(NET("'0.0.0.0/0'"))), "::ffff:1.2.3.4", "", NOON, 0 },
    { POLICY(DENY(NET("'::/0'"))), "1.2.3.4", "", NOON, -1 },
    { POLICY(DENY(NET("'::/0'"))), "::", "", NOON, 0 },
    { POLICY(DENY(NET("'::/0'"))),
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", NOON, 0 },
    { POLICY(DENY(NET("'0.0.0.0/0','::/0'"))), NULL, "", NOON, -1 },

    /* the ends of the address space, and prefixes around 64 bits */

    { POLICY(DENY(NET("'255.255.255.255'"))), "255.255.255.255", "", NOON, 0 },
    { POLICY(DENY(NET("'255.255.255.255'"))), "255.255.255.254", "", NOON, -1 },
    { POLICY(DENY(NET("'255.255.255.254/31','0.0.0.0/32'"))),
      "255.255.255.255", "", NOON, 0 },
    { POLICY(DENY(NET("'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'"))),
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", NOON, 0 },
    { POLICY(DENY(NET("'ffff:ffff:ffff:ffff::/64'"))),
      "ffff:ffff:ffff:ffff::", "", NOON, 0 },
    { POLICY(DENY(NET("'ffff:ffff:ffff:ffff::/64'"))),
      "ffff:ffff:ffff:fffe:ffff:ffff:ffff:ffff", "", NOON, -1 },
    { POLICY(DENY(NET("'2001:db8::ffff:ffff:ffff:ffff'"))),
      "2001:db8::ffff:ffff:ffff:ffff", "", NOON, 0 },
    { POLICY(DENY(NET("'2001:db8::ffff:ffff:ffff:ffff'"))),
      "2001:db8:0:1::", "", NOON, -1 },
    { POLICY(DENY(NET("'2001:db8::/63'"))), "2001:db8:0:1:ffff::", "", NOON,
      0 },
    { POLICY(DENY(NET("'2001:db8::/63'"))), "2001:db8:0:2::", "", NOON, -1 },
    { POLICY(DENY(NET("'2001:db8:0:0:8000::/65'"))), "2001:db8:0:1::", "",
      NOON, -1 },

    /* networks within networks of the same rule */

    { POLICY(DENY(NET("'10.0.0.0/8','10.1.0.0/16','10.1.0.0/16'"))),
      "10.2.0.0", "", NOON, 0 },

    /* countries */

    { POLICY(DENY(FROM("'fr'"))), "192.0.2.1", "FR", NOON, 0 },
    { POLICY(DENY(FROM("'FR'"))), "192.0.2.1", "DE", NOON, -1 },
    { POLICY(DENY(FROM("'FR'"))), "192.0.2.1", "", NOON, -1 },
    { POLICY(DENY(FROM("'ZZ'"))), "192.0.2.1", "", NOON, 0 },
    { POLICY(DENY(FROM("'ZZ'"))), "192.0.2.1", "ZZ", NOON, 0 },
    { POLICY(DENY(FROM("'ZZ'"))), "192.0.2.1", "--", NOON, 0 },
    { POLICY(DENY(FROM("'ZZ'"))), "192.0.2.1", "ZY", NOON, -1 },
    { POLICY(DENY(FROM("'AA'"))), "192.0.2.1", "AA", NOON, 0 },
    { POLICY(DENY(FROM("'DE'")) "," DENY("")), "192.0.2.1", "FR", NOON, 1 },

    /* all conditions of a rule must match */

    { POLICY(DENY(NET("'192.0.2.0/24'") FROM("'FR'"))), "192.0.2.1", "FR",
      NOON, 0 },
    { POLICY(DENY(NET("'192.0.2.0/24'") FROM("'FR'"))), "192.0.3.1", "FR",
      NOON, -1 },
    { POLICY(DENY(NET("'192.0.2.0/24'") FROM("'FR'"))), "192.0.2.1", "DE",
      NOON, -1 },

    /* windows: half open; over midnight; of the day on which they start */

    { POLICY(DENY(AT("'start':'12:00','end':'12:01'"))), "::1", "",
      "2026-11-21T12:00:59Z", 0 },
    { POLICY(DENY(AT("'start':'12:00','end':'12:01'"))), "::1", "",
      "2026-11-21T12:01:00Z", -1 },
    { POLICY(DENY(AT("'start':'12:00','end':'12:01'"))), "::1", "",
      "2026-11-21T11:59:59Z", -1 },
    { POLICY(DENY(AT("'start':'23:59','end':'24:00'"))), "::1", "",
      "2026-11-21T23:59:59Z", 0 },
    { POLICY(DENY(AT("'start':'23:59','end':'24:00'"))), "::1", "",
      "2026-11-22T00:00:00Z", -1 },
    { POLICY(DENY(AT("'start':'22:00','end':'06:00','days':['sat']"))),
      "::1", "", "2026-11-21T05:59:59Z", -1 },
    { POLICY(DENY(AT("'start':'22:00','end':'06:00','days':['sat']"))),
      "::1", "", "2026-11-21T22:00:00Z", 0 },
    { POLICY(DENY(AT("'start':'22:00','end':'06:00','days':['sat']"))),
      "::1", "", "2026-11-22T05:59:59Z", 0 },
    { POLICY(DENY(AT("'start':'22:00','end':'06:00','days':['sat']"))),
      "::1", "", "2026-11-22T06:00:00Z", -1 },
    { POLICY(DENY(AT("'start':'22:00','end':'06:00','days':['sat']"))),
      "::1", "", "2026-11-22T22:00:00Z", -1 },
    { POLICY(DENY(AT("'start':'22:00','end':'06:00','days':['sun']"))),
      "::1", "", "2026-11-23T05:59:59Z", 0 },

    /* before the epoch */

    { POLICY(DENY(AT("'start':'23:59','end':'24:00','days':['wed']"))),
      "::1", "", "1969-12-31T23:59:59Z", 0 },
    { POLICY(DENY(AT("'start':'23:59','end':'24:00','days':['mon']"))),
      "::1", "", "1969-12-29T23:59:00Z", 0 },

    /* the hour that occurs twice, and the one that does not, in Paris */

    { POLICY(DENY(AT("'start':'02:30','end':'02:31',"
                     "'timezone':'Europe/Paris'"))),
      "::1", "", "2026-10-25T00:30:00Z", 0 },
    { POLICY(DENY(AT("'start':'02:30','end':'02:31',"
                     "'timezone':'Europe/Paris'"))),
      "::1", "", "2026-10-25T01:30:00Z", 0 },
    { POLICY(DENY(AT("'start':'02:00','end':'03:00',"
                     "'timezone':'Europe/Paris'"))),
      "::1", "", "2026-03-29T00:59:59Z", -1 },
    { POLICY(DENY(AT("'start':'02:00','end':'03:00',"
                     "'timezone':'Europe/Paris'"))),
      "::1", "", "2026-03-29T01:00:00Z", -1 },

    /* the day in the time zone */

    { POLICY(DENY(AT("'start':'00:00','end':'24:00','days':['sun'],"
                     "'timezone':'Pacific/Kiritimati'"))),
      "::1", "", "2026-11-21T12:00:00Z", 0 },
};


static void
test_rows(void **state)
{
    ngx_uint_t                i;
    ngx_svc_access_result_t   result;
    ngx_svc_access_caller_t   caller;
    ngx_svc_access_policy_t  *policy;

    for (i = 0; i < ngx_unit_len(rows); i++) {
        policy = ngx_unit_policy(*state, rows[i].policy);
        caller = caller_of(rows[i].address, rows[i].country, rows[i].at);

        result = ngx_svc_access_evaluate(policy, &caller.addr, caller.country,
                                         caller.now);

        if (result.rule != rows[i].rule
            || result.action != (rows[i].rule == -1 ? NGX_SVC_ACCESS_ALLOW
                                                    : NGX_SVC_ACCESS_DENY))
        {
            fail_msg("%s of %s: %d", rows[i].policy, rows[i].address,
                     (int) result.rule);
        }
    }

    policy = ngx_unit_policy(*state, POLICY(DENY("")));
    assert_memory_equal(ngx_svc_access_rule_name(policy, 0)->data, "r", 1);
    assert_null(ngx_svc_access_rule_name(policy, -1));
    assert_string_equal(
        (char *) ngx_svc_access_action(NGX_SVC_ACCESS_MFA)->data, "mfa");
}


/* One rule each in 100 rules, and the last one matches. */

static void
test_many_rules(void **state)
{
    u_char                   *p, text[8192];
    ngx_uint_t                i;
    ngx_svc_access_caller_t   caller;
    ngx_svc_access_policy_t  *policy;

    p = ngx_cpymem(text, "{'rules':[", 10);

    for (i = 0; i < 100; i++) {
        p = ngx_sprintf(p, "%s{'name':'%ui','action':'mfa','networks':"
                           "['10.0.%ui.0/24']}", i ? "," : "", i, i);
    }

    (void) ngx_sprintf(p, "],'defaultAction':'allow'}%Z");

    policy = ngx_unit_policy(*state, (char *) text);

    for (i = 0; i < 101; i++) {
        snprintf((char *) text, sizeof(text), "10.0.%u.7", (unsigned) i);
        caller = caller_of((char *) text, "", NOON);

        assert_int_equal(ngx_svc_access_evaluate(policy, &caller.addr,
                                                 caller.country, caller.now)
                         .rule, i < 100 ? (int) i : -1);
    }
}


static void
test_lockout(void **state)
{
    ngx_int_t                 rc, rule;
    ngx_uint_t                i, all;
    ngx_svc_error_t           err;
    ngx_svc_access_caller_t   caller;
    ngx_svc_access_policy_t  *policy;

#define ALL       "The policy would deny everybody: "
#define YOU       "The policy would deny you: "
#define NOTHING   "no rule admits, and \"defaultAction\" is \"deny\"."
#define BEFORE    ", and no rule before it admits."
#define MFA(m)    "{'name':'m','action':'mfa'" m "}"

    static const struct {
        const char  *policy;
        const char  *address;
        const char  *detail;            /* NULL: none */
    } cases[] = {
        { POLICY(""), "192.0.2.1", NULL },
        { CLOSED(""), "192.0.2.1", ALL NOTHING },
        { POLICY(DENY("")), "192.0.2.1",
          ALL "rule \"r\" (rules[0]) has no condition" BEFORE },
        { POLICY(OFF("") "," DENY("")), "192.0.2.1",
          ALL "rule \"r\" (rules[1]) has no condition" BEFORE },
        { POLICY(OFF("")), "192.0.2.1", NULL },

        /* all addresses of both families, in any pieces */

        { POLICY(DENY(NET("'0.0.0.0/0','::/0'"))), "192.0.2.1",
          ALL "rule \"r\" (rules[0]) has all addresses" BEFORE },
        { POLICY(DENY(NET("'0.0.0.0/1','128.0.0.0/1','8000::/1','::/1'"))),
          "192.0.2.1",
          ALL "rule \"r\" (rules[0]) has all addresses" BEFORE },
        { POLICY(DENY(NET("'0.0.0.0/1','8000::/1','::/1'"))), "192.0.2.1",
          NULL },
        { POLICY(DENY(NET("'0.0.0.0/0','::/0'") FROM("'FR'"))), "192.0.2.1",
          NULL },
        { POLICY(DENY(NET("'0.0.0.0/0','::/0'")
                      AT("'start':'00:00','end':'24:00'"))), "192.0.2.1",
          YOU "rule \"r\" (rules[0]) denies 192.0.2.1." },
        { POLICY(DENY(NET("'0.0.0.0/0'"))), "192.0.2.1",
          YOU "rule \"r\" (rules[0]) denies 192.0.2.1." },
        { POLICY(DENY(NET("'0.0.0.0/0'"))), "2001:db8::1", NULL },

        /* policies that admit somebody, and not the caller */

        { CLOSED(MFA(NET("'10.0.0.0/8'"))), "10.0.0.1", NULL },
        { CLOSED(MFA(NET("'10.0.0.0/8'"))), "2001:DB8::1",
          YOU "no rule matches, and \"defaultAction\" denies 2001:db8::1." },
        { CLOSED(MFA(NET("'10.0.0.0/8'"))), NULL,
          YOU "no rule matches, and \"defaultAction\" denies a caller without "
          "an address." },
        { POLICY(MFA(NET("'10.0.0.0/8'")) "," DENY("")), "::ffff:192.0.2.1",
          YOU "rule \"r\" (rules[1]) denies 192.0.2.1." },
        { POLICY(MFA(NET("'10.0.0.0/8'")) "," DENY("")), "10.0.0.1", NULL },
        { CLOSED("{'name':'m','action':'allow','enabled':false}"),
          "192.0.2.1", ALL NOTHING },
        { CLOSED(DENY(NET("'10.0.0.0/8'"))), "192.0.2.1", ALL NOTHING },

        /* the longest names */

        { POLICY(MFA(NET("'10.0.0.0/8'")) ",{'name':'" A100 "',"
                 "'action':'deny'}"), "192.0.2.1",
          YOU "rule \"" A100 "\" (rules[1]) denies 192.0.2.1." },
        { POLICY(MFA(NET("'10.0.0.0/8'")) ",{'name':'" E100 "',"
                 "'action':'deny'}"), "192.0.2.1",
          YOU "rule \"" E60 "\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
          "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\" (rules[1]) denies 192.0.2.1." },
    };

    for (i = 0; i < ngx_unit_len(cases); i++) {
        policy = ngx_unit_policy(*state, cases[i].policy);
        caller = caller_of(cases[i].address, "", NOON);

        err.kind = NGX_SVC_E_NONE;
        rc = ngx_svc_access_lockout(policy, &caller, &err);

        if (rc != (cases[i].detail ? NGX_DECLINED : NGX_OK)) {
            fail_msg("%s: %d", cases[i].policy, (int) rc);
        }

        if (rc == NGX_DECLINED) {
            ngx_unit_error(&err, NGX_SVC_E_ANTI_LOCKOUT, cases[i].detail,
                           cases[i].policy);
        }

        all = cases[i].detail
              && strncmp(cases[i].detail, ALL, sizeof(ALL) - 1) == 0;

        assert_int_equal(ngx_svc_access_denies_all(policy, &rule), all);
    }
}


static void
test_time_limited(void **state)
{
    ngx_uint_t                i;
    ngx_svc_access_caller_t   caller;
    ngx_svc_access_policy_t  *policy;

    static const struct {
        const char  *policy;
        ngx_uint_t   limited;
    } cases[] = {
        { POLICY(""), 0 },
        { CLOSED("{'name':'m','action':'mfa'}"), 0 },
        { CLOSED("{'name':'m','action':'mfa'"
                 AT("'start':'08:00','end':'18:00'") "}"), 1 },
        { CLOSED("{'name':'m','action':'mfa'"
                 AT("'start':'00:00','end':'24:00'") "}"), 0 },
        { CLOSED("{'name':'m','action':'mfa'"
                 AT("'start':'00:00','end':'24:00',"
                    "'days':['mon','tue','wed','thu','fri','sat']") "}"), 1 },
        { POLICY(DENY(AT("'start':'11:00','end':'12:01','days':['fri']"))),
          1 },
        { POLICY(DENY(AT("'start':'11:00','end':'12:01','days':['fri']")
                      NET("'10.0.0.0/8'"))), 0 },
    };

    caller = caller_of("192.0.2.1", "", NOON);

    for (i = 0; i < ngx_unit_len(cases); i++) {
        policy = ngx_unit_policy(*state, cases[i].policy);

        if (ngx_svc_access_time_limited(policy, &caller) != cases[i].limited) {
            fail_msg("%s: not %u", cases[i].policy,
                     (unsigned) cases[i].limited);
        }
    }
}


static void
test_cache(void **state)
{
    char                            tenant[32];
    ngx_uint_t                      i;
    const ngx_svc_access_policy_t  *a, *b, *many[200];

    a = cached("a", 1, POLICY(DENY("")));
    assert_non_null(a);
    assert_int_equal(ngx_svc_access_action(a->action)->data[0], 'a');

    /* a text is parsed once, and not mistaken for another one */

    assert_ptr_equal(cached("a", 1, POLICY(DENY(""))), a);

    b = cached("a", 1, CLOSED(""));
    assert_non_null(b);
    assert_int_equal(ngx_svc_access_action(b->action)->data[0], 'd');
    assert_ptr_equal(cached("a", 1, CLOSED("")), b);

    a = cached("a", 1, POLICY("{'name':'s','action':'deny'}"));
    assert_non_null(a);
    assert_int_equal(a->rules[0].name.data[0], 's');

    a = cached("a", 1, POLICY(DENY("")));
    assert_non_null(a);
    assert_int_equal(a->rules[0].name.data[0], 'r');

    /* each tenant has its own policy, and each version, too */

    b = cached("b", 1, CLOSED(""));
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(cached("a", 1, POLICY(DENY(""))), a);
    assert_ptr_not_equal(cached("a", 2, POLICY("")), a);

    /* the old version may be in use until the event loop continues */

    assert_int_equal(a->nrules, 1);
    ngx_env_events();

    /* an older version, of a request that has read earlier: both stay */

    a = cached("a", 1, POLICY(DENY("")));
    assert_ptr_not_equal(cached("a", 2, POLICY("")), a);
    assert_ptr_equal(cached("b", 1, CLOSED("")), b);

    /* an invalid policy is not kept */

    assert_null(cached("c", 1, "{}"));
    assert_null(cached("c", 1, "[]"));
    assert_null(cached("c", 1, "{"));
    assert_non_null(cached("c", 1, POLICY("")));

    /* the least recently used one is dropped */

    for (i = 0; i < 200; i++) {
        snprintf(tenant, sizeof(tenant), "t%u", (unsigned) i);
        many[i] = cached(tenant, 1, POLICY(DENY("")));
        assert_non_null(many[i]);
        assert_ptr_equal(cached("b", 1, CLOSED("")), b);

        if (i == 130) {
            ngx_env_events();
        }
    }

    /* a dropped one is still in use: its memory is not used for another one */

    assert_ptr_equal(cached("t199", 1, POLICY(DENY(""))), many[199]);
    assert_ptr_equal(cached("t138", 1, POLICY(DENY(""))), many[138]);
    assert_ptr_not_equal(cached("t136", 1, POLICY(DENY(""))), many[136]);

    ngx_env_events();
}


/* The largest policy stays within its bound, and the cache within its own. */

static void
test_largest(void **state)
{
    u_char                         *p, *text;
    ngx_str_t                       name, json;
    ngx_uint_t                      i, j, n;
    const ngx_svc_access_policy_t  *policy;

    text = ngx_pnalloc(*state, 2 * 1024 * 1024);
    assert_non_null(text);

    p = ngx_cpymem(text, "{\"rules\":[", 10);

    for (i = 0; i < 100; i++) {
        p = ngx_sprintf(p, "%s{\"name\":\"" A100 "\",\"action\":\"mfa\","
                           "\"networks\":[", i ? "," : "");

        for (j = 0; j < 100; j++) {
            p = ngx_sprintf(p, "%s\"2001:0db8:%04xi:%04xi:0000:0000:"
                               "255.255.255.255/128\"", j ? "," : "", i, j);
        }

        p = ngx_sprintf(p, "],\"countries\":[");

        for (j = 0; j < 250; j++) {
            p = ngx_sprintf(p, "%s\"FR\"", j ? "," : "");
        }

        p = ngx_sprintf(p, "],\"timeWindows\":[");

        for (j = 0; j < 20; j++) {
            p = ngx_sprintf(p, "%s{\"start\":\"00:00\",\"end\":\"%02ui:01\"}",
                            j ? "," : "", j);
        }

        p = ngx_sprintf(p, "]}");
    }

    p = ngx_sprintf(p, "],\"defaultAction\":\"mfa\"}");

    json.data = text;
    json.len = p - text;
    name.data = (u_char *) "x";
    name.len = 1;

    for (n = 0; n < 12; n++) {
        policy = ngx_svc_access_cached(ngx_unit_zones(), &name, (int64_t) n,
                                       &json, ngx_env_log());
        assert_non_null(policy);
        assert_in_range(policy->size, 1024 * 1024, 2 * 1024 * 1024);

        ngx_env_events();
    }
}


/*
 * A cache without memory returns no policy, and works again when it has some.
 */

static void
test_cache_memory(void **state)
{
    ngx_int_t                       n;
    const ngx_svc_access_policy_t  *policy;

    (void) ngx_unit_zones();

    for (n = 0, policy = NULL; policy == NULL && n < 200; n++) {
        ngx_env_alloc_limit(n);
        policy = cached("memory", 1, POLICY(DENY(NET("'10.0.0.0/8'"))));
        ngx_env_alloc_limit(-1);
    }

    assert_in_range(n, 10, 150);
    assert_ptr_equal(cached("memory", 1, POLICY(DENY(NET("'10.0.0.0/8'")))),
                     policy);
}


static ngx_svc_access_caller_t
caller_of(const char *address, const char *country, const char *at)
{
    int64_t                  msec;
    ngx_str_t                text;
    ngx_svc_access_caller_t  caller;

    memset(&caller, 0, sizeof(caller));
    caller.addr.family = AF_UNSPEC;

    if (address) {
        assert_int_equal(ngx_svc_addr_parse((u_char *) address,
                                            strlen(address), &caller.addr),
                         NGX_OK);
    }

    memcpy(caller.country.code, country, strlen(country));

    text.data = (u_char *) at;
    text.len = strlen(at);
    assert_int_equal(ngx_svc_time_parse(&text, &msec), NGX_OK);

    caller.now = msec >= 0 ? msec / 1000 : -((-msec + 999) / 1000);

    return caller;
}


static const ngx_svc_access_policy_t *
cached(const char *tenant, int64_t version, const char *text)
{
    u_char       json[512];
    ngx_str_t    name, str;
    ngx_uint_t   i;

    for (i = 0; text[i]; i++) {
        json[i] = text[i] == '\'' ? '"' : (u_char) text[i];
    }

    name.data = (u_char *) tenant;
    name.len = strlen(tenant);
    str.data = json;
    str.len = i;

    return ngx_svc_access_cached(ngx_unit_zones(), &name, version, &str,
                                 ngx_env_log());
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_rows),
        ngx_unit_test(test_many_rules),
        ngx_unit_test(test_lockout),
        ngx_unit_test(test_time_limited),
        ngx_unit_test(test_cache),
        ngx_unit_test(test_cache_memory),
        ngx_unit_test(test_largest),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("access_eval", tests, NULL, NULL);
}
