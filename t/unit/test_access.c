/*
 * Access policies: which are accepted, which are equal, and how they are
 * written.
 */

#include "ngx_unit_access.h"
#include "ngx_svc_access_equal.h"


#define A10   "aaaaaaaaaa"
#define A100  A10 A10 A10 A10 A10 A10 A10 A10 A10 A10

#define POLICY(rule)  "{'rules':[" rule "],'defaultAction':'allow'}"
#define RULE(more)    POLICY("{'name':'r','action':'deny'" more "}")
#define WINDOW(w)     RULE(",'timeWindows':[{" w "}]")


typedef struct {
    const char  *text;
    const char  *detail;
} row_t;


static void refused(ngx_pool_t *pool, const char *text, const char *path,
    ngx_uint_t strict, ngx_svc_error_e kind, const char *detail);
static const char *many(ngx_pool_t *pool, const char *before,
    const char *element, ngx_uint_t n, const char *after);


#define NETWORK  " must be a network such as \"203.0.113.0/24\" or "          \
                 "\"2001:db8::/32\", or an address."
#define COUNTRY  " must be a country's two letters such as \"FR\", or "       \
                 "\"ZZ\" for an unknown country."
#define DAY      " must be \"mon\", \"tue\", \"wed\", \"thu\", \"fri\", "     \
                 "\"sat\" or \"sun\"."
#define START    " must be a time from \"00:00\" to \"23:59\"."
#define END      " must be a time from \"00:01\" to \"24:00\"."
#define ZONE     " must be a time zone of the IANA database, such as "        \
                 "\"Europe/Paris\"."
#define ACTION   " must be \"allow\", \"mfa\" or \"deny\"."
#define NAME     " must be a string without control characters of 1 to 100 "  \
                 "characters."
#define SAME     " must not be the same as \"start\"; a whole day is from "   \
                 "\"00:00\" to \"24:00\"."


static const row_t  invalid[] = {

    { "{}", "\"rules\" is required." },
    { "{'rules':[]}", "\"defaultAction\" is required." },
    { "{'defaultAction':'allow'}", "\"rules\" is required." },
    { "{'rules':null,'defaultAction':'allow'}",
      "\"rules\" must be an array." },
    { "{'rules':{},'defaultAction':'allow'}", "\"rules\" must be an array." },
    { "{'rules':[],'defaultAction':'block'}", "\"defaultAction\"" ACTION },
    { "{'rules':[],'defaultAction':'Allow'}", "\"defaultAction\"" ACTION },
    { "{'rules':[],'defaultAction':'allow '}", "\"defaultAction\"" ACTION },
    { "{'rules':[],'defaultAction':''}", "\"defaultAction\"" ACTION },
    { "{'rules':[],'defaultAction':1}",
      "\"defaultAction\" must be a string." },
    { "{'rules':[],'defaultAction':null}",
      "\"defaultAction\" must be a string." },

    { POLICY("1"), "\"rules[0]\" must be an object." },
    { POLICY("[]"), "\"rules[0]\" must be an object." },
    { POLICY("{'name':'a','action':'mfa'},null"),
      "\"rules[1]\" must be an object." },
    { POLICY("{'action':'deny'}"), "\"rules[0].name\" is required." },
    { POLICY("{'name':'','action':'deny'}"), "\"rules[0].name\"" NAME },
    { POLICY("{'name':'  ','action':'deny'}"), "\"rules[0].name\"" NAME },
    { POLICY("{'name':'a\\nb','action':'deny'}"), "\"rules[0].name\"" NAME },
    { POLICY("{'name':'" A100 "b','action':'deny'}"),
      "\"rules[0].name\"" NAME },
    { POLICY("{'name':7,'action':'deny'}"), "\"rules[0].name\"" NAME },
    { POLICY("{'name':'a'}"), "\"rules[0].action\" is required." },
    { POLICY("{'name':'a','action':'block'}"), "\"rules[0].action\"" ACTION },
    { POLICY("{'name':'a','action':'DENY'}"), "\"rules[0].action\"" ACTION },
    { RULE(",'enabled':'true'"),
      "\"rules[0].enabled\" must be true or false." },
    { RULE(",'enabled':1"), "\"rules[0].enabled\" must be true or false." },
    { RULE(",'enabled':null"), "\"rules[0].enabled\" must be true or false." },

    { RULE(",'networks':null"), "\"rules[0].networks\" must be an array." },
    { RULE(",'networks':'10.0.0.0/8'"),
      "\"rules[0].networks\" must be an array." },
    { RULE(",'networks':['']"), "\"rules[0].networks[0]\"" NETWORK },
    { RULE(",'networks':['10.0.0.0/8',1]"),
      "\"rules[0].networks[1]\"" NETWORK },
    { RULE(",'networks':[null]"), "\"rules[0].networks[0]\"" NETWORK },
    { RULE(",'networks':['1.2.3']"), "\"rules[0].networks[0]\"" NETWORK },
    { RULE(",'networks':['010.0.0.1']"), "\"rules[0].networks[0]\"" NETWORK },
    { RULE(",'networks':['10.0.0.0/33']"), "\"rules[0].networks[0]\"" NETWORK },
    { RULE(",'networks':['fe80::1%eth0']"),
      "\"rules[0].networks[0]\"" NETWORK },
    { RULE(",'networks':['::/129']"), "\"rules[0].networks[0]\"" NETWORK },
    { RULE(",'networks':[' 10.0.0.0/8']"),
      "\"rules[0].networks[0]\"" NETWORK },
    { POLICY("{'name':'a','action':'mfa'},{'name':'b','action':'mfa'},"
             "{'name':'c','action':'mfa','networks':['x']}"),
      "\"rules[2].networks[0]\"" NETWORK },

    { RULE(",'countries':{}"), "\"rules[0].countries\" must be an array of 0 "
      "to 250 elements." },
    { RULE(",'countries':null"), "\"rules[0].countries\" must be an array of 0 "
      "to 250 elements." },
    { RULE(",'countries':['FR','']"), "\"rules[0].countries[1]\"" COUNTRY },
    { RULE(",'countries':['F']"), "\"rules[0].countries[0]\"" COUNTRY },
    { RULE(",'countries':['FRA']"), "\"rules[0].countries[0]\"" COUNTRY },
    { RULE(",'countries':['F1']"), "\"rules[0].countries[0]\"" COUNTRY },
    { RULE(",'countries':['1F']"), "\"rules[0].countries[0]\"" COUNTRY },
    { RULE(",'countries':['[[']"), "\"rules[0].countries[0]\"" COUNTRY },
    { RULE(",'countries':['\xc3\xa9']"), "\"rules[0].countries[0]\"" COUNTRY },
    { RULE(",'countries':[1]"), "\"rules[0].countries[0]\"" COUNTRY },

    { RULE(",'timeWindows':null"),
      "\"rules[0].timeWindows\" must be an array." },
    { RULE(",'timeWindows':[1]"),
      "\"rules[0].timeWindows[0]\" must be an object." },
    { WINDOW(""), "\"rules[0].timeWindows[0].start\" is required." },
    { WINDOW("'start':'08:00'"),
      "\"rules[0].timeWindows[0].end\" is required." },
    { WINDOW("'start':'8:00','end':'09:00'"),
      "\"rules[0].timeWindows[0].start\"" START },
    { WINDOW("'start':'24:00','end':'09:00'"),
      "\"rules[0].timeWindows[0].start\"" START },
    { WINDOW("'start':'00:60','end':'09:00'"),
      "\"rules[0].timeWindows[0].start\"" START },
    { WINDOW("'start':'00-00','end':'09:00'"),
      "\"rules[0].timeWindows[0].start\"" START },
    { WINDOW("'start':'+1:00','end':'09:00'"),
      "\"rules[0].timeWindows[0].start\"" START },
    { WINDOW("'start':'00:00:00','end':'09:00'"),
      "\"rules[0].timeWindows[0].start\"" START },
    { WINDOW("'start':800,'end':'09:00'"),
      "\"rules[0].timeWindows[0].start\" must be a string." },
    { WINDOW("'start':'08:00','end':'00:00'"),
      "\"rules[0].timeWindows[0].end\"" END },
    { WINDOW("'start':'08:00','end':'24:01'"),
      "\"rules[0].timeWindows[0].end\"" END },
    { WINDOW("'start':'08:00','end':'25:00'"),
      "\"rules[0].timeWindows[0].end\"" END },
    { WINDOW("'start':'08:00','end':''"),
      "\"rules[0].timeWindows[0].end\"" END },
    { WINDOW("'start':'08:00','end':'08:00'"),
      "\"rules[0].timeWindows[0].end\"" SAME },
    { WINDOW("'start':'08:00','end':'09:00','days':[]"),
      "\"rules[0].timeWindows[0].days\" must be an array of 1 to 7 elements."
    },
    { WINDOW("'start':'08:00','end':'09:00','days':null"),
      "\"rules[0].timeWindows[0].days\" must be an array of 1 to 7 elements."
    },
    { WINDOW("'start':'08:00','end':'09:00','days':['mon','Tue']"),
      "\"rules[0].timeWindows[0].days[1]\"" DAY },
    { WINDOW("'start':'08:00','end':'09:00','days':[1]"),
      "\"rules[0].timeWindows[0].days[0]\"" DAY },
    { WINDOW("'start':'08:00','end':'09:00','timezone':'Mars/Olympus'"),
      "\"rules[0].timeWindows[0].timezone\"" ZONE },
    { WINDOW("'start':'08:00','end':'09:00','timezone':'europe/paris'"),
      "\"rules[0].timeWindows[0].timezone\"" ZONE },
    { WINDOW("'start':'08:00','end':'09:00','timezone':''"),
      "\"rules[0].timeWindows[0].timezone\"" ZONE },
    { WINDOW("'start':'08:00','end':'09:00','timezone':null"),
      "\"rules[0].timeWindows[0].timezone\" must be a string." },
    { RULE(",'timeWindows':[{'start':'08:00','end':'09:00'},"
           "{'start':'08:00','end':'9'}]"),
      "\"rules[0].timeWindows[1].end\"" END },
};


/* Members that are unknown, and the path in the error. */

static const row_t  unknown[] = {
    { "{'rules':[],'defaultAction':'allow','versionId':'x'}", "versionId" },
    { RULE(",'network':[]"), "rules[0].network" },
    { WINDOW("'start':'08:00','end':'09:00','zone':'UTC'"),
      "rules[0].timeWindows[0].zone" },
};


/* The canonical form of each policy. */

static const row_t  written[] = {

    { "{'rules':[],'defaultAction':'mfa'}",
      "{'rules':[],'defaultAction':'mfa'}" },

    { "{'defaultAction':'allow','rules':[{'action':'deny','name':' r '}]}",
      POLICY("{'name':'r','enabled':true,'action':'deny','networks':[],"
             "'countries':[],'timeWindows':[]}") },

    { POLICY("{'countries':['fr','De','fr'],'name':'\xc3\xa9\\\"',"
             "'enabled':false,'networks':['::FFFF:10.0.0.1/104','1.2.3.4'],"
             "'action':'mfa'}"),
      POLICY("{'name':'\xc3\xa9\\\"','enabled':false,'action':'mfa',"
             "'networks':['::FFFF:10.0.0.1/104','1.2.3.4'],"
             "'countries':['FR','DE','FR'],'timeWindows':[]}") },

    { RULE(",'timeWindows':[{'end':'06:00','start':'22:05',"
           "'days':['fri','mon','fri'],'timezone':'Europe/Paris'},"
           "{'start':'00:00','end':'24:00'}]"),
      POLICY("{'name':'r','enabled':true,'action':'deny','networks':[],"
             "'countries':[],'timeWindows':[{'days':['fri','mon'],"
             "'start':'22:05','end':'06:00','timezone':'Europe/Paris'},"
             "{'days':['mon','tue','wed','thu','fri','sat','sun'],"
             "'start':'00:00','end':'24:00','timezone':'UTC'}]}") },
};


static const struct {
    const char  *a;
    const char  *b;
    ngx_uint_t   equal;
} pairs[] = {
    { RULE(""), RULE(",'enabled':true,'networks':[],'countries':[],"
                     "'timeWindows':[]"), 1 },
    { RULE(""), RULE(",'enabled':false"), 0 },
    { RULE(""), POLICY("{'name':'s','action':'deny'}"), 0 },
    { RULE(""), POLICY("{'name':'R','action':'deny'}"), 0 },
    { RULE(""), POLICY("{'name':'r','action':'mfa'}"), 0 },
    { RULE(""), POLICY(""), 0 },
    { "{'rules':[],'defaultAction':'mfa'}", POLICY(""), 0 },
    { POLICY("{'name':'a','action':'mfa'},{'name':'b','action':'mfa'}"),
      POLICY("{'name':'b','action':'mfa'},{'name':'a','action':'mfa'}"), 0 },

    { RULE(",'networks':['10.1.2.3/8','2001:DB8:0::/32','1.2.3.4']"),
      RULE(",'networks':['1.2.3.4/32','10.0.0.0/8','2001:db8::1/32',"
           "'::ffff:10.9.9.9/104']"), 1 },
    { RULE(",'networks':['10.0.0.0/8']"), RULE(",'networks':['10.0.0.0/9']"),
      0 },
    { RULE(",'networks':['10.0.0.0/8']"), RULE(",'networks':['11.0.0.0/8']"),
      0 },
    { RULE(",'networks':['0.0.0.0/0']"), RULE(",'networks':['::/0']"), 0 },
    { RULE(",'networks':['10.0.0.0/8']"),
      RULE(",'networks':['10.0.0.0/8','10.0.0.0/9']"), 0 },
    { RULE(",'networks':['10.0.0.0/8']"), RULE(""), 0 },
    { RULE(",'networks':['10.0.0.0/8','10.0.0.0/8']"),
      RULE(",'networks':['10.0.0.0/8','10.0.0.0/9']"), 0 },

    { RULE(",'countries':['FR','de']"), RULE(",'countries':['DE','fr','FR']"),
      1 },
    { RULE(",'countries':['FR']"), RULE(",'countries':['FR','DE']"), 0 },
    { RULE(",'countries':['FR','DE']"), RULE(",'countries':['FR','FR']"), 0 },
    { RULE(",'countries':['FR','FR']"), RULE(",'countries':['FR','DE']"), 0 },
    { RULE(",'countries':['FR']"), RULE(""), 0 },
    { RULE(",'countries':['ZZ']"), RULE(""), 0 },

    { WINDOW("'start':'08:00','end':'09:00'"),
      WINDOW("'start':'08:00','end':'09:00','timezone':'UTC',"
             "'days':['sun','sat','fri','thu','wed','tue','mon']"), 1 },
    { WINDOW("'start':'08:00','end':'09:00','days':['mon','tue']"),
      WINDOW("'start':'08:00','end':'09:00','days':['tue','mon','tue']"), 1 },
    { WINDOW("'start':'08:00','end':'09:00','days':['mon','tue']"),
      WINDOW("'start':'08:00','end':'09:00','days':['mon']"), 0 },
    { WINDOW("'start':'08:00','end':'09:00'"),
      WINDOW("'start':'08:01','end':'09:00'"), 0 },
    { WINDOW("'start':'08:00','end':'09:00'"),
      WINDOW("'start':'08:00','end':'09:01'"), 0 },
    { WINDOW("'start':'08:00','end':'09:00'"),
      WINDOW("'start':'08:00','end':'09:00','timezone':'Etc/UTC'"), 0 },
    { WINDOW("'start':'08:00','end':'09:00'},{'start':'10:00','end':'11:00'"),
      WINDOW("'start':'10:00','end':'11:00'},{'start':'08:00','end':'09:00'},"
             "{'start':'08:00','end':'09:00'"), 1 },
    { WINDOW("'start':'08:00','end':'09:00'"),
      WINDOW("'start':'10:00','end':'11:00'},{'start':'08:00','end':'09:00'"),
      0 },
    { WINDOW("'start':'08:00','end':'09:00'"), RULE(""), 0 },
};


static void
test_invalid(void **state)
{
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(invalid); i++) {
        refused(*state, invalid[i].text, "", 0, NGX_SVC_E_INVALID_VALUE,
                invalid[i].detail);
        refused(*state, invalid[i].text, "", 1, NGX_SVC_E_INVALID_VALUE,
                invalid[i].detail);
    }

    refused(*state, "{}", "accessPolicy", 1, NGX_SVC_E_INVALID_VALUE,
            "\"accessPolicy.rules\" is required.");
    refused(*state, RULE(",'networks':['x']"), "accessPolicy", 1,
            NGX_SVC_E_INVALID_VALUE,
            "\"accessPolicy.rules[0].networks[0]\"" NETWORK);
    refused(*state, WINDOW("'start':'08:00','end':'08:00'"), "accessPolicy", 1,
            NGX_SVC_E_INVALID_VALUE,
            "\"accessPolicy.rules[0].timeWindows[0].end\"" SAME);
}


/* A member that should be a policy, and is something else. */

static void
test_object(void **state)
{
    cJSON                    *json, *member;
    ngx_svc_error_t           err;
    ngx_svc_access_policy_t  *policy;

    json = ngx_unit_json(*state, "{'a':[],'b':null,'c':1,'d':'x','e':[{}]}");

    for (member = json->child; member; member = member->next) {
        err.kind = NGX_SVC_E_NONE;

        assert_int_equal(ngx_svc_access_parse(*state, ngx_unit_zones(), member,
                                              "accessPolicy", 1, &policy,
                                              &err), NGX_DECLINED);
        ngx_unit_error(&err, NGX_SVC_E_INVALID_VALUE,
                       "\"accessPolicy\" must be an object.",
                       member->string);
    }
}


static void
test_unknown(void **state)
{
    char                      detail[128];
    ngx_uint_t                i;
    ngx_svc_error_t           err;
    ngx_svc_access_policy_t  *policy;

    for (i = 0; i < ngx_unit_len(unknown); i++) {
        snprintf(detail, sizeof(detail), "\"p.%s\" is not a known member.",
                 unknown[i].detail);

        refused(*state, unknown[i].text, "p", 1, NGX_SVC_E_INVALID_VALUE,
                detail);

        err.kind = NGX_SVC_E_NONE;
        assert_int_equal(ngx_svc_access_parse(*state, ngx_unit_zones(),
                                    ngx_unit_json(*state, unknown[i].text),
                                    "p", 0, &policy, &err), NGX_OK);
    }
}


/* Each list at its limit, and one element beyond it. */

static void
test_limits(void **state)
{
    ngx_uint_t  i;

    static const struct {
        const char       *before;
        const char       *element;
        const char       *after;
        ngx_uint_t        limit;
        ngx_svc_error_e   kind;
        const char       *detail;
    } rows[] = {
        { "{'rules':[", "{'name':'" A100 "','action':'mfa'}",
          "],'defaultAction':'allow'}", 100, NGX_SVC_E_LIMIT_EXCEEDED,
          "\"rules\" has 101 elements, and may have 100 at most." },
        { "{'rules':[{'name':'a','action':'mfa','networks':[", "'10.0.0.0/8'",
          "]}],'defaultAction':'allow'}", 100, NGX_SVC_E_LIMIT_EXCEEDED,
          "\"rules[0].networks\" has 101 elements, and may have 100 at most."
        },
        { "{'rules':[{'name':'a','action':'mfa','countries':[", "'XK'",
          "]}],'defaultAction':'allow'}", 250, NGX_SVC_E_INVALID_VALUE,
          "\"rules[0].countries\" must be an array of 0 to 250 elements." },
        { "{'rules':[{'name':'a','action':'mfa','timeWindows':[",
          "{'start':'00:00','end':'00:01'}",
          "]}],'defaultAction':'allow'}", 20, NGX_SVC_E_LIMIT_EXCEEDED,
          "\"rules[0].timeWindows\" has 21 elements, and may have 20 at most."
        },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        (void) ngx_unit_policy(*state, many(*state, rows[i].before,
                                            rows[i].element, rows[i].limit,
                                            rows[i].after));

        refused(*state, many(*state, rows[i].before, rows[i].element,
                             rows[i].limit + 1, rows[i].after),
                "", 0, rows[i].kind, rows[i].detail);
    }

    /* 100 characters, including commas, of 250 bytes */

    (void) ngx_unit_policy(*state, many(*state,
                                        "{'rules':[{'action':'mfa','name':'x",
                                        "\xf0\x9f\x98\x80", 50,
                                        "'}],'defaultAction':'allow'}"));
}


static void
test_written(void **state)
{
    char                     *text, *again;
    ngx_uint_t                i;
    ngx_svc_access_policy_t  *policy;

    for (i = 0; i < ngx_unit_len(written); i++) {
        policy = ngx_unit_policy(*state, written[i].text);
        text = ngx_unit_policy_text(*state, policy);

        for (again = text; *again; again++) {
            if (*again == '"' && (again == text || again[-1] != '\\')) {
                *again = '\'';
            }
        }

        assert_string_equal(text, written[i].detail);

        assert_true(ngx_svc_access_equal(policy,
                                         ngx_unit_policy(*state, text)));
    }
}


static void
test_equal(void **state)
{
    ngx_uint_t                i;
    ngx_svc_access_policy_t  *a, *b;

    for (i = 0; i < ngx_unit_len(pairs); i++) {
        a = ngx_unit_policy(*state, pairs[i].a);
        b = ngx_unit_policy(*state, pairs[i].b);

        assert_true(ngx_svc_access_equal(a, a));

        if (ngx_svc_access_equal(a, b) != pairs[i].equal
            || ngx_svc_access_equal(b, a) != pairs[i].equal)
        {
            fail_msg("%s and %s", pairs[i].a, pairs[i].b);
        }
    }
}


/* When memory runs out at any point no policy is left, and nothing leaks. */

static void
test_memory(void **state)
{
    cJSON                    *json;
    ngx_int_t                 n, rc;
    ngx_pool_t               *pool;
    ngx_svc_error_t           err;
    ngx_svc_access_policy_t  *policy;

    json = ngx_unit_json(*state,
        RULE(",'networks':['10.0.0.0/8','::/0'],'countries':['FR'],"
             "'timeWindows':[{'start':'08:00','end':'09:00'}]"));

    (void) ngx_unit_zones();

    for (n = 0, rc = NGX_ERROR; rc != NGX_OK && n < 100; n++) {
        pool = ngx_create_pool(4096, ngx_env_log());
        assert_non_null(pool);

        err.kind = NGX_SVC_E_NONE;

        ngx_env_alloc_limit(n);
        rc = ngx_svc_access_parse(pool, ngx_unit_zones(), json, "", 0, &policy,
                                  &err);
        ngx_env_alloc_limit(-1);

        assert_true(rc == NGX_OK || rc == NGX_ERROR);
        assert_int_equal(err.kind, NGX_SVC_E_NONE);

        ngx_destroy_pool(pool);
    }

    assert_in_range(n, 10, 50);
}


static void
refused(ngx_pool_t *pool, const char *text, const char *path,
    ngx_uint_t strict, ngx_svc_error_e kind, const char *detail)
{
    ngx_svc_error_t           err;
    ngx_svc_access_policy_t  *policy;

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_access_parse(pool, ngx_unit_zones(), ngx_unit_json(pool, text),
                             path, strict, &policy, &err)
        != NGX_DECLINED)
    {
        fail_msg("%s: taken", text);
    }

    ngx_unit_error(&err, kind, detail, text);
}


static const char *
many(ngx_pool_t *pool, const char *before, const char *element, ngx_uint_t n,
    const char *after)
{
    u_char  *p, *text;

    text = ngx_pnalloc(pool, strlen(before) + n * (strlen(element) + 1)
                             + strlen(after) + 1);
    assert_non_null(text);

    p = ngx_cpymem(text, before, strlen(before));

    while (n--) {
        p = ngx_cpymem(p, element, strlen(element));

        if (n) {
            *p++ = ',';
        }
    }

    memcpy(p, after, strlen(after) + 1);

    return (char *) text;
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_invalid),
        ngx_unit_test(test_object),
        ngx_unit_test(test_unknown),
        ngx_unit_test(test_limits),
        ngx_unit_test(test_written),
        ngx_unit_test(test_equal),
        ngx_unit_test(test_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
