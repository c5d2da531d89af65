/*
 * The governance of a tenant as PostgreSQL holds it.
 */

#include "ngx_svc_admin_bundle.h"
#include "ngx_svc_admin_governance.h"
#include "ngx_svc_row.h"


#define NGX_SVC_ADMIN_BUNDLE_BYTES  64  /* a row, in memory; first guess */


typedef struct {
    u_char                         *p;
    u_char                         *end;
} ngx_svc_admin_bundle_text_t;


static ngx_int_t ngx_svc_admin_bundle_groups(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_bundle_live_overrides(ngx_pool_t *pool,
    ngx_str_t *text, ngx_array_t *array);
static ngx_int_t ngx_svc_admin_bundle_live_roles(ngx_pool_t *pool,
    ngx_str_t *text, ngx_array_t *array);
static ngx_int_t ngx_svc_admin_bundle_live_policy(
    ngx_svc_admin_bundle_text_t *t, const ngx_svc_member_t *fields,
    ngx_svc_admin_bundle_policy_t *policy);
static void ngx_svc_admin_bundle_until(ngx_svc_admin_bundle_text_t *t,
    u_char c, ngx_str_t *text);


#include "ngx_svc_admin_bundle_live.sql.h"


/* Binds the ids in the order of the body: the first unknown one is named. */

static ngx_int_t
ngx_svc_admin_bundle_groups(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char                           *p;
    size_t                            len;
    ngx_uint_t                        i, n;
    ngx_svc_admin_bundle_t           *candidate;
    ngx_svc_admin_bundle_override_t  *override;

    candidate = sr->data;

    if (candidate == NULL || candidate->overrides.nelts == 0) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    n = candidate->overrides.nelts;
    len = n * (NGX_SVC_UUID_TEXT_LEN + 1) + 1;

    p = ngx_pnalloc(sr->op->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_memset(p, ',', len);

    p[0] = '{';
    p[len - 1] = '}';

    override = candidate->overrides.elts;

    for (i = 0; i < n; i++) {
        ngx_memcpy(p + 1 + override[i].index * (NGX_SVC_UUID_TEXT_LEN + 1),
                   override[i].group_id.data, NGX_SVC_UUID_TEXT_LEN);
    }

    ngx_svc_pg_bind(call, p, len);

    return NGX_OK;
}


ngx_int_t
ngx_svc_admin_bundle_live(ngx_pool_t *pool, PGresult *res,
    ngx_svc_admin_bundle_t *bundle)
{
    ngx_svc_row_admin_bundle_t   row;
    ngx_svc_admin_bundle_text_t  r, p;

    if (PQntuples(res) == 0) {
        return NGX_DECLINED;
    }

    ngx_memzero(bundle, sizeof(ngx_svc_admin_bundle_t));

    bundle->sections = NGX_SVC_ADMIN_BUNDLE_ALL;

    ngx_svc_row_admin_bundle(&row, res, 0);

    bundle->revision = row.revision;
    bundle->access_number = row.access_number;
    bundle->access_json = row.access_policy;

    r.p = row.risk.data;
    r.end = row.risk.data + row.risk.len;

    p.p = row.password.data;
    p.end = row.password.data + row.password.len;

    if (ngx_svc_admin_bundle_live_policy(&r, ngx_svc_admin_risk_members,
                                         &bundle->risk)
           != NGX_OK
        || ngx_svc_admin_bundle_live_policy(&p, ngx_svc_admin_password_members,
                                            &bundle->password)
           != NGX_OK
        || ngx_svc_admin_bundle_live_overrides(pool, &row.overrides,
                                               &bundle->overrides)
           != NGX_OK
        || ngx_svc_admin_bundle_live_roles(pool, &row.roles, &bundle->roles)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    bundle->held = ngx_svc_permissions_of(&row.held);
    bundle->unknown = ngx_max(row.unknown - 1, -1);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_bundle_live_overrides(ngx_pool_t *pool, ngx_str_t *text,
    ngx_array_t *array)
{
    ngx_svc_admin_bundle_text_t       t;
    ngx_svc_admin_bundle_override_t  *override;

    if (ngx_array_init(array, pool,
                       1 + text->len / NGX_SVC_ADMIN_BUNDLE_BYTES,
                       sizeof(ngx_svc_admin_bundle_override_t))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    t.p = text->data;
    t.end = text->data + text->len;

    while (t.p < t.end) {

        override = ngx_array_push(array);
        if (override == NULL) {
            return NGX_ERROR;
        }

        override->index = array->nelts - 1;

        ngx_svc_admin_bundle_until(&t, '(', &override->group_id);
        t.p--;

        if (ngx_svc_admin_bundle_live_policy(&t, ngx_svc_admin_password_members,
                                             &override->password)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        t.p++;
    }

    ngx_svc_admin_bundle_sort(array);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_bundle_live_roles(ngx_pool_t *pool, ngx_str_t *text,
    ngx_array_t *array)
{
    ngx_str_t                     permissions;
    ngx_svc_admin_bundle_text_t   t;
    ngx_svc_admin_bundle_role_t  *role;

    if (ngx_array_init(array, pool,
                       1 + text->len / NGX_SVC_ADMIN_BUNDLE_BYTES,
                       sizeof(ngx_svc_admin_bundle_role_t))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    t.p = text->data;
    t.end = text->data + text->len;

    while (t.p < t.end) {

        role = ngx_array_push(array);
        if (role == NULL) {
            return NGX_ERROR;
        }

        role->index = array->nelts - 1;

        ngx_svc_admin_bundle_until(&t, ' ', &role->key);
        ngx_svc_admin_bundle_until(&t, '}', &permissions);

        if (permissions.len == 0 || t.p == t.end) {
            return NGX_ERROR;
        }

        role->members = permissions.data[0] == '1';

        permissions.data++;
        permissions.len--;
        role->permissions = ngx_svc_permissions_of(&permissions);

        t.p++;
        ngx_svc_admin_bundle_until(&t, '\n', &role->name);
    }

    ngx_svc_admin_bundle_sort(array);

    return NGX_OK;
}


/* Reads "(12,t,,...)", the text of a row of integers and booleans. */

static ngx_int_t
ngx_svc_admin_bundle_live_policy(ngx_svc_admin_bundle_text_t *t,
    const ngx_svc_member_t *fields, ngx_svc_admin_bundle_policy_t *policy)
{
    u_char      *start;
    ngx_uint_t   i;

    ngx_memzero(policy, sizeof(ngx_svc_admin_bundle_policy_t));

    for (i = 0; fields[i].name.len; i++) {

        start = ++t->p;

        while (t->p < t->end && *t->p != ',' && *t->p != ')') {
            t->p++;
        }

        if (t->p >= t->end) {
            return NGX_ERROR;
        }

        if (t->p == start) {
            continue;
        }

        policy->set |= 1 << i;
        policy->fields[i] = (fields[i].type & NGX_SVC_T_BOOLEAN)
                            ? *start == 't'
                            : (int32_t) ngx_atoi(start, t->p - start);
    }

    t->p++;

    return NGX_OK;
}


/* Reads up to the character, or to the end, and goes on behind it. */

static void
ngx_svc_admin_bundle_until(ngx_svc_admin_bundle_text_t *t, u_char c,
    ngx_str_t *text)
{
    u_char  *p;

    p = memchr(t->p, c, t->end - t->p);

    if (p == NULL) {
        p = t->end;
    }

    text->data = t->p;
    text->len = p - t->p;

    t->p = (p == t->end) ? p : p + 1;
}
