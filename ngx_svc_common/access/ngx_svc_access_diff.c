/*
 * Where two policies differ.
 */

#include "ngx_svc_access_policy.h"


static void ngx_svc_access_rule_paths(ngx_uint_t i, ngx_uint_t mask,
    ngx_svc_access_path_pt handler, void *data);


/* In the order of their bits. */

static const char *const  ngx_svc_access_rule_members[] = {
    "name", "enabled", "action", "networks", "countries", "timeWindows", NULL
};


void
ngx_svc_access_differences(const ngx_svc_access_policy_t *a,
    const ngx_svc_access_policy_t *b, ngx_uint_t members,
    ngx_svc_access_path_pt handler, void *data)
{
    u_char      *p, path[NGX_SVC_ACCESS_PATH];
    ngx_uint_t   i, n, mask, any;

    n = ngx_max(a->nrules, b->nrules);
    any = 0;

    for (i = 0; i < n; i++) {

        if (i < a->nrules && i < b->nrules) {
            mask = ngx_svc_access_rule_differs(&a->rules[i], &b->rules[i]);
            any |= mask;

            if (!members) {
                ngx_svc_access_rule_paths(i, mask, handler, data);
            }

            continue;
        }

        any = 1;

        if (!members) {
            p = ngx_sprintf(path, "rules[%ui]", i);
            handler(data, path, p - path);
        }
    }

    if (members && any) {
        handler(data, (u_char *) "rules", sizeof("rules") - 1);
    }

    if (a->action != b->action) {
        handler(data, (u_char *) "defaultAction",
                sizeof("defaultAction") - 1);
    }
}


static void
ngx_svc_access_rule_paths(ngx_uint_t i, ngx_uint_t mask,
    ngx_svc_access_path_pt handler, void *data)
{
    u_char      *p, path[NGX_SVC_ACCESS_PATH];
    ngx_uint_t   m;

    for (m = 0; ngx_svc_access_rule_members[m]; m++) {

        if (mask & (1 << m)) {
            p = ngx_sprintf(path, "rules[%ui].%s", i,
                            ngx_svc_access_rule_members[m]);
            handler(data, path, p - path);
        }
    }
}
