/*
 * Writes a plan as the answer of plan and apply.
 */

#include "ngx_svc_admin_plan.h"
#include "ngx_svc_access_equal.h"
#include "ngx_svc_access_lockout.h"


static void ngx_svc_admin_plan_resource(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_change_t *change);
static void ngx_svc_admin_plan_value(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_admin_change_t *change, const void *value);
static void ngx_svc_admin_plan_access_paths(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_change_t *change, ngx_uint_t members);
static void ngx_svc_admin_plan_access_path(void *data, const u_char *path,
    size_t len);
static void ngx_svc_admin_plan_warnings(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan);
static void ngx_svc_admin_plan_deletes(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan);
static void ngx_svc_admin_plan_warn(ngx_svc_json_writer_t *w,
    const char *code, const u_char *message, size_t len);


static const char *const  ngx_svc_admin_plan_actions[] = {
    "create", "update", "delete"
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
            ngx_svc_admin_plan_value(w, "before", &change[i],
                                     change[i].before);
            ngx_svc_admin_plan_value(w, "after", &change[i], change[i].after);
            ngx_svc_admin_plan_paths(w, "paths", &change[i], 0);
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
    const char       *name;
    const ngx_str_t  *key;

    name = ngx_svc_admin_sections[change->section].name;
    key = ngx_svc_admin_change_key(change);

    ngx_svc_json_string_begin(w, "resource");
    ngx_svc_json_string_append(w, (u_char *) name, ngx_strlen(name));

    if (key) {
        ngx_svc_json_string_append(w, (u_char *) ":", 1);
        ngx_svc_json_string_append(w, key->data, key->len);
    }

    ngx_svc_json_string_end(w);
}


static void
ngx_svc_admin_plan_value(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_admin_change_t *change, const void *value)
{
    if (value) {
        ngx_svc_admin_sections[change->section].write(w, key, value);

    } else {
        ngx_svc_json_null(w, key);
    }
}


void
ngx_svc_admin_plan_paths(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_admin_change_t *change, ngx_uint_t members)
{
    ngx_uint_t               i, differ;
    const ngx_svc_member_t  *fields;

    fields = ngx_svc_admin_sections[change->section].fields;

    ngx_svc_json_open(w, key, '[');

    if (change->action != NGX_SVC_ADMIN_UPDATE) {
        ngx_svc_json_close(w, ']');
        return;
    }

    if (fields == NULL) {
        ngx_svc_admin_plan_access_paths(w, change, members);
        ngx_svc_json_close(w, ']');
        return;
    }

    differ = ngx_svc_admin_plan_differ(change);

    for (i = 0; fields[i].name.len; i++) {
        if (differ & (1 << i)) {
            ngx_svc_json_plain(w, NULL, fields[i].name.data,
                               fields[i].name.len);
        }
    }

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_admin_plan_access_paths(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_change_t *change, ngx_uint_t members)
{
    const ngx_svc_admin_bundle_t  *a, *b;

    a = change->before;
    b = change->after;

    if (a->access) {
        ngx_svc_access_differences(a->access, b->access, members,
                                   ngx_svc_admin_plan_access_path, w);
    }
}


static void
ngx_svc_admin_plan_access_path(void *data, const u_char *path, size_t len)
{
    ngx_svc_json_plain(data, NULL, path, len);
}


static void
ngx_svc_admin_plan_warnings(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan)
{
    u_char           *p, text[NGX_SVC_ERROR_DETAIL];
    ngx_uint_t        state, n, locked;
    const char       *code;
    const ngx_str_t  *group;
    ngx_svc_error_t   err;

    ngx_svc_json_open(w, "warnings", '[');

    state = 0;
    locked = 0;
    group = NULL;

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

    n = ngx_svc_admin_plan_looser(plan, &group);

    if (n) {
        p = ngx_snprintf(text, sizeof(text), "%ui of the groups' password "
                         "policies %s less than the tenant's in a member, and "
                         "%s: the first is of the group %V.", n,
                         n == 1 ? "asks" : "ask",
                         n == 1 ? "counts" : "count", group);

        ngx_svc_admin_plan_warn(w, "looser_group_password_policy", text,
                                p - text);
    }

    ngx_svc_admin_plan_deletes(w, plan);

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_admin_plan_deletes(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan)
{
    u_char      *p, text[NGX_SVC_ERROR_DETAIL];
    ngx_uint_t   n;

    n = plan->counts[NGX_SVC_ADMIN_DELETE];

    if (n == 0 || plan->prune) {
        return;
    }

    p = ngx_sprintf(text, "%ui of the changes %s, done only with "
                          "\"prune=true\".", n,
                    n == 1 ? "is a delete" : "are deletes");

    ngx_svc_admin_plan_warn(w, "deletes_skipped", text, p - text);
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
