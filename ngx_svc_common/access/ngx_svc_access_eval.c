/*
 * The evaluation of a policy for an address, a country and a time.
 */

#include "ngx_svc_access_eval.h"
#include "ngx_svc_access_policy.h"


#define NGX_SVC_ACCESS_DAY  86400


/* The times in the policy's zones; each is computed when it is first needed. */

typedef struct {
    int64_t           now;
    uint64_t          known[(NGX_SVC_ACCESS_ZONES + 63) / 64];
    uint16_t          minutes[NGX_SVC_ACCESS_ZONES];    /* of the week */
} ngx_svc_access_clock_t;


static ngx_svc_access_set_t ngx_svc_access_networks(
    const ngx_svc_access_policy_t *policy, const ngx_svc_addr_t *addr);
static ngx_uint_t ngx_svc_access_country(ngx_svc_access_country_t country);
static ngx_uint_t ngx_svc_access_in_windows(
    const ngx_svc_access_policy_t *policy, const ngx_svc_access_rule_t *rule,
    ngx_svc_access_clock_t *clock);
static ngx_uint_t ngx_svc_access_minute(const ngx_svc_access_policy_t *policy,
    ngx_uint_t zone, ngx_svc_access_clock_t *clock);
static ngx_uint_t ngx_svc_access_in_window(
    const ngx_svc_access_window_t *window, ngx_uint_t minute);


ngx_svc_access_result_t
ngx_svc_access_evaluate(const ngx_svc_access_policy_t *policy,
    const ngx_svc_addr_t *addr, ngx_svc_access_country_t country, int64_t now)
{
    uint64_t                       word;
    ngx_uint_t                     i, n;
    ngx_svc_access_set_t           set;
    ngx_svc_access_clock_t         clock;
    ngx_svc_access_result_t        result;
    const ngx_svc_access_set_t    *countries;
    const ngx_svc_access_rule_t   *rule;

    set = ngx_svc_access_networks(policy, addr);

    if (policy->countries) {
        countries = &policy->countries[ngx_svc_access_country(country)];
        set.words[0] &= countries->words[0];
        set.words[1] &= countries->words[1];
    }

    clock.now = now;
    ngx_memzero(clock.known, (policy->nzones + 63) / 64 * sizeof(uint64_t));

    for (i = 0; i < 2; i++) {

        for (word = set.words[i]; word; word &= word - 1) {
            n = i * 64 + (ngx_uint_t) __builtin_ctzll(word);
            rule = &policy->rules[n];

            if (rule->nwindows == 0
                || ngx_svc_access_in_windows(policy, rule, &clock))
            {
                result.action = rule->action;
                result.rule = (ngx_int_t) n;

                return result;
            }
        }
    }

    result.action = policy->action;
    result.rule = -1;

    return result;
}


/*
 * Returns the enabled rules whose networks contain the address, or that have no
 * networks.
 */

static ngx_svc_access_set_t
ngx_svc_access_networks(const ngx_svc_access_policy_t *policy,
    const ngx_svc_addr_t *addr)
{
    ngx_uint_t                     low, high, middle;
    ngx_svc_access_set_t           set;
    ngx_svc_access_point_t         point;
    const ngx_svc_access_space_t  *space;

    set = policy->anywhere;

    if (addr->family == AF_INET || addr->family == AF_INET6) {
        space = addr->family == AF_INET ? &policy->v4 : &policy->v6;
        point = ngx_svc_access_point(addr);

        low = 0;
        high = space->n;

        while (high - low > 1) {
            middle = (low + high) / 2;

            if (ngx_svc_access_point_cmp(&space->starts[middle], &point) > 0) {
                high = middle;

            } else {
                low = middle;
            }
        }

        set.words[0] |= space->sets[low].words[0];
        set.words[1] |= space->sets[low].words[1];
    }

    set.words[0] &= policy->enabled.words[0];
    set.words[1] &= policy->enabled.words[1];

    return set;
}


static ngx_uint_t
ngx_svc_access_country(ngx_svc_access_country_t country)
{
    ngx_uint_t  i;

    for (i = 0; i < 2; i++) {
        if (country.code[i] < 'A' || country.code[i] > 'Z') {
            return NGX_SVC_ACCESS_UNKNOWN;
        }
    }

    return ngx_svc_access_code(country.code);
}


static ngx_uint_t
ngx_svc_access_in_windows(const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_rule_t *rule, ngx_svc_access_clock_t *clock)
{
    ngx_uint_t                      i, minute;
    const ngx_svc_access_window_t  *window;

    for (i = 0; i < rule->nwindows; i++) {
        window = &rule->windows[i];
        minute = ngx_svc_access_minute(policy, window->index, clock);

        if (ngx_svc_access_in_window(window, minute)) {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_svc_access_minute(const ngx_svc_access_policy_t *policy, ngx_uint_t zone,
    ngx_svc_access_clock_t *clock)
{
    int64_t   day, second, now;
    uint64_t  bit;

    bit = (uint64_t) 1 << (zone % 64);

    if (clock->known[zone / 64] & bit) {
        return clock->minutes[zone];
    }

    now = clock->now + ngx_svc_zone_offset(policy->zones[zone], clock->now);

    day = now / NGX_SVC_ACCESS_DAY;
    second = now % NGX_SVC_ACCESS_DAY;

    if (second < 0) {
        second += NGX_SVC_ACCESS_DAY;
        day--;
    }

    /* 1970-01-01 was a Thursday */

    day = (day % NGX_SVC_ACCESS_DAYS + NGX_SVC_ACCESS_DAYS + 3)
          % NGX_SVC_ACCESS_DAYS;

    clock->known[zone / 64] |= bit;
    clock->minutes[zone] = (uint16_t) (day * 1440 + second / 60);

    return clock->minutes[zone];
}


/* A window over midnight is one of the day on which it starts. */

static ngx_uint_t
ngx_svc_access_in_window(const ngx_svc_access_window_t *window,
    ngx_uint_t minute)
{
    ngx_uint_t  day, today, yesterday;

    day = minute / 1440;
    minute %= 1440;

    today = (window->mask >> day) & 1;

    if (window->start < window->end) {
        return today && minute >= window->start && minute < window->end;
    }

    yesterday = (window->mask >> ((day + 6) % 7)) & 1;

    return (today && minute >= window->start)
           || (yesterday && minute < window->end);
}
