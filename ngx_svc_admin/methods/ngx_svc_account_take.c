/*
 * What a new account takes of a body, and the method that it begins with.
 */

#include "ngx_svc_account_take.h"
#include "ngx_svc_methods.h"


static ngx_str_t ngx_svc_account_presented(cJSON *body);
static const ngx_svc_member_t *ngx_svc_account_members(
    ngx_svc_account_t *account, const ngx_svc_member_t *table);


ngx_int_t
ngx_svc_account_take(ngx_svc_account_t *account, ngx_svc_account_body_t *body)
{
    ngx_int_t                rc;
    ngx_str_t                name;
    ngx_svc_request_t       *sr;
    const ngx_svc_member_t  *members;

    sr = account->login.sr;
    name = ngx_svc_account_presented(sr->json);

    if (ngx_svc_account_take_method(account, &name) != NGX_OK) {
        return NGX_ERROR;
    }

    members = ngx_svc_account_members(account, sr->route->members);
    if (members == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_schema_object(members, 0, sr->json, body, &sr->error);

    if (rc != NGX_OK || !body->proof.set) {
        return rc;
    }

    if (body->display_name.set && !body->display_name.null) {
        account->display_name = body->display_name.str;
    }

    return account->method->account->take(account, &body->proof);
}


/* Returns the name of the method whose proof is there, or none. */

static ngx_str_t
ngx_svc_account_presented(cJSON *body)
{
    const char                     *member;
    const ngx_svc_method_t *const  *method;

    static const ngx_str_t  none = ngx_null_string;

    for (method = ngx_svc_methods; *method; method++) {

        if ((*method)->account == NULL) {
            continue;
        }

        member = (char *) (*method)->account->member.name.data;

        if (cJSON_GetObjectItemCaseSensitive(body, member)) {
            return (*method)->name;
        }
    }

    return none;
}


/* Copies a table into the request's pool, with the method's member in it. */

static const ngx_svc_member_t *
ngx_svc_account_members(ngx_svc_account_t *account,
    const ngx_svc_member_t *table)
{
    ngx_uint_t         i, n;
    ngx_svc_member_t  *members;

    for (n = 1; table[n - 1].name.len; n++) { /* void */ }

    members = ngx_palloc(account->login.sr->request->pool,
                         n * sizeof(ngx_svc_member_t));
    if (members == NULL) {
        return NULL;
    }

    for (i = 0; i < n; i++) {
        members[i] = table[i];

        if (table[i].offset == offsetof(ngx_svc_account_body_t, proof)) {
            members[i] = account->method->account->member;
            members[i].offset = table[i].offset;
        }
    }

    return members;
}


ngx_int_t
ngx_svc_account_take_method(ngx_svc_account_t *account, const ngx_str_t *name)
{
    const ngx_svc_method_t *const  *method;

    for (method = ngx_svc_methods; *method; method++) {

        if ((*method)->account
            && (name->len == 0 || ngx_svc_same(name, &(*method)->name)))
        {
            account->method = *method;
            account->login.method = (*method)->login;

            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}
