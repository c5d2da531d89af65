/*
 * Decides what may be given for what a user has granted.
 */

#include "ngx_svc_oauth_granted_judge.h"


static const char *ngx_svc_oauth_granted_judge_client(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_granted_judge_user(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_granted_judge_target(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_granted_target(ngx_svc_oauth_t *o,
    ngx_str_t *key, ngx_str_t *uri);
static const char *ngx_svc_oauth_granted_audience(ngx_svc_oauth_t *o,
    const ngx_str_t *key);
static ngx_int_t ngx_svc_oauth_granted_judge_scopes(ngx_svc_oauth_t *o);
static const char *ngx_svc_oauth_granted_scopes(ngx_svc_oauth_t *o,
    const ngx_svc_pg_array_t *wanted);
static ngx_uint_t ngx_svc_oauth_granted_today(ngx_svc_oauth_t *o,
    const ngx_str_t *scope);
static ngx_uint_t ngx_svc_oauth_granted_has(const ngx_svc_pg_array_t *scopes,
    const ngx_str_t *scope);


ngx_int_t
ngx_svc_oauth_granted_judge(ngx_svc_oauth_t *o)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    granted->verdict = ngx_svc_oauth_granted_judge_client(o);
    granted->judged = (granted->verdict == NULL);

    if (granted->verdict) {
        return NGX_OK;
    }

    rc = ngx_svc_oauth_granted_judge_user(o);

    if (rc == NGX_OK && granted->verdict == NULL) {
        rc = ngx_svc_oauth_granted_judge_target(o);
    }

    if (rc == NGX_OK && granted->verdict == NULL) {
        rc = ngx_svc_oauth_granted_judge_scopes(o);
    }

    /* the user was not read, and may be the reason that comes first */

    return rc == NGX_OK && granted->verdict && granted->id.data && !o->wider
           ? NGX_DECLINED : rc;
}


/* The tenant must have a key if the client may be given something signed. */

static const char *
ngx_svc_oauth_granted_judge_client(ngx_svc_oauth_t *o)
{
    const char                        *verdict;
    const ngx_svc_oauth_client_row_t  *client;

    static const ngx_str_t  openid = ngx_string("openid");

    client = &((ngx_svc_oauth_granted_t *) o->data)->client;

    verdict = ngx_svc_oauth_client_row_judge(o, client);

    if (verdict == NULL
        && client->kid.data == NULL
        && (*client->format.data == 'j'
            || ngx_svc_pg_array_has(&client->scopes, &openid)))
    {
        verdict = NGX_SVC_OAUTH_GRANTED_KEY;
    }

    return verdict;
}


/* SQL looks at the user's status, by :granted_holds and in the wider reads. */

static ngx_int_t
ngx_svc_oauth_granted_judge_user(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    if (granted->id.data == NULL) {
        granted->verdict = granted->type->unknown;
        return NGX_OK;
    }

    if (!o->wider && granted->used) {
        return NGX_DECLINED;
    }

    if (granted->refusal.data) {
        granted->verdict = (char *) granted->refusal.data;

    } else if (granted->type->refreshes
               && !ngx_svc_oauth_granted_refreshes(granted))
    {
        granted->verdict = granted->type->unknown;

    } else if (!granted->assigned) {
        granted->verdict = granted->type->group;

    } else if (granted->unasked) {
        granted->verdict = granted->type->unasked;
    }

    return NGX_OK;
}


ngx_uint_t
ngx_svc_oauth_granted_refreshes(const ngx_svc_oauth_granted_t *granted)
{
    static const ngx_str_t  offline = ngx_string("offline_access");

    return granted->always
           || ngx_svc_pg_array_has(&granted->scopes, &offline);
}


/*
 * Judges the target.  What was granted for the issuer stays for the issuer: a
 * ceiling of today may refuse it, but makes nothing else of it.
 */

static ngx_int_t
ngx_svc_oauth_granted_judge_target(ngx_svc_oauth_t *o)
{
    ngx_int_t                 rc;
    ngx_str_t                 key, uri;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    rc = ngx_svc_oauth_granted_target(o, &key, &uri);

    granted->verdict = ngx_svc_oauth_granted_audience(o, &key);

    if (rc == NGX_ERROR || granted->verdict || key.data == NULL || rc == 1) {
        return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
    }

    if (!o->wider) {
        return NGX_DECLINED;
    }

    granted->audience_key = key;
    granted->token.audience = granted->registered.data ? granted->registered
                                                       : uri;

    return NGX_OK;
}


/*
 * Gets the target that is asked for, or the only one of the grant.  Returns 1
 * if it is the issuer; else 0; or NGX_ERROR.
 */

static ngx_int_t
ngx_svc_oauth_granted_target(ngx_svc_oauth_t *o, ngx_str_t *key,
    ngx_str_t *uri)
{
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    *key = o->resource_key;
    *uri = o->resource;

    ngx_str_null(&granted->audience_key);
    ngx_str_null(&granted->token.audience);

    if (key->data == NULL && granted->resource_keys.n == 1) {
        *key = granted->resource_keys.elts[0];
        *uri = granted->resources.elts[0];
    }

    return key->data
           ? ngx_svc_oauth_client_row_issuer(o, &granted->client, key) : 0;
}


static const char *
ngx_svc_oauth_granted_audience(ngx_svc_oauth_t *o, const ngx_str_t *key)
{
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    if (ngx_svc_oauth_client_row_fault(o, NGX_SVC_OAUTH_FAULT_TARGET)) {
        return NGX_SVC_OAUTH_FAULT_TARGET;
    }

    if (o->resource_key.data
        && !ngx_svc_pg_array_has(&granted->resource_keys, &o->resource_key))
    {
        return "granted_resource";
    }

    if (key->data == NULL && granted->resource_keys.n > 1) {
        return "granted_resources";
    }

    if (granted->client.audience_ceiling
        && (key->data == NULL
            || !ngx_svc_pg_array_has(&granted->client.allowed_keys, key)))
    {
        return "audience";
    }

    return NULL;
}


/*
 * Sets granted->given: of the scopes that are asked for, or of all that the
 * user has granted, those that the client may have today.
 */

static ngx_int_t
ngx_svc_oauth_granted_judge_scopes(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_uint_t                 i;
    ngx_svc_pg_array_t        *wanted;
    ngx_svc_oauth_granted_t   *granted;

    static const ngx_str_t     openid = ngx_string("openid");

    granted = o->data;

    if (ngx_svc_oauth_client_row_fault(o, NGX_SVC_OAUTH_FAULT_SCOPE)) {
        granted->verdict = NGX_SVC_OAUTH_FAULT_SCOPE;
        return NGX_OK;
    }

    if (ngx_svc_oauth_client_row_ignore(&granted->client, &granted->asked,
                                        &granted->scopes)
        != NGX_OK)
    {
        granted->verdict = "scope";
        return NGX_OK;
    }

    wanted = o->scopes.data ? &granted->asked : &granted->scopes;

    granted->given.n = 0;
    granted->given.elts = ngx_palloc(o->sr->request->pool,
                                     (wanted->n + 1) * sizeof(ngx_str_t));
    if (granted->given.elts == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < wanted->n; i++) {
        if (ngx_svc_pg_array_has(&granted->scopes, &wanted->elts[i])
            && ngx_svc_oauth_granted_may(o, &wanted->elts[i]))
        {
            granted->given.elts[granted->given.n++] = wanted->elts[i];
        }
    }

    granted->verdict = ngx_svc_oauth_granted_scopes(o, wanted);

    if (granted->verdict) {
        return NGX_OK;
    }

    rc = ngx_svc_oauth_client_row_scope(o, &granted->given,
                                        &granted->token.scope);

    if (rc == NGX_DECLINED) {
        granted->verdict = "scope_long";
    }

    granted->openid = ngx_svc_pg_array_has(&granted->given, &openid);

    return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


ngx_uint_t
ngx_svc_oauth_granted_may(ngx_svc_oauth_t *o, const ngx_str_t *scope)
{
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    return ngx_svc_oauth_granted_today(o, scope)
           && (!granted->client.scope_ceiling
               || ngx_svc_oauth_granted_has(&granted->client.allowed_scopes,
                                            scope));
}


/*
 * Returns why scopes are refused, with client->refused set; NULL: they are
 * not.  A scope that the user has not granted comes first.
 */

static const char *
ngx_svc_oauth_granted_scopes(ngx_svc_oauth_t *o,
    const ngx_svc_pg_array_t *wanted)
{
    ngx_uint_t                   i;
    const ngx_str_t             *scope;
    ngx_svc_oauth_granted_t     *granted;
    ngx_svc_oauth_client_row_t  *client;

    granted = o->data;
    client = &granted->client;

    if ((o->scopes.data == NULL || granted->given.n == wanted->n)
        && !(client->scope_ceiling && client->allowed_scopes.n == 0)
        && (granted->given.n || wanted->n == 0))
    {
        return NULL;
    }

    for (i = 0; i < granted->asked.n; i++) {
        scope = &granted->asked.elts[i];

        if (!ngx_svc_pg_array_has(&granted->scopes, scope)) {
            client->refused = *scope;
            return "granted_scope";
        }
    }

    for (i = 0; i < wanted->n; i++) {
        scope = &wanted->elts[i];

        if (!ngx_svc_oauth_granted_today(o, scope)) {
            client->refused = *scope;
            return "scope";
        }
    }

    for (i = 0; i < wanted->n && client->refused.data == NULL; i++) {
        if (!ngx_svc_pg_array_has(&granted->given, &wanted->elts[i])) {
            client->refused = wanted->elts[i];
        }
    }

    return "scope_ceiling";
}


static ngx_uint_t
ngx_svc_oauth_granted_today(ngx_svc_oauth_t *o, const ngx_str_t *scope)
{
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    return ngx_svc_oauth_granted_has(&granted->client.scopes, scope);
}


/*
 * Returns 1 if a scope is among these.  No application has offline_access
 * among its scopes: the user grants it.
 */

static ngx_uint_t
ngx_svc_oauth_granted_has(const ngx_svc_pg_array_t *scopes,
    const ngx_str_t *scope)
{
    static const ngx_str_t  offline = ngx_string("offline_access");

    return ngx_svc_pg_array_has(scopes, scope)
           || (scope->len == offline.len
               && ngx_memcmp(scope->data, offline.data, offline.len) == 0);
}
