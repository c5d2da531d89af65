/*
 * Access policies: they allow or deny a sign-in, or ask for a second factor, by
 * its address, its country and the time.
 */

#ifndef _NGX_SVC_ACCESS_H_INCLUDED_
#define _NGX_SVC_ACCESS_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_error.h"
#include "ngx_svc_json.h"
#include "ngx_svc_zone.h"


#define NGX_SVC_ACCESS_RULES      100
#define NGX_SVC_ACCESS_NETWORKS   100   /* of a rule */
#define NGX_SVC_ACCESS_COUNTRIES  250   /* of a rule */
#define NGX_SVC_ACCESS_WINDOWS    20    /* of a rule */
#define NGX_SVC_ACCESS_NAME       100   /* characters */


typedef enum {
    NGX_SVC_ACCESS_ALLOW = 0,
    NGX_SVC_ACCESS_MFA,
    NGX_SVC_ACCESS_DENY
} ngx_svc_access_action_e;


typedef struct ngx_svc_access_policy_s  ngx_svc_access_policy_t;


/*
 * A country in two capital letters.  Anything else is an unknown country, which
 * only "ZZ" matches.
 */

typedef struct {
    u_char                    code[2];
} ngx_svc_access_country_t;


typedef struct {
    ngx_svc_access_action_e   action;
    ngx_int_t                 rule;     /* its index; -1: the default action */
} ngx_svc_access_result_t;


/*
 * Validates the members "rules" and "defaultAction" of an object, and makes a
 * policy from them.  The policy is of the pool, and does not point into the
 * tree.
 *
 * path: what comes before a member's name in messages, "" or "accessPolicy".
 * flags: NGX_SVC_S_..., also for rules and windows.
 *
 * Returns NGX_OK; NGX_DECLINED with err set, which names the member as in
 * "rules[2].networks[0]"; or NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_access_parse(ngx_pool_t *pool,
    const ngx_svc_zones_t *zones, cJSON *json, const char *path,
    ngx_uint_t flags, ngx_svc_access_policy_t **policy, ngx_svc_error_t *err);

/* Returns "allow", "mfa" or "deny". */
NGX_SVC_API const ngx_str_t *ngx_svc_access_action(
    ngx_svc_access_action_e action);

/* Returns the name of a rule; NULL for -1. */
NGX_SVC_API const ngx_str_t *ngx_svc_access_rule_name(
    const ngx_svc_access_policy_t *policy, ngx_int_t rule);


#endif /* _NGX_SVC_ACCESS_H_INCLUDED_ */
