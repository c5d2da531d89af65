/*
 * From two bundles to a list of changes, in the order of the contract.  What
 * means the same is no change, however it is spelt.
 */

#include "ngx_svc_admin_plan.h"
#include "ngx_svc_access_equal.h"


static ngx_svc_admin_change_t *ngx_svc_admin_plan_add(
    ngx_svc_admin_plan_t *plan, ngx_svc_admin_resource_e resource,
    ngx_svc_admin_action_e action);
static ngx_int_t ngx_svc_admin_plan_policies(ngx_svc_admin_plan_t *plan);
static ngx_int_t ngx_svc_admin_plan_overrides(ngx_svc_admin_plan_t *plan);
static ngx_int_t ngx_svc_admin_plan_roles(ngx_svc_admin_plan_t *plan);
static ngx_uint_t ngx_svc_admin_plan_same_role(
    const ngx_svc_admin_bundle_role_t *a,
    const ngx_svc_admin_bundle_role_t *b);


ngx_int_t
ngx_svc_admin_plan_make(ngx_pool_t *pool, ngx_svc_admin_plan_t *plan)
{
    ngx_memzero(plan->counts, sizeof(plan->counts));

    if (ngx_array_init(&plan->changes, pool, 8, sizeof(ngx_svc_admin_change_t))
        != NGX_OK
        || ngx_svc_admin_plan_policies(plan) != NGX_OK
        || ngx_svc_admin_plan_overrides(plan) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_admin_plan_roles(plan);
}


ngx_uint_t
ngx_svc_admin_plan_done(const ngx_svc_admin_plan_t *plan)
{
    return plan->counts[NGX_SVC_ADMIN_CREATE]
           + plan->counts[NGX_SVC_ADMIN_UPDATE]
           + (plan->prune ? plan->counts[NGX_SVC_ADMIN_DELETE] : 0);
}


ngx_uint_t
ngx_svc_admin_plan_access(const ngx_svc_admin_plan_t *plan)
{
    ngx_svc_admin_change_t  *change;

    change = plan->changes.elts;

    return plan->changes.nelts
           && change[0].resource == NGX_SVC_ADMIN_CHANGE_ACCESS;
}


static ngx_svc_admin_change_t *
ngx_svc_admin_plan_add(ngx_svc_admin_plan_t *plan,
    ngx_svc_admin_resource_e resource, ngx_svc_admin_action_e action)
{
    ngx_svc_admin_change_t  *change;

    change = ngx_array_push(&plan->changes);
    if (change == NULL) {
        return NULL;
    }

    ngx_memzero(change, sizeof(ngx_svc_admin_change_t));

    change->resource = resource;
    change->action = action;

    plan->counts[action]++;

    return change;
}


static ngx_int_t
ngx_svc_admin_plan_policies(ngx_svc_admin_plan_t *plan)
{
    ngx_uint_t                     sections;
    const ngx_svc_admin_bundle_t  *a, *b;

    a = plan->live;
    b = plan->candidate;
    sections = a->sections & b->sections;

    if ((sections & NGX_SVC_ADMIN_BUNDLE_ACCESS)
        && (a->access == NULL || !ngx_svc_access_equal(a->access, b->access))
        && ngx_svc_admin_plan_add(plan, NGX_SVC_ADMIN_CHANGE_ACCESS,
                                  NGX_SVC_ADMIN_UPDATE)
           == NULL)
    {
        return NGX_ERROR;
    }

    if ((sections & NGX_SVC_ADMIN_BUNDLE_RISK)
        && ngx_svc_admin_plan_policy(&a->risk, &b->risk)
        && ngx_svc_admin_plan_add(plan, NGX_SVC_ADMIN_CHANGE_RISK,
                                  NGX_SVC_ADMIN_UPDATE)
           == NULL)
    {
        return NGX_ERROR;
    }

    if ((sections & NGX_SVC_ADMIN_BUNDLE_PASSWORD)
        && ngx_svc_admin_plan_policy(&a->password, &b->password)
        && ngx_svc_admin_plan_add(plan, NGX_SVC_ADMIN_CHANGE_PASSWORD,
                                  NGX_SVC_ADMIN_UPDATE)
           == NULL)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_plan_overrides(ngx_svc_admin_plan_t *plan)
{
    ngx_int_t                         rc;
    ngx_svc_admin_action_e            action;
    ngx_svc_admin_change_t           *change;
    ngx_svc_admin_bundle_override_t  *a, *b, *a_end, *b_end;

    if (!(plan->live->sections & plan->candidate->sections
          & NGX_SVC_ADMIN_BUNDLE_OVERRIDES))
    {
        return NGX_OK;
    }

    a = plan->live->overrides.elts;
    a_end = a + plan->live->overrides.nelts;
    b = plan->candidate->overrides.elts;
    b_end = b + plan->candidate->overrides.nelts;

    while (a < a_end || b < b_end) {

        rc = (a == a_end) ? 1
             : (b == b_end) ? -1
             : ngx_svc_admin_bundle_compare(&a->group_id, &b->group_id);

        if (rc == 0
            && ngx_svc_admin_plan_policy(&a->password, &b->password) == 0)
        {
            a++;
            b++;
            continue;
        }

        action = (rc == 0) ? NGX_SVC_ADMIN_UPDATE
                 : (rc > 0) ? NGX_SVC_ADMIN_CREATE : NGX_SVC_ADMIN_DELETE;

        change = ngx_svc_admin_plan_add(plan, NGX_SVC_ADMIN_CHANGE_OVERRIDE,
                                        action);
        if (change == NULL) {
            return NGX_ERROR;
        }

        change->u.override.before = (rc <= 0) ? a++ : NULL;
        change->u.override.after = (rc >= 0) ? b++ : NULL;
    }

    return NGX_OK;
}


ngx_uint_t
ngx_svc_admin_plan_policy(const ngx_svc_admin_bundle_policy_t *a,
    const ngx_svc_admin_bundle_policy_t *b)
{
    ngx_uint_t  i, differ;

    differ = a->set ^ b->set;

    for (i = 0; i < NGX_SVC_ADMIN_POLICY_FIELDS; i++) {
        differ |= (ngx_uint_t) (a->fields[i] != b->fields[i]) << i;
    }

    return differ;
}


static ngx_int_t
ngx_svc_admin_plan_roles(ngx_svc_admin_plan_t *plan)
{
    ngx_int_t                     rc;
    ngx_svc_admin_action_e        action;
    ngx_svc_admin_change_t       *change;
    ngx_svc_admin_bundle_role_t  *a, *b, *a_end, *b_end;

    if (!(plan->live->sections & plan->candidate->sections
          & NGX_SVC_ADMIN_BUNDLE_ROLES))
    {
        return NGX_OK;
    }

    a = plan->live->roles.elts;
    a_end = a + plan->live->roles.nelts;
    b = plan->candidate->roles.elts;
    b_end = b + plan->candidate->roles.nelts;

    while (a < a_end || b < b_end) {

        rc = (a == a_end) ? 1
             : (b == b_end) ? -1
             : ngx_svc_admin_bundle_compare(&a->key, &b->key);

        if (rc == 0 && ngx_svc_admin_plan_same_role(a, b)) {
            a++;
            b++;
            continue;
        }

        action = (rc == 0) ? NGX_SVC_ADMIN_UPDATE
                 : (rc > 0) ? NGX_SVC_ADMIN_CREATE : NGX_SVC_ADMIN_DELETE;

        change = ngx_svc_admin_plan_add(plan, NGX_SVC_ADMIN_CHANGE_ROLE,
                                        action);
        if (change == NULL) {
            return NGX_ERROR;
        }

        change->u.role.before = (rc <= 0) ? a++ : NULL;
        change->u.role.after = (rc >= 0) ? b++ : NULL;
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_admin_plan_same_role(const ngx_svc_admin_bundle_role_t *a,
    const ngx_svc_admin_bundle_role_t *b)
{
    return a->permissions == b->permissions
           && a->name.len == b->name.len
           && ngx_memcmp(a->name.data, b->name.data, a->name.len) == 0;
}
