/*
 * Access policies: what a sign-in from an address, in a country, at a time may
 * do.
 */

#ifndef _NGX_SVC_ACCESS_H_INCLUDED_
#define _NGX_SVC_ACCESS_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_error.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_zone.h"


#define NGX_SVC_ACCESS_RULES      100
#define NGX_SVC_ACCESS_NETWORKS   100   /* of a rule */
#define NGX_SVC_ACCESS_COUNTRIES  250
#define NGX_SVC_ACCESS_WINDOWS    20
#define NGX_SVC_ACCESS_NAME       100   /* characters */


typedef enum {
    NGX_SVC_ACCESS_ALLOW = 0,
    NGX_SVC_ACCESS_MFA,
    NGX_SVC_ACCESS_DENY
} ngx_svc_access_action_e;


typedef struct ngx_svc_access_policy_s  ngx_svc_access_policy_t;


/* Two capital letters; anything else: unknown, which only "ZZ" matches. */

typedef struct {
    u_char                    code[2];
} ngx_svc_access_country_t;


typedef struct {
    ngx_svc_access_action_e   action;
    ngx_int_t                 rule;     /* its index; -1: the default action */
} ngx_svc_access_result_t;


/*
 * Validates the members "rules" and "defaultAction" of an object, and makes a
 * policy of them.  It is of the pool, and does not point into the tree.
 *
 * path: what comes before a member's name in messages: "" or "accessPolicy".
 * strict: unknown members are errors, of rules and windows too.
 *
 * NGX_OK; NGX_DECLINED with err, which names the member as in
 * "rules[2].networks[0]"; NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_access_parse(ngx_pool_t *pool,
    const ngx_svc_zones_t *zones, cJSON *json, const char *path,
    ngx_uint_t strict, ngx_svc_access_policy_t **policy, ngx_svc_error_t *err);

/*
 * The members "rules" and "defaultAction" in their canonical form: all members
 * of a rule, in one order, defaults filled in, countries in capitals; rules,
 * and what is in their lists, in the order given, but a day of a window once.
 */
NGX_SVC_API void ngx_svc_access_write(ngx_svc_json_writer_t *w,
    const ngx_svc_access_policy_t *policy);

/*
 * 1: they mean the same: the same rules in the same order, whatever the order
 * and the spelling of networks, countries, days and windows, and however often
 * each is there.  Two names of one time zone are different.
 */
NGX_SVC_API ngx_uint_t ngx_svc_access_equal(const ngx_svc_access_policy_t *a,
    const ngx_svc_access_policy_t *b);

/*
 * ngx_svc_access_diff.c: calls the handler with the path of each member that
 * differs: "rules[0].action", "rules[2]" of a rule that only one of them has,
 * "defaultAction"; or, with members set, with "rules" and "defaultAction"
 * alone.
 */
typedef void (*ngx_svc_access_path_pt)(void *data, const u_char *path,
    size_t len);

NGX_SVC_API void ngx_svc_access_differences(const ngx_svc_access_policy_t *a,
    const ngx_svc_access_policy_t *b, ngx_uint_t members,
    ngx_svc_access_path_pt handler, void *data);

/*
 * The first enabled rule whose networks, countries and windows all match.  now:
 * seconds since the epoch.  Allocates nothing and changes nothing.
 */
NGX_SVC_API ngx_svc_access_result_t ngx_svc_access_evaluate(
    const ngx_svc_access_policy_t *policy, const ngx_svc_addr_t *addr,
    ngx_svc_access_country_t country, int64_t now);

/* "allow", "mfa" or "deny"; and a rule's name, or NULL for -1. */
NGX_SVC_API const ngx_str_t *ngx_svc_access_action(
    ngx_svc_access_action_e action);
NGX_SVC_API const ngx_str_t *ngx_svc_access_rule_name(
    const ngx_svc_access_policy_t *policy, ngx_int_t rule);


/* Anti-lockout. */

typedef struct {
    ngx_svc_addr_t            addr;     /* AF_UNSPEC: none, of a unix socket;
                                           no network contains it */
    ngx_svc_access_country_t  country;
    int64_t                   now;      /* seconds since the epoch */
} ngx_svc_access_caller_t;

/* 1: it admits nobody, from anywhere, ever; *rule: which one denies, or -1. */
NGX_SVC_API ngx_uint_t ngx_svc_access_denies_all(
    const ngx_svc_access_policy_t *policy, ngx_int_t *rule);

/*
 * NGX_OK, or NGX_DECLINED with err set (NGX_SVC_E_ANTI_LOCKOUT): it denies all,
 * or the caller; the message names the rule and the address.
 */
NGX_SVC_API ngx_int_t ngx_svc_access_lockout(
    const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_caller_t *caller, ngx_svc_error_t *err);

/* 1: the caller would be denied at some hour of the next seven days. */
NGX_SVC_API ngx_uint_t ngx_svc_access_time_limited(
    const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_caller_t *caller);


/*
 * ngx_svc_access_cache.c: parsed policies of this worker, by tenant and
 * version, a bounded number of them, each in a pool of its own.
 *
 * A policy from json, which is what ngx_svc_access_write() wrote; a version
 * whose text is another one than before is parsed again.  NULL: memory has run
 * out, or the text is no policy, as the log says.  It lives at least until
 * control goes back to the event loop.
 */
NGX_SVC_API const ngx_svc_access_policy_t *ngx_svc_access_cached(
    const ngx_svc_zones_t *zones, const ngx_str_t *tenant, int64_t version,
    ngx_str_t *json, ngx_log_t *log);


#endif /* _NGX_SVC_ACCESS_H_INCLUDED_ */
