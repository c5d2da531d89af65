/*
 * Why a plan cannot be applied: an error of apply, a warning of plan.
 */

#include "ngx_svc_admin_plan.h"
#include "ngx_svc_access_lockout.h"


/*
 * Looks for a reason from *i on, and leaves *i behind it.  Returns NGX_OK when
 * there is none; NGX_DECLINED with err.
 */

typedef ngx_int_t (*ngx_svc_admin_plan_check_pt)(
    const ngx_svc_admin_plan_t *plan, ngx_uint_t prune, ngx_uint_t *i,
    ngx_svc_error_t *err);


static ngx_int_t ngx_svc_admin_plan_escalation(
    const ngx_svc_admin_plan_t *plan, ngx_uint_t prune, ngx_uint_t *i,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_plan_limit(const ngx_svc_admin_plan_t *plan,
    ngx_uint_t prune, ngx_uint_t *i, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_plan_lockout(const ngx_svc_admin_plan_t *plan,
    ngx_uint_t prune, ngx_uint_t *i, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_plan_in_use(const ngx_svc_admin_plan_t *plan,
    ngx_uint_t prune, ngx_uint_t *i, ngx_svc_error_t *err);


static const ngx_svc_admin_plan_check_pt  ngx_svc_admin_plan_checks[] = {
    ngx_svc_admin_plan_escalation,
    ngx_svc_admin_plan_limit,
    ngx_svc_admin_plan_lockout,
    ngx_svc_admin_plan_in_use,
    NULL
};

/* The state: the number of the check times this, and the check's own *i. */

#define NGX_SVC_ADMIN_PLAN_CHECK  0x1000000


ngx_int_t
ngx_svc_admin_plan_check(const ngx_svc_admin_plan_t *plan, ngx_uint_t prune,
    ngx_uint_t *state, ngx_svc_error_t *err)
{
    ngx_int_t   rc;
    ngx_uint_t  check, i;

    check = *state / NGX_SVC_ADMIN_PLAN_CHECK;
    i = *state % NGX_SVC_ADMIN_PLAN_CHECK;

    while (ngx_svc_admin_plan_checks[check]) {

        rc = ngx_svc_admin_plan_checks[check](plan, prune, &i, err);

        if (rc != NGX_OK) {
            *state = check * NGX_SVC_ADMIN_PLAN_CHECK + i;
            return rc;
        }

        check++;
        i = 0;
    }

    *state = check * NGX_SVC_ADMIN_PLAN_CHECK;

    return NGX_OK;
}


ngx_int_t
ngx_svc_admin_plan_groups(const ngx_svc_admin_plan_t *plan,
    ngx_svc_error_t *err)
{
    if (plan->live->unknown < 0) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"groupPasswordPolicies[%i].groupId\" must be the id "
                        "of a group of the tenant.", plan->live->unknown);
}


/*
 * A role that does not change counts, too: nobody can apply a role with more
 * permissions than his own.
 */

static ngx_int_t
ngx_svc_admin_plan_escalation(const ngx_svc_admin_plan_t *plan,
    ngx_uint_t prune, ngx_uint_t *i, ngx_svc_error_t *err)
{
    ngx_uint_t                    lacks;
    const ngx_str_t              *name;
    ngx_svc_admin_bundle_role_t  *role;

    role = plan->candidate->roles.elts;

    while (*i < plan->candidate->roles.nelts) {

        lacks = role[*i].permissions & ~plan->live->held;
        (*i)++;

        if (lacks == 0) {
            continue;
        }

        name = ngx_svc_permission_name(ngx_svc_permission_first(lacks));

        return ngx_svc_fail(err, NGX_SVC_E_FORBIDDEN,
                            "The role \"%V\" grants \"%V\", which the token "
                            "of this request does not have.",
                            &role[*i - 1].key, name);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_plan_limit(const ngx_svc_admin_plan_t *plan, ngx_uint_t prune,
    ngx_uint_t *i, ngx_svc_error_t *err)
{
    ngx_uint_t               n, k;
    ngx_svc_admin_change_t  *change;

    if ((*i)++) {
        return NGX_OK;
    }

    n = plan->live->roles.nelts;
    change = plan->changes.elts;

    for (k = 0; k < plan->changes.nelts; k++) {

        if (change[k].section != NGX_SVC_ADMIN_ROLE) {
            continue;
        }

        if (change[k].action == NGX_SVC_ADMIN_CREATE) {
            n++;

        } else if (change[k].action == NGX_SVC_ADMIN_DELETE && plan->prune) {
            n--;
        }
    }

    /* a tenant with more roles already may have fewer of them */

    if (n <= NGX_SVC_ADMIN_ROLES || n <= plan->live->roles.nelts) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_LIMIT_EXCEEDED,
                        "The tenant would have %ui roles, and may have %d%s.",
                        n, NGX_SVC_ADMIN_ROLES,
                        plan->prune ? ""
                        : ": those that the bundle does not have stay "
                          "without \"prune=true\"");
}


static ngx_int_t
ngx_svc_admin_plan_lockout(const ngx_svc_admin_plan_t *plan, ngx_uint_t prune,
    ngx_uint_t *i, ngx_svc_error_t *err)
{
    if ((*i)++ || !ngx_svc_admin_plan_access(plan)) {
        return NGX_OK;
    }

    return ngx_svc_access_lockout(plan->candidate->access, &plan->caller, err);
}


static ngx_int_t
ngx_svc_admin_plan_in_use(const ngx_svc_admin_plan_t *plan, ngx_uint_t prune,
    ngx_uint_t *i, ngx_svc_error_t *err)
{
    ngx_svc_admin_change_t             *change;
    const ngx_svc_admin_bundle_role_t  *role;

    change = plan->changes.elts;

    while (prune && *i < plan->changes.nelts) {

        role = (change[*i].section == NGX_SVC_ADMIN_ROLE
                && change[*i].action == NGX_SVC_ADMIN_DELETE)
               ? change[*i].before : NULL;
        (*i)++;

        if (role && role->members) {
            return ngx_svc_admin_plan_role_in_use(&role->key, err);
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_admin_plan_role_in_use(const ngx_str_t *key, ngx_svc_error_t *err)
{
    return ngx_svc_fail(err, NGX_SVC_E_ROLE_IN_USE,
                        "The role \"%V\" cannot be deleted: users have it. "
                        "Give them another one first.", key);
}
