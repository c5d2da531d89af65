/*
 * A plan as one statement, which does all of it or nothing.
 */

#include "ngx_svc_admin_apply.h"
#include "ngx_svc_admin_access.h"
#include "ngx_svc_admin_governance.h"
#include "ngx_svc_row.h"
#include "ngx_svc_access_write.h"


#define NGX_SVC_ADMIN_APPLY_TEXT  1024  /* first guess, in bytes */


/* The texts that are parameters of the statement. */

typedef enum {
    NGX_SVC_ADMIN_APPLY_ACCESS = 0,
    NGX_SVC_ADMIN_APPLY_RISK,
    NGX_SVC_ADMIN_APPLY_PASSWORD,
    NGX_SVC_ADMIN_APPLY_OVERRIDES,
    NGX_SVC_ADMIN_APPLY_OVERRIDES_GONE,
    NGX_SVC_ADMIN_APPLY_ROLES,
    NGX_SVC_ADMIN_APPLY_ROLES_GONE,
    NGX_SVC_ADMIN_APPLY_EVENTS,
    NGX_SVC_ADMIN_APPLY_NTEXTS
} ngx_svc_admin_apply_text_e;

typedef struct {
    ngx_pool_t                   *pool;
    const ngx_svc_admin_plan_t   *plan;
    const ngx_str_t              *revision;
    ngx_svc_json_writer_t         texts[NGX_SVC_ADMIN_APPLY_NTEXTS];
} ngx_svc_admin_apply_write_t;

typedef struct {
    const char                   *action;
    const char                   *target;       /* type of the target */
} ngx_svc_admin_apply_event_t;


static ngx_int_t ngx_svc_admin_apply_bind_revision(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_apply_bind_text(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_apply_texts(ngx_svc_admin_apply_write_t *aw);
static ngx_svc_json_writer_t *ngx_svc_admin_apply_text(
    ngx_svc_admin_apply_write_t *aw, ngx_svc_admin_apply_text_e i);
static void ngx_svc_admin_apply_change(ngx_svc_admin_apply_write_t *aw,
    const ngx_svc_admin_change_t *change);
static void ngx_svc_admin_apply_policy(ngx_svc_json_writer_t *w,
    const ngx_svc_member_t *fields,
    const ngx_svc_admin_bundle_policy_t *policy);
static void ngx_svc_admin_apply_override(ngx_svc_admin_apply_write_t *aw,
    const ngx_svc_admin_change_t *change);
static void ngx_svc_admin_apply_role(ngx_svc_admin_apply_write_t *aw,
    const ngx_svc_admin_change_t *change);
static void ngx_svc_admin_apply_event(ngx_svc_admin_apply_write_t *aw,
    const ngx_svc_admin_change_t *change);
static void ngx_svc_admin_apply_applied(ngx_svc_admin_apply_write_t *aw);
static void ngx_svc_admin_apply_named(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_apply_event_t *event);


/*
 * Texts are JSON, or arrays as PostgreSQL writes them, whose elements in quotes
 * are JSON strings.  The closing bracket is the opening one's code plus 2.
 */

static const u_char  ngx_svc_admin_apply_brackets[] = {
    [NGX_SVC_ADMIN_APPLY_ACCESS] = '{',
    [NGX_SVC_ADMIN_APPLY_RISK] = '{',
    [NGX_SVC_ADMIN_APPLY_PASSWORD] = '{',
    [NGX_SVC_ADMIN_APPLY_OVERRIDES] = '[',
    [NGX_SVC_ADMIN_APPLY_OVERRIDES_GONE] = '{',
    [NGX_SVC_ADMIN_APPLY_ROLES] = '[',
    [NGX_SVC_ADMIN_APPLY_ROLES_GONE] = '{',
    [NGX_SVC_ADMIN_APPLY_EVENTS] = '['
};


static const ngx_svc_admin_apply_event_t
    ngx_svc_admin_apply_events[NGX_SVC_ADMIN_NSECTIONS]
                              [NGX_SVC_ADMIN_DELETE + 1] =
{
    [NGX_SVC_ADMIN_ACCESS] = {
        [NGX_SVC_ADMIN_UPDATE] =
            { "access_policy.updated", "accessPolicy" }
    },

    [NGX_SVC_ADMIN_RISK] = {
        [NGX_SVC_ADMIN_UPDATE] =
            { "risk_policy.updated", "riskPolicy" }
    },

    [NGX_SVC_ADMIN_PASSWORD] = {
        [NGX_SVC_ADMIN_UPDATE] =
            { "password_policy.updated", "passwordPolicy" }
    },

    [NGX_SVC_ADMIN_OVERRIDE] = {
        [NGX_SVC_ADMIN_CREATE] =
            { "group_password_policy.created", "groupPasswordPolicy" },
        [NGX_SVC_ADMIN_UPDATE] =
            { "group_password_policy.updated", "groupPasswordPolicy" },
        [NGX_SVC_ADMIN_DELETE] =
            { "group_password_policy.deleted", "groupPasswordPolicy" }
    },

    [NGX_SVC_ADMIN_ROLE] = {
        [NGX_SVC_ADMIN_CREATE] =
            { "role.created", "role" },
        [NGX_SVC_ADMIN_UPDATE] =
            { "role.updated", "role" },
        [NGX_SVC_ADMIN_DELETE] =
            { "role.deleted", "role" }
    }
};

static const ngx_svc_admin_apply_event_t  ngx_svc_admin_apply_applied_event =
    { "config.applied", "config" };


#define ngx_svc_admin_apply_param(text)                                       \
    { .bind = ngx_svc_admin_apply_bind_text, .n = text }

#include "ngx_svc_admin_apply_write.sql.h"


ngx_int_t
ngx_svc_admin_apply_call(ngx_svc_request_t *sr, ngx_pool_t *pool,
    const ngx_svc_admin_plan_t *plan, const ngx_str_t *revision)
{
    ngx_svc_admin_apply_write_t  aw;

    aw.pool = pool;
    aw.plan = plan;
    aw.revision = revision;

    if (ngx_svc_admin_apply_texts(&aw) != NGX_OK
        || ngx_svc_route_call(sr, &ngx_svc_sql_admin_governance_lock, NULL)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_config_apply, &aw);
}


/* body: an ngx_svc_admin_apply_write_t. */

static ngx_int_t
ngx_svc_admin_apply_bind_revision(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_apply_write_t  *aw = body;

    ngx_svc_pg_bind_str(call, aw->revision);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_apply_bind_text(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t                     text;
    ngx_svc_json_writer_t        *w;
    ngx_svc_admin_apply_write_t  *aw = body;

    w = &aw->texts[param->n];

    text.data = w->start;
    text.len = w->last - w->start;

    ngx_svc_pg_bind_str(call, text.data ? &text : NULL);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_apply_texts(ngx_svc_admin_apply_write_t *aw)
{
    ngx_uint_t               i;
    ngx_svc_json_writer_t   *w;
    ngx_svc_admin_change_t  *change;

    ngx_memzero(aw->texts, sizeof(aw->texts));

    change = aw->plan->changes.elts;

    for (i = 0; i < aw->plan->changes.nelts; i++) {
        if (ngx_svc_admin_change_done(aw->plan, &change[i])) {
            ngx_svc_admin_apply_change(aw, &change[i]);
            ngx_svc_admin_apply_event(aw, &change[i]);
        }
    }

    ngx_svc_admin_apply_applied(aw);

    for (i = 0; i < NGX_SVC_ADMIN_APPLY_NTEXTS; i++) {
        w = &aw->texts[i];

        if (w->start) {
            ngx_svc_json_close(w, ngx_svc_admin_apply_brackets[i] + 2);
        }

        if (w->failed) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* Returns the writer of a text, and begins the text at its first use. */

static ngx_svc_json_writer_t *
ngx_svc_admin_apply_text(ngx_svc_admin_apply_write_t *aw,
    ngx_svc_admin_apply_text_e i)
{
    ngx_svc_json_writer_t  *w;

    w = &aw->texts[i];

    if (w->start == NULL && !w->failed
        && ngx_svc_json_writer_init(w, aw->pool, NGX_SVC_ADMIN_APPLY_TEXT)
           == NGX_OK)
    {
        ngx_svc_json_open(w, NULL, ngx_svc_admin_apply_brackets[i]);
    }

    return w;
}


static void
ngx_svc_admin_apply_change(ngx_svc_admin_apply_write_t *aw,
    const ngx_svc_admin_change_t *change)
{
    ngx_svc_json_writer_t         *w;
    const ngx_svc_admin_bundle_t  *candidate;

    switch (change->section) {

    case NGX_SVC_ADMIN_ACCESS:
        candidate = change->after;
        w = ngx_svc_admin_apply_text(aw, NGX_SVC_ADMIN_APPLY_ACCESS);
        ngx_svc_access_write(w, candidate->access);
        break;

    case NGX_SVC_ADMIN_RISK:
        w = ngx_svc_admin_apply_text(aw, NGX_SVC_ADMIN_APPLY_RISK);
        ngx_svc_admin_apply_policy(w, ngx_svc_admin_risk_members,
                                   change->after);
        break;

    case NGX_SVC_ADMIN_PASSWORD:
        w = ngx_svc_admin_apply_text(aw, NGX_SVC_ADMIN_APPLY_PASSWORD);
        ngx_svc_admin_apply_policy(w, ngx_svc_admin_password_members,
                                   change->after);
        break;

    case NGX_SVC_ADMIN_OVERRIDE:
        ngx_svc_admin_apply_override(aw, change);
        break;

    default: /* NGX_SVC_ADMIN_ROLE */
        ngx_svc_admin_apply_role(aw, change);
    }
}


static void
ngx_svc_admin_apply_policy(ngx_svc_json_writer_t *w,
    const ngx_svc_member_t *fields,
    const ngx_svc_admin_bundle_policy_t *policy)
{
    ngx_uint_t  i;

    for (i = 0; fields[i].name.len; i++) {

        if (policy->set & (1 << i)) {
            ngx_svc_json_integer(w, NULL, policy->fields[i]);

        } else {
            ngx_svc_json_null(w, NULL);
        }
    }
}


static void
ngx_svc_admin_apply_override(ngx_svc_admin_apply_write_t *aw,
    const ngx_svc_admin_change_t *change)
{
    const ngx_str_t                        *key;
    ngx_svc_json_writer_t                  *w;
    const ngx_svc_admin_bundle_override_t  *override;

    key = ngx_svc_admin_change_key(change);
    override = change->after;

    if (override == NULL) {
        w = ngx_svc_admin_apply_text(aw, NGX_SVC_ADMIN_APPLY_OVERRIDES_GONE);
        ngx_svc_json_plain(w, NULL, key->data, key->len);
        return;
    }

    w = ngx_svc_admin_apply_text(aw, NGX_SVC_ADMIN_APPLY_OVERRIDES);

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "id", key->data, key->len);
    ngx_svc_json_open(w, "fields", '[');
    ngx_svc_admin_apply_policy(w, ngx_svc_admin_password_members,
                               &override->password);
    ngx_svc_json_close(w, ']');
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_apply_role(ngx_svc_admin_apply_write_t *aw,
    const ngx_svc_admin_change_t *change)
{
    const ngx_str_t        *key;
    ngx_svc_json_writer_t  *w;

    key = ngx_svc_admin_change_key(change);

    if (change->after) {
        w = ngx_svc_admin_apply_text(aw, NGX_SVC_ADMIN_APPLY_ROLES);
        ngx_svc_admin_sections[NGX_SVC_ADMIN_ROLE].write(w, NULL,
                                                         change->after);
        return;
    }

    w = ngx_svc_admin_apply_text(aw, NGX_SVC_ADMIN_APPLY_ROLES_GONE);
    ngx_svc_json_plain(w, NULL, key->data, key->len);
}


static void
ngx_svc_admin_apply_event(ngx_svc_admin_apply_write_t *aw,
    const ngx_svc_admin_change_t *change)
{
    const ngx_str_t                    *key;
    ngx_svc_json_writer_t              *w;
    const ngx_svc_admin_bundle_role_t  *role;

    w = ngx_svc_admin_apply_text(aw, NGX_SVC_ADMIN_APPLY_EVENTS);
    key = ngx_svc_admin_change_key(change);
    role = NULL;

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_admin_apply_named(w,
                              &ngx_svc_admin_apply_events[change->section]
                                                         [change->action]);

    if (key) {
        ngx_svc_json_plain(w, "id", key->data, key->len);
    }

    if (change->section == NGX_SVC_ADMIN_ROLE) {
        role = change->after ? change->after : change->before;
        ngx_svc_json_string(w, "name", role->name.data, role->name.len);
    }

    ngx_svc_json_open(w, "details", '{');

    if (change->action == NGX_SVC_ADMIN_UPDATE) {
        ngx_svc_admin_plan_paths(w, "changed", change, 1);

    } else if (change->action == NGX_SVC_ADMIN_CREATE && role) {
        ngx_svc_permissions_write(w, "permissions", role->permissions);
    }

    ngx_svc_json_close(w, '}');
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_apply_applied(ngx_svc_admin_apply_write_t *aw)
{
    ngx_svc_json_writer_t       *w;
    const ngx_svc_admin_plan_t  *plan;

    plan = aw->plan;
    w = ngx_svc_admin_apply_text(aw, NGX_SVC_ADMIN_APPLY_EVENTS);

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_admin_apply_named(w, &ngx_svc_admin_apply_applied_event);

    ngx_svc_json_open(w, "details", '{');
    ngx_svc_json_integer(w, "created", plan->counts[NGX_SVC_ADMIN_CREATE]);
    ngx_svc_json_integer(w, "updated", plan->counts[NGX_SVC_ADMIN_UPDATE]);
    ngx_svc_json_integer(w, "deleted",
                         plan->prune ? plan->counts[NGX_SVC_ADMIN_DELETE] : 0);
    ngx_svc_json_boolean(w, "prune", plan->prune);
    ngx_svc_json_raw(w, "revision", aw->revision->data, aw->revision->len);
    ngx_svc_json_close(w, '}');

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_apply_named(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_apply_event_t *event)
{
    ngx_svc_json_plain(w, "action", (u_char *) event->action,
                       ngx_strlen(event->action));
    ngx_svc_json_plain(w, "type", (u_char *) event->target,
                       ngx_strlen(event->target));
}


ngx_svc_admin_apply_e
ngx_svc_admin_apply_result(ngx_svc_request_t *sr, ngx_str_t *role)
{
    ngx_svc_row_admin_config_apply_t  row;

    ngx_svc_row_admin_config_apply(&row,
                     ngx_svc_result(sr, &ngx_svc_sql_admin_config_apply), 0);

    if (row.applied) {
        return NGX_SVC_ADMIN_APPLIED;
    }

    if (row.moved) {
        return NGX_SVC_ADMIN_APPLY_MOVED;
    }

    *role = row.used;

    return NGX_SVC_ADMIN_APPLY_IN_USE;
}
