/*
 * The check that a policy does not lock out everybody, or the administrator who
 * changes it.
 */

#include "ngx_svc_access_lockout.h"
#include "ngx_svc_access_eval.h"
#include "ngx_svc_access_policy.h"


#define NGX_SVC_ACCESS_CUT    256       /* bytes of a name in a message */
#define NGX_SVC_ACCESS_HOURS  (7 * 24)


static ngx_uint_t ngx_svc_access_unconditional(
    const ngx_svc_access_policy_t *policy, ngx_uint_t rule);
static ngx_uint_t ngx_svc_access_covers(const ngx_svc_access_space_t *space,
    ngx_uint_t rule);
static ngx_int_t ngx_svc_access_fail_all(
    const ngx_svc_access_policy_t *policy, ngx_int_t rule,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_access_fail_caller(
    const ngx_svc_access_policy_t *policy, ngx_int_t rule,
    const ngx_svc_addr_t *addr, ngx_svc_error_t *err);
static void ngx_svc_access_cut(const ngx_str_t *name, ngx_str_t *cut);


ngx_uint_t
ngx_svc_access_denies_all(const ngx_svc_access_policy_t *policy,
    ngx_int_t *rule)
{
    ngx_uint_t  i;

    for (i = 0; i < policy->nrules; i++) {

        if (!policy->rules[i].enabled) {
            continue;
        }

        if (policy->rules[i].action != NGX_SVC_ACCESS_DENY) {
            return 0;
        }

        if (ngx_svc_access_unconditional(policy, i)) {
            *rule = (ngx_int_t) i;
            return 1;
        }
    }

    *rule = -1;

    return policy->action == NGX_SVC_ACCESS_DENY;
}


ngx_int_t
ngx_svc_access_lockout(const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_caller_t *caller, ngx_svc_error_t *err)
{
    ngx_int_t                rule;
    ngx_svc_access_result_t  result;

    if (ngx_svc_access_denies_all(policy, &rule)) {
        return ngx_svc_access_fail_all(policy, rule, err);
    }

    result = ngx_svc_access_evaluate(policy, &caller->addr, caller->country,
                                     caller->now);

    if (result.action == NGX_SVC_ACCESS_DENY) {
        return ngx_svc_access_fail_caller(policy, result.rule, &caller->addr,
                                          err);
    }

    return NGX_OK;
}


ngx_uint_t
ngx_svc_access_time_limited(const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_caller_t *caller)
{
    ngx_uint_t               i;
    ngx_svc_access_result_t  result;

    for (i = 0; i < NGX_SVC_ACCESS_HOURS; i++) {
        result = ngx_svc_access_evaluate(policy, &caller->addr,
                                         caller->country,
                                         caller->now + (int64_t) i * 3600);

        if (result.action == NGX_SVC_ACCESS_DENY) {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_svc_access_unconditional(const ngx_svc_access_policy_t *policy,
    ngx_uint_t rule)
{
    if (policy->rules[rule].ncountries || policy->rules[rule].nwindows) {
        return 0;
    }

    return policy->rules[rule].nnetworks == 0
           || (ngx_svc_access_covers(&policy->v4, rule)
               && ngx_svc_access_covers(&policy->v6, rule));
}


static ngx_uint_t
ngx_svc_access_covers(const ngx_svc_access_space_t *space, ngx_uint_t rule)
{
    ngx_uint_t  i;

    for (i = 0; i < space->n; i++) {
        if (!ngx_svc_access_set_has(&space->sets[i], rule)) {
            return 0;
        }
    }

    return 1;
}


static ngx_int_t
ngx_svc_access_fail_all(const ngx_svc_access_policy_t *policy, ngx_int_t rule,
    ngx_svc_error_t *err)
{
    ngx_str_t  name;

    if (rule == -1) {
        return ngx_svc_fail(err, NGX_SVC_E_ANTI_LOCKOUT,
                            "The policy would deny everybody: no rule admits, "
                            "and \"defaultAction\" is \"deny\".");
    }

    ngx_svc_access_cut(&policy->rules[rule].name, &name);

    return ngx_svc_fail(err, NGX_SVC_E_ANTI_LOCKOUT,
                        "The policy would deny everybody: rule \"%V\" (rules"
                        "[%i]) %s, and no rule before it admits.",
                        &name, rule,
                        policy->rules[rule].nnetworks ? "has all addresses"
                                                      : "has no condition");
}


static ngx_int_t
ngx_svc_access_fail_caller(const ngx_svc_access_policy_t *policy,
    ngx_int_t rule, const ngx_svc_addr_t *addr, ngx_svc_error_t *err)
{
    u_char     text[NGX_SVC_ADDR_TEXT_LEN];
    ngx_str_t  name, from;

    ngx_str_set(&from, "a caller without an address");

    if (addr->family == AF_INET || addr->family == AF_INET6) {
        from.data = text;
        from.len = ngx_svc_addr_text(text, addr) - text;
    }

    if (rule == -1) {
        return ngx_svc_fail(err, NGX_SVC_E_ANTI_LOCKOUT,
                            "The policy would deny you: no rule matches, and "
                            "\"defaultAction\" denies %V.", &from);
    }

    ngx_svc_access_cut(&policy->rules[rule].name, &name);

    return ngx_svc_fail(err, NGX_SVC_E_ANTI_LOCKOUT,
                        "The policy would deny you: rule \"%V\" (rules[%i]) "
                        "denies %V.", &name, rule, &from);
}


/* Cuts a name between two characters: the rest of the message needs room. */

static void
ngx_svc_access_cut(const ngx_str_t *name, ngx_str_t *cut)
{
    *cut = *name;

    if (cut->len > NGX_SVC_ACCESS_CUT) {
        cut->len = NGX_SVC_ACCESS_CUT;

        while ((cut->data[cut->len] & 0xc0) == 0x80) {
            cut->len--;
        }
    }
}
