/*
 * A plan as the answer of plan and apply.
 */

#include "ngx_svc_admin_plan.h"
#include "ngx_svc_access_equal.h"
#include "ngx_svc_access_lockout.h"


static void ngx_svc_admin_plan_resource(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_change_t *change);
static void ngx_svc_admin_plan_values(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan, const ngx_svc_admin_change_t *change);
static void ngx_svc_admin_plan_path(ngx_svc_json_writer_t *w,
    const char *path);
static void ngx_svc_admin_plan_access_path(void *data, const u_char *path,
    size_t len);
static void ngx_svc_admin_plan_policy_paths(ngx_svc_json_writer_t *w,
    const ngx_svc_member_t *fields, const ngx_svc_admin_bundle_policy_t *a,
    const ngx_svc_admin_bundle_policy_t *b);
static void ngx_svc_admin_plan_role_paths(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_bundle_role_t *a,
    const ngx_svc_admin_bundle_role_t *b);
static void ngx_svc_admin_plan_warnings(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan);
static void ngx_svc_admin_plan_warn(ngx_svc_json_writer_t *w,
    const char *code, const u_char *message, size_t len);


static const char *const  ngx_svc_admin_plan_actions[] = {
    "create", "update", "delete"
};

/* In the order of their values; the last two go on with a key. */

static const char *const  ngx_svc_admin_plan_resources[] = {
    "accessPolicy", "riskPolicy", "passwordPolicy", "groupPasswordPolicy:",
    "role:"
};


void
ngx_svc_admin_plan_write(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan, ngx_uint_t detail,
    const ngx_str_t *revision)
{
    ngx_uint_t                i;
    const char               *action;
    ngx_svc_admin_change_t   *change;

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_open(w, "changes", '[');

    change = plan->changes.elts;

    for (i = 0; i < plan->changes.nelts; i++) {

        ngx_svc_json_open(w, NULL, '{');
        ngx_svc_admin_plan_resource(w, &change[i]);

        action = ngx_svc_admin_plan_actions[change[i].action];
        ngx_svc_json_plain(w, "action", (u_char *) action,
                           ngx_strlen(action));

        if (detail) {
            ngx_svc_admin_plan_values(w, plan, &change[i]);
            ngx_svc_admin_plan_paths(w, "paths", plan, &change[i], 0);
        }

        ngx_svc_json_close(w, '}');
    }

    ngx_svc_json_close(w, ']');
    ngx_svc_json_boolean(w, "hasChanges", plan->changes.nelts > 0);

    if (detail) {
        ngx_svc_admin_plan_warnings(w, plan);

        ngx_svc_json_string_begin(w, "etag");
        ngx_svc_json_string_append(w, (u_char *) "\"", 1);
        ngx_svc_json_string_append(w, revision->data, revision->len);
        ngx_svc_json_string_append(w, (u_char *) "\"", 1);
        ngx_svc_json_string_end(w);
    }

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_plan_resource(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_change_t *change)
{
    const char                             *name;
    const ngx_str_t                        *key;
    const ngx_svc_admin_bundle_role_t      *role;
    const ngx_svc_admin_bundle_override_t  *override;

    name = ngx_svc_admin_plan_resources[change->resource];
    key = NULL;

    if (change->resource == NGX_SVC_ADMIN_CHANGE_OVERRIDE) {
        override = change->u.override.after ? change->u.override.after
                                            : change->u.override.before;
        key = &override->group_id;

    } else if (change->resource == NGX_SVC_ADMIN_CHANGE_ROLE) {
        role = change->u.role.after ? change->u.role.after
                                    : change->u.role.before;
        key = &role->key;
    }

    ngx_svc_json_string_begin(w, "resource");
    ngx_svc_json_string_append(w, (u_char *) name, ngx_strlen(name));

    if (key) {
        ngx_svc_json_string_append(w, key->data, key->len);
    }

    ngx_svc_json_string_end(w);
}


static void
ngx_svc_admin_plan_values(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan, const ngx_svc_admin_change_t *change)
{
    ngx_uint_t                     i;
    const char                    *key;
    const ngx_svc_admin_bundle_t  *bundle;

    for (i = 0; i < 2; i++) {

        key = i ? "after" : "before";
        bundle = i ? plan->candidate : plan->live;

        if (change->action == (i ? NGX_SVC_ADMIN_DELETE
                                 : NGX_SVC_ADMIN_CREATE))
        {
            ngx_svc_json_null(w, key);
            continue;
        }

        switch (change->resource) {

        case NGX_SVC_ADMIN_CHANGE_ACCESS:
            ngx_svc_admin_bundle_write_access(w, key, bundle);
            break;

        case NGX_SVC_ADMIN_CHANGE_RISK:
            ngx_svc_admin_bundle_write_policy(w, key,
                                              ngx_svc_admin_risk_members,
                                              &bundle->risk);
            break;

        case NGX_SVC_ADMIN_CHANGE_PASSWORD:
            ngx_svc_admin_bundle_write_policy(w, key,
                                              ngx_svc_admin_password_members,
                                              &bundle->password);
            break;

        case NGX_SVC_ADMIN_CHANGE_OVERRIDE:
            ngx_svc_admin_bundle_write_override(w, key,
                                          i ? change->u.override.after
                                            : change->u.override.before);
            break;

        default: /* NGX_SVC_ADMIN_CHANGE_ROLE */
            ngx_svc_admin_bundle_write_role(w, key,
                                            i ? change->u.role.after
                                              : change->u.role.before);
        }
    }
}


void
ngx_svc_admin_plan_paths(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_admin_plan_t *plan, const ngx_svc_admin_change_t *change,
    ngx_uint_t members)
{
    const ngx_svc_admin_bundle_t  *a, *b;

    a = plan->live;
    b = plan->candidate;

    ngx_svc_json_open(w, key, '[');

    if (change->action != NGX_SVC_ADMIN_UPDATE) {
        ngx_svc_json_close(w, ']');
        return;
    }

    switch (change->resource) {

    case NGX_SVC_ADMIN_CHANGE_ACCESS:
        if (a->access) {
            ngx_svc_access_differences(a->access, b->access, members,
                                       ngx_svc_admin_plan_access_path, w);
        }

        break;

    case NGX_SVC_ADMIN_CHANGE_RISK:
        ngx_svc_admin_plan_policy_paths(w, ngx_svc_admin_risk_members,
                                        &a->risk, &b->risk);
        break;

    case NGX_SVC_ADMIN_CHANGE_PASSWORD:
        ngx_svc_admin_plan_policy_paths(w, ngx_svc_admin_password_members,
                                        &a->password, &b->password);
        break;

    case NGX_SVC_ADMIN_CHANGE_OVERRIDE:
        ngx_svc_admin_plan_policy_paths(w, ngx_svc_admin_password_members,
                                        &change->u.override.before->password,
                                        &change->u.override.after->password);
        break;

    default: /* NGX_SVC_ADMIN_CHANGE_ROLE */
        ngx_svc_admin_plan_role_paths(w, change->u.role.before,
                                      change->u.role.after);
    }

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_admin_plan_path(ngx_svc_json_writer_t *w, const char *path)
{
    ngx_svc_json_plain(w, NULL, (u_char *) path, ngx_strlen(path));
}


static void
ngx_svc_admin_plan_access_path(void *data, const u_char *path, size_t len)
{
    ngx_svc_json_plain(data, NULL, path, len);
}


static void
ngx_svc_admin_plan_policy_paths(ngx_svc_json_writer_t *w,
    const ngx_svc_member_t *fields, const ngx_svc_admin_bundle_policy_t *a,
    const ngx_svc_admin_bundle_policy_t *b)
{
    ngx_uint_t  i, differ;

    differ = ngx_svc_admin_plan_policy(a, b);

    for (i = 0; fields[i].name.len; i++) {
        if (differ & (1 << i)) {
            ngx_svc_admin_plan_path(w, (const char *) fields[i].name.data);
        }
    }
}


static void
ngx_svc_admin_plan_role_paths(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_bundle_role_t *a,
    const ngx_svc_admin_bundle_role_t *b)
{
    if (a->name.len != b->name.len
        || ngx_memcmp(a->name.data, b->name.data, a->name.len) != 0)
    {
        ngx_svc_admin_plan_path(w, "name");
    }

    if (a->permissions != b->permissions) {
        ngx_svc_admin_plan_path(w, "permissions");
    }
}


static void
ngx_svc_admin_plan_warnings(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan)
{
    u_char           *p, text[NGX_SVC_ERROR_DETAIL];
    ngx_uint_t        state, n, locked;
    const char       *code;
    ngx_svc_error_t   err;

    ngx_svc_json_open(w, "warnings", '[');

    state = 0;
    locked = 0;

    for ( ;; ) {
        err.kind = NGX_SVC_E_NONE;

        if (ngx_svc_admin_plan_check(plan, 1, &state, &err) == NGX_OK) {
            break;
        }

        locked |= err.kind == NGX_SVC_E_ANTI_LOCKOUT;
        code = (char *) ngx_svc_error_row(err.kind)->code.data;

        ngx_svc_admin_plan_warn(w, code, err.detail, err.len);
    }

    if (ngx_svc_admin_plan_access(plan) && !locked
        && ngx_svc_access_time_limited(plan->candidate->access,
                                       &plan->caller))
    {
        p = ngx_sprintf(text, "The access policy would deny the caller at "
                              "some hours of the next seven days.");

        ngx_svc_admin_plan_warn(w, "admission_time_limited", text, p - text);
    }

    n = plan->counts[NGX_SVC_ADMIN_DELETE];

    if (n && !plan->prune) {
        p = ngx_sprintf(text, "%ui of the changes %s, done only with "
                              "\"prune=true\".", n,
                        n == 1 ? "is a delete" : "are deletes");

        ngx_svc_admin_plan_warn(w, "deletes_skipped", text, p - text);
    }

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_admin_plan_warn(ngx_svc_json_writer_t *w, const char *code,
    const u_char *message, size_t len)
{
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "code", (u_char *) code, ngx_strlen(code));
    ngx_svc_json_string(w, "message", message, len);
    ngx_svc_json_close(w, '}');
}
