/*
 * Claims about a user.
 */

#include "ngx_svc_oauth_claims.h"
#include "ngx_svc_oauth_issue.h"


#define NGX_SVC_OAUTH_CLAIMS_GROUPS  200    /* told, at most */


static ngx_str_t ngx_svc_oauth_claims_of_user(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_claims_t *claims, ngx_uint_t i);
static ngx_str_t ngx_svc_oauth_claims_name(ngx_svc_json_writer_t *w,
    PGresult *user);
static void ngx_svc_oauth_claims_value(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_claim_t *claim, const ngx_str_t *value);
static void ngx_svc_oauth_claims_groups(ngx_svc_json_writer_t *w,
    PGresult *res);


#include "ngx_svc_oauth_claims.sql.h"


ngx_uint_t
ngx_svc_oauth_claims_of(const ngx_svc_pg_array_t *scopes)
{
    ngx_uint_t                    i, wanted;
    const ngx_svc_oauth_claim_t  *claim;

    wanted = 0;

    for (i = 0; i < NGX_SVC_OAUTH_CLAIMS_N; i++) {
        claim = &ngx_svc_oauth_claim_table[i];

        if (!claim->asked && ngx_svc_pg_array_has(scopes, &claim->scope)) {
            wanted |= (ngx_uint_t) 1 << i;
        }
    }

    return wanted;
}


ngx_int_t
ngx_svc_oauth_claims_about(ngx_svc_oauth_t *o, const ngx_str_t *user_id)
{
    o->about.len = NGX_SVC_UUID_LEN;
    o->about.data = ngx_pnalloc(o->sr->request->pool, NGX_SVC_UUID_LEN);

    return o->about.data
           && ngx_svc_uuid_parse(user_id->data, user_id->len, o->about.data)
              == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


ngx_uint_t
ngx_svc_oauth_claims_of_row(const ngx_svc_oauth_claims_t *claims)
{
    return (claims->wanted & ~NGX_SVC_OAUTH_CLAIM_GROUPS) != 0;
}


ngx_int_t
ngx_svc_oauth_claims_calls(ngx_svc_oauth_t *o, ngx_svc_oauth_claims_t *claims)
{
    ngx_int_t  rc;

    rc = NGX_OK;

    if (claims->tells == NULL && ngx_svc_oauth_claims_of_row(claims)) {
        claims->tells = &ngx_svc_sql_oauth_claims;
        rc = ngx_svc_route_call(o->sr, &ngx_svc_sql_oauth_claims, NULL);
    }

    if (rc == NGX_OK && (claims->wanted & NGX_SVC_OAUTH_CLAIM_GROUPS)) {
        rc = ngx_svc_route_call(o->sr, &ngx_svc_sql_oauth_claims_groups, NULL);
    }

    return rc;
}


void
ngx_svc_oauth_claims_take(ngx_svc_oauth_t *o, ngx_svc_oauth_claims_t *claims)
{
    claims->user = ngx_svc_result(o->sr, claims->tells);
    claims->groups = ngx_svc_result(o->sr, &ngx_svc_sql_oauth_claims_groups);
}


ngx_int_t
ngx_svc_oauth_claims_send(ngx_svc_request_t *sr,
    const ngx_svc_oauth_claims_t *claims, const ngx_svc_pg_array_t *chain)
{
    ngx_str_t              actors;
    ngx_svc_json_writer_t  w;

    static ngx_str_t       no_store = ngx_string("no-store");

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 512) != NGX_OK
        || ngx_svc_add_header(sr->request, "Cache-Control", &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_str_null(&actors);

    if (chain->n
        && ngx_svc_pg_array_join(sr->request->pool, chain, &actors) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_oauth_claims_write(&w, claims);
    ngx_svc_oauth_issue_act(&w, &actors);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


void
ngx_svc_oauth_claims_write(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_claims_t *claims)
{
    ngx_str_t   value;
    ngx_uint_t  i, bit;

    for (i = 0; i < NGX_SVC_OAUTH_CLAIMS_N; i++) {
        bit = (ngx_uint_t) 1 << i;

        if (!(claims->wanted & bit)) {
            continue;
        }

        if (bit == NGX_SVC_OAUTH_CLAIM_GROUPS) {
            ngx_svc_oauth_claims_groups(w, claims->groups);
            continue;
        }

        value = ngx_svc_oauth_claims_of_user(w, claims, i);

        if (value.data) {
            ngx_svc_oauth_claims_value(w, &ngx_svc_oauth_claim_table[i],
                                       &value);
        }
    }
}


static ngx_str_t
ngx_svc_oauth_claims_of_user(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_claims_t *claims, ngx_uint_t i)
{
    const char  *column;

    switch ((ngx_uint_t) 1 << i) {

    case NGX_SVC_OAUTH_CLAIM_AUTH_TIME:
        return claims->auth_time;

    case NGX_SVC_OAUTH_CLAIM_ACR:
        return claims->acr;

    case NGX_SVC_OAUTH_CLAIM_NAME:
        return ngx_svc_oauth_claims_name(w, claims->user);

    default:
        column = (char *) ngx_svc_oauth_claim_table[i].name.data;
        return ngx_svc_row_value(claims->user, 0, column);
    }
}


/*
 * Returns the name.  A user without a display name may have a first and a last
 * name.
 */

static ngx_str_t
ngx_svc_oauth_claims_name(ngx_svc_json_writer_t *w, PGresult *user)
{
    u_char     *p;
    ngx_str_t   name, first, last;

    name = ngx_svc_row_value(user, 0, "name");
    first = ngx_svc_row_value(user, 0, "given_name");
    last = ngx_svc_row_value(user, 0, "family_name");

    if (name.data) {
        return name;
    }

    if (first.data == NULL || last.data == NULL) {
        name = first.data ? first : last;

        if (name.len == 0) {
            ngx_str_null(&name);
        }

        return name;
    }

    p = ngx_pnalloc(w->pool, first.len + 1 + last.len);

    if (p == NULL) {
        w->failed = 1;
        return name;
    }

    name.data = p;
    name.len = ngx_sprintf(p, "%V %V", &first, &last) - p;

    return name;
}


/* Writes a claim.  A list has one value, since a user has one role. */

static void
ngx_svc_oauth_claims_value(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_claim_t *claim, const ngx_str_t *value)
{
    u_char      *point;
    const char  *name;

    name = (char *) claim->name.data;

    switch (claim->kind) {

    case NGX_SVC_OAUTH_CLAIM_SECONDS:
        point = memchr(value->data, '.', value->len);
        ngx_svc_json_raw(w, name, value->data,
                         point ? (size_t) (point - value->data) : value->len);
        break;

    case NGX_SVC_OAUTH_CLAIM_BOOLEAN:
        ngx_svc_json_boolean(w, name, *value->data == 't');
        break;

    case NGX_SVC_OAUTH_CLAIM_LIST:
        ngx_svc_json_open(w, name, '[');
        ngx_svc_json_string(w, NULL, value->data, value->len);
        ngx_svc_json_close(w, ']');
        break;

    default: /* NGX_SVC_OAUTH_CLAIM_TEXT */
        ngx_svc_json_string(w, name, value->data, value->len);
    }
}


static void
ngx_svc_oauth_claims_groups(ngx_svc_json_writer_t *w, PGresult *res)
{
    int                                i, n;
    ngx_svc_row_oauth_claims_groups_t  row;

    n = PQntuples(res);

    if (n > NGX_SVC_OAUTH_CLAIMS_GROUPS) {
        ngx_svc_json_boolean(w, "groups_overage", 1);
        return;
    }

    ngx_svc_json_open(w, "groups", '[');

    for (i = 0; i < n; i++) {
        ngx_svc_row_oauth_claims_groups(&row, res, i);
        ngx_svc_json_string(w, NULL, row.name.data, row.name.len);
    }

    ngx_svc_json_close(w, ']');
}
