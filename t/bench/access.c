/*
 * How many evaluations of an access policy a core makes in a second: of
 * processor time, so that the load of the machine does not count.
 *
 *     access POLICY SECONDS
 *
 * POLICY: "usual", 100 rules of 20 networks of both families, of which none
 * matches, or the last one; or "worst", as much of everything as a policy may
 * have, and all of it to be looked at.  Prints the rate, milliseconds to parse,
 * and the policy's bytes.
 */

#include "ngx_env.h"
#include "ngx_svc_access_policy.h"
#include "ngx_svc_access_eval.h"
#include "ngx_svc_zone_load.h"

#include <time.h>


#define BENCH_TEXT   (4 * 1024 * 1024)
#define BENCH_CASES  4096
#define BENCH_BATCH  256


typedef struct {
    ngx_svc_addr_t            addr;
    ngx_svc_access_country_t  country;
    int64_t                   now;
} bench_case_t;


static u_char *bench_usual(u_char *p);
static u_char *bench_worst(u_char *p);
static void bench_case(bench_case_t *c, ngx_uint_t worst);
static double bench_now(void);
static void bench_fail(const char *what);
static uint64_t bench_random(void);


static bench_case_t  cases[BENCH_CASES];


int
main(int argc, char **argv)
{
    cJSON                    *json;
    double                    begin, parsed, now;
    u_char                   *text;
    uint64_t                  n, matched;
    ngx_str_t                 directory = ngx_string("/usr/share/zoneinfo");
    ngx_str_t                 body;
    ngx_uint_t                i, worst;
    ngx_pool_t               *pool;
    bench_case_t             *c;
    ngx_svc_zones_t          *zones;
    ngx_svc_error_t           err;
    ngx_svc_access_policy_t  *policy;

    if (argc != 3) {
        bench_fail("usage: access usual|worst SECONDS");
    }

    ngx_env_init();
    ngx_svc_json_init();

    worst = strcmp(argv[1], "worst") == 0;
    pool = ngx_create_pool(65536, ngx_env_log());
    text = malloc(BENCH_TEXT);
    zones = ngx_svc_zones_load(pool, &directory, ngx_env_log());

    if (pool == NULL || text == NULL || zones == NULL) {
        bench_fail("no memory, or no time zones");
    }

    body.data = text;
    body.len = (worst ? bench_worst(text) : bench_usual(text)) - text;
    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, &body, &json, &err) != NGX_OK) {
        bench_fail("no JSON");
    }

    begin = bench_now();

    if (ngx_svc_access_parse(pool, zones, json, "", 1, &policy, &err)
        != NGX_OK)
    {
        bench_fail("no policy");
    }

    parsed = bench_now() - begin;

    for (i = 0; i < BENCH_CASES; i++) {
        bench_case(&cases[i], worst);
    }

    n = 0;
    matched = 0;
    begin = bench_now();

    do {
        for (i = 0; i < BENCH_BATCH; i++) {
            c = &cases[n++ % BENCH_CASES];
            matched += ngx_svc_access_evaluate(policy, &c->addr, c->country,
                                               c->now)
                       .rule >= 0;
        }

        now = bench_now();

    } while (now - begin < atof(argv[2]));

    /* half of the usual cases match the last rule, the worst ones match none */

    if (worst ? matched != 0 : (matched < n / 4 || matched > n / 4 * 3)) {
        bench_fail("wrong answers");
    }

    printf("%.0f %.2f %zu\n", (double) n / (now - begin), parsed * 1000,
           policy->size);

    ngx_destroy_pool(pool);
    free(text);

    return 0;
}


static u_char *
bench_usual(u_char *p)
{
    ngx_uint_t  i, j;

    p = ngx_sprintf(p, "{\"rules\":[");

    for (i = 0; i < 100; i++) {
        p = ngx_sprintf(p, "%s{\"name\":\"rule %ui\",\"action\":\"deny\","
                           "\"networks\":[", i ? "," : "", i);

        for (j = 0; j < 10; j++) {
            p = ngx_sprintf(p, "%s\"%ui.%ui.%ui.0/24\",\"2001:db8:%xi:%xi::"
                               "/%ui\"", j ? "," : "", 10 + j, i,
                               (ngx_uint_t) (bench_random() % 256), i, j,
                               64 + 8 * (j % 3));
        }

        p = ngx_sprintf(p, "%s]}",
                        i < 99 ? "" : ",\"203.0.113.0/24\",\"2001:db9::/32\"");
    }

    return ngx_sprintf(p, "],\"defaultAction\":\"allow\"}");
}


/* Each rule has networks around all addresses, and no open time window. */

static u_char *
bench_worst(u_char *p)
{
    ngx_uint_t  i, j;

    static const char  *zones[] = {
        "Europe/Paris", "America/New_York", "Australia/Lord_Howe",
        "America/Sao_Paulo", "Africa/Casablanca", "Asia/Kathmandu",
        "Pacific/Apia", "Europe/Dublin", "America/Nuuk", "Asia/Gaza",
        "America/St_Johns", "Antarctica/Troll", "Pacific/Kiritimati",
        "Asia/Tehran", "America/Havana", "Africa/Cairo", "Asia/Beirut",
        "Europe/London", "America/Santiago", "Pacific/Easter"
    };

    p = ngx_sprintf(p, "{\"rules\":[");

    for (i = 0; i < 100; i++) {
        p = ngx_sprintf(p, "%s{\"name\":\"rule %ui\",\"action\":\"deny\","
                           "\"networks\":[\"::/0\",\"0.0.0.0/0\"",
                        i ? "," : "", i);

        for (j = 0; j < 98; j++) {
            p = ngx_sprintf(p, ",\"2001:db8:%xi:%xi:%xi::/%ui\"", i, j,
                            (ngx_uint_t) (bench_random() % 65536), 49 + j % 48);
        }

        p = ngx_sprintf(p, "],\"countries\":[");

        for (j = 0; j < 250; j++) {
            p = ngx_sprintf(p, "%s\"%c%c\"", j ? "," : "", 'A' + j / 26,
                            'A' + j % 26);
        }

        p = ngx_sprintf(p, "],\"timeWindows\":[");

        for (j = 0; j < 20; j++) {
            p = ngx_sprintf(p, "%s{\"start\":\"00:00\",\"end\":\"00:01\","
                               "\"days\":[\"mon\"],\"timezone\":\"%s\"}",
                            j ? "," : "", zones[j]);
        }

        p = ngx_sprintf(p, "]}");
    }

    return ngx_sprintf(p, "],\"defaultAction\":\"allow\"}");
}


/*
 * The worst time is after the last change in a time zone's file, where its rule
 * applies.
 */

static void
bench_case(bench_case_t *c, ngx_uint_t worst)
{
    uint64_t        n;
    u_char          text[64], *p;

    n = bench_random();

    if (n % 2) {
        p = ngx_sprintf(text, n % 4 == 1 ? "203.0.113.%ui" : "2001:db9::%xi",
                        (ngx_uint_t) (n >> 32) % 256);
    } else {
        p = ngx_sprintf(text, n % 4 ? "%ui.9.9.9" : "2001:db8:%xi:999::1",
                        (ngx_uint_t) (n >> 32) % 100);
    }

    if (ngx_svc_addr_parse(text, p - text, &c->addr) != NGX_OK) {
        bench_fail("no address");
    }

    c->country.code[0] = 'B';
    c->country.code[1] = 'C';

    /* a Friday */

    c->now = (worst ? 4102488000 : 1700222400) + (int64_t) (n >> 40) % 3600;
}


static double
bench_now(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);

    return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}


static void
bench_fail(const char *what)
{
    fprintf(stderr, "access: %s\n", what);
    exit(1);
}


static uint64_t
bench_random(void)
{
    static uint64_t  seed = 88172645463325252;

    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;

    return seed;
}
