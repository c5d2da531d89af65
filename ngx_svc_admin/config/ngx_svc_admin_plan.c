/*
 * Makes a list of changes from two bundles, in the order of the contract.
 * Values that mean the same are no change, however they are spelled.
 */

#include "ngx_svc_admin_plan.h"
#include "ngx_svc_access_equal.h"


static ngx_int_t ngx_svc_admin_plan_value(ngx_svc_admin_plan_t *plan,
    ngx_svc_admin_section_e section, const void *before, const void *after);
static ngx_int_t ngx_svc_admin_plan_array(ngx_svc_admin_plan_t *plan,
    ngx_svc_admin_section_e section, const ngx_array_t *before,
    const ngx_array_t *after);
static ngx_int_t ngx_svc_admin_plan_add(ngx_svc_admin_plan_t *plan,
    const ngx_svc_admin_change_t *change);
static ngx_uint_t ngx_svc_admin_plan_access_differ(const void *before,
    const void *after);
static ngx_uint_t ngx_svc_admin_plan_policy_differ(const void *before,
    const void *after);
static ngx_uint_t ngx_svc_admin_plan_override_differ(const void *before,
    const void *after);
static ngx_uint_t ngx_svc_admin_plan_role_differ(const void *before,
    const void *after);
static ngx_uint_t ngx_svc_admin_plan_passwords(
    const ngx_svc_admin_plan_t *plan);
static ngx_uint_t ngx_svc_admin_plan_password_looser(
    const ngx_svc_admin_bundle_policy_t *group,
    const ngx_svc_admin_bundle_policy_t *tenant);


/* Each returns a set: bit i: the section's fields[i] differs. */

static ngx_uint_t (*const ngx_svc_admin_plan_differs[NGX_SVC_ADMIN_NSECTIONS])(
    const void *before, const void *after) =
{
    [NGX_SVC_ADMIN_ACCESS] = ngx_svc_admin_plan_access_differ,
    [NGX_SVC_ADMIN_RISK] = ngx_svc_admin_plan_policy_differ,
    [NGX_SVC_ADMIN_PASSWORD] = ngx_svc_admin_plan_policy_differ,
    [NGX_SVC_ADMIN_OVERRIDE] = ngx_svc_admin_plan_override_differ,
    [NGX_SVC_ADMIN_ROLE] = ngx_svc_admin_plan_role_differ
};


ngx_int_t
ngx_svc_admin_plan_make(ngx_pool_t *pool, ngx_svc_admin_plan_t *plan)
{
    ngx_int_t                       rc;
    ngx_uint_t                      i;
    const u_char                   *before, *after;
    const ngx_svc_admin_section_t  *section;

    ngx_memzero(plan->counts, sizeof(plan->counts));

    rc = ngx_array_init(&plan->changes, pool, 8,
                        sizeof(ngx_svc_admin_change_t));

    for (i = 0; i < NGX_SVC_ADMIN_NSECTIONS && rc == NGX_OK; i++) {

        if (!(plan->live->sections & plan->candidate->sections & (1 << i))) {
            continue;
        }

        section = &ngx_svc_admin_sections[i];
        before = (const u_char *) plan->live + section->offset;
        after = (const u_char *) plan->candidate + section->offset;

        rc = section->size
             ? ngx_svc_admin_plan_array(plan, i, (const ngx_array_t *) before,
                                        (const ngx_array_t *) after)
             : ngx_svc_admin_plan_value(plan, i, before, after);
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_plan_value(ngx_svc_admin_plan_t *plan,
    ngx_svc_admin_section_e section, const void *before, const void *after)
{
    ngx_svc_admin_change_t  change;

    change.section = section;
    change.action = NGX_SVC_ADMIN_UPDATE;
    change.before = before;
    change.after = after;

    return ngx_svc_admin_plan_differ(&change)
           ? ngx_svc_admin_plan_add(plan, &change) : NGX_OK;
}


/* Both arrays are sorted by the keys that their elements begin with. */

static ngx_int_t
ngx_svc_admin_plan_array(ngx_svc_admin_plan_t *plan,
    ngx_svc_admin_section_e section, const ngx_array_t *before,
    const ngx_array_t *after)
{
    u_char                  *a, *b, *a_end, *b_end;
    ngx_int_t                rc;
    ngx_svc_admin_change_t   change;

    change.section = section;

    a = before->elts;
    a_end = a + before->nelts * before->size;
    b = after->elts;
    b_end = b + after->nelts * after->size;

    while (a < a_end || b < b_end) {

        rc = (a == a_end) ? 1
             : (b == b_end) ? -1
             : ngx_svc_admin_bundle_compare((ngx_str_t *) a, (ngx_str_t *) b);

        change.action = (rc == 0) ? NGX_SVC_ADMIN_UPDATE
                        : (rc > 0) ? NGX_SVC_ADMIN_CREATE
                                   : NGX_SVC_ADMIN_DELETE;
        change.before = (rc <= 0) ? a : NULL;
        change.after = (rc >= 0) ? b : NULL;

        a += (rc <= 0) ? before->size : 0;
        b += (rc >= 0) ? after->size : 0;

        if (rc == 0 && ngx_svc_admin_plan_differ(&change) == 0) {
            continue;
        }

        if (ngx_svc_admin_plan_add(plan, &change) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_plan_add(ngx_svc_admin_plan_t *plan,
    const ngx_svc_admin_change_t *change)
{
    ngx_svc_admin_change_t  *new;

    new = ngx_array_push(&plan->changes);
    if (new == NULL) {
        return NGX_ERROR;
    }

    *new = *change;
    plan->counts[change->action]++;

    return NGX_OK;
}


ngx_uint_t
ngx_svc_admin_plan_differ(const ngx_svc_admin_change_t *change)
{
    return ngx_svc_admin_plan_differs[change->section](change->before,
                                                       change->after);
}


/* A stored policy that is not valid any more always differs. */

static ngx_uint_t
ngx_svc_admin_plan_access_differ(const void *before, const void *after)
{
    const ngx_svc_admin_bundle_t  *a = before, *b = after;

    return a->access == NULL || !ngx_svc_access_equal(a->access, b->access);
}


static ngx_uint_t
ngx_svc_admin_plan_policy_differ(const void *before, const void *after)
{
    ngx_uint_t                            i, differ;
    const ngx_svc_admin_bundle_policy_t  *a = before, *b = after;

    differ = a->set ^ b->set;

    for (i = 0; i < NGX_SVC_ADMIN_POLICY_FIELDS; i++) {
        differ |= (ngx_uint_t) (a->fields[i] != b->fields[i]) << i;
    }

    return differ;
}


static ngx_uint_t
ngx_svc_admin_plan_override_differ(const void *before, const void *after)
{
    const ngx_svc_admin_bundle_override_t  *a = before, *b = after;

    return ngx_svc_admin_plan_policy_differ(&a->password, &b->password);
}


/* The bits are in the order of ngx_svc_admin_role_members. */

static ngx_uint_t
ngx_svc_admin_plan_role_differ(const void *before, const void *after)
{
    ngx_uint_t                          name, permissions;
    const ngx_svc_admin_bundle_role_t  *a = before, *b = after;

    name = ngx_svc_admin_bundle_compare(&a->name, &b->name) != 0;
    permissions = a->permissions != b->permissions;

    return name | permissions << 1;
}


const ngx_str_t *
ngx_svc_admin_change_key(const ngx_svc_admin_change_t *change)
{
    const ngx_svc_admin_bundle_key_t  *element;

    if (ngx_svc_admin_sections[change->section].size == 0) {
        return NULL;
    }

    element = change->after ? change->after : change->before;

    return &element->key;
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

    return plan->changes.nelts && change[0].section == NGX_SVC_ADMIN_ACCESS;
}


ngx_uint_t
ngx_svc_admin_plan_looser(const ngx_svc_admin_plan_t *plan,
    const ngx_str_t **first)
{
    ngx_uint_t                              i, n, sections;
    const ngx_array_t                      *overrides;
    const ngx_svc_admin_bundle_policy_t    *tenant;
    const ngx_svc_admin_bundle_override_t  *override;

    if (!ngx_svc_admin_plan_passwords(plan)) {
        return 0;
    }

    sections = plan->candidate->sections;
    tenant = (sections & 1 << NGX_SVC_ADMIN_PASSWORD)
             ? &plan->candidate->password : &plan->live->password;
    overrides = (sections & 1 << NGX_SVC_ADMIN_OVERRIDE)
                ? &plan->candidate->overrides : &plan->live->overrides;
    override = overrides->elts;
    n = 0;

    for (i = 0; i < overrides->nelts; i++) {

        if (ngx_svc_admin_plan_password_looser(&override[i].password, tenant)
            && n++ == 0)
        {
            *first = &override[i].group_id;
        }
    }

    return n;
}


/* Returns whether a password policy is created or changed. */

static ngx_uint_t
ngx_svc_admin_plan_passwords(const ngx_svc_admin_plan_t *plan)
{
    ngx_uint_t               i;
    ngx_svc_admin_change_t  *change;

    change = plan->changes.elts;

    for (i = 0; i < plan->changes.nelts; i++) {

        if ((change[i].section == NGX_SVC_ADMIN_PASSWORD
             || change[i].section == NGX_SVC_ADMIN_OVERRIDE)
            && change[i].action != NGX_SVC_ADMIN_DELETE)
        {
            return 1;
        }
    }

    return 0;
}


/* A greater value is stricter, but an age, of which 0 is none. */

static ngx_uint_t
ngx_svc_admin_plan_password_looser(const ngx_svc_admin_bundle_policy_t *group,
    const ngx_svc_admin_bundle_policy_t *tenant)
{
    int32_t                  mine, theirs;
    ngx_uint_t               i;
    const ngx_svc_member_t  *field;

    field = ngx_svc_admin_sections[NGX_SVC_ADMIN_PASSWORD].fields;

    for (i = 0; field[i].name.len; i++) {

        if (!(group->set & 1 << i)) {
            continue;
        }

        mine = group->fields[i];
        theirs = tenant->fields[i];

        if (ngx_strcmp(field[i].name.data, "maxAgeDays") == 0) {
            mine = mine ? -mine : INT32_MIN;
            theirs = theirs ? -theirs : INT32_MIN;
        }

        if (mine < theirs) {
            return 1;
        }
    }

    return 0;
}
