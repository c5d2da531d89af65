/*
 * The grant type token-exchange (RFC 8693): a client acts for the subject of a
 * token that was issued to the client, or that is for its resource.  The token
 * names all actors, and the journal has each exchange.
 *
 * One round trip reads both tokens and the clients that they depend on; a
 * second one writes what follows from that.
 */

#include "ngx_svc_oauth_exchange.h"
#include "ngx_svc_oauth_kept.h"
#include "ngx_svc_oauth_presented.h"
#include "ngx_svc_oauth_token.h"


#define NGX_SVC_OAUTH_ACCESS_TOKEN                                            \
    "urn:ietf:params:oauth:token-type:access_token"
#define NGX_SVC_OAUTH_JWT                                                     \
    "urn:ietf:params:oauth:token-type:jwt"


static ngx_int_t ngx_svc_oauth_exchange_check(ngx_svc_oauth_t *o);
static ngx_uint_t ngx_svc_oauth_exchange_acts(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_subject(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_actor(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_requested(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_type(ngx_svc_oauth_t *o,
    const char *name, const ngx_str_t *type);
static ngx_int_t ngx_svc_oauth_exchange_target(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_read(ngx_svc_oauth_t *o,
    const ngx_str_t *text, ngx_svc_oauth_bearer_t *bearer);
static ngx_int_t ngx_svc_oauth_exchange_issuer(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_rows(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_store(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_bearer_t *bearer);
static ngx_int_t ngx_svc_oauth_exchange_journal(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_more(ngx_svc_oauth_t *o,
    ngx_svc_json_writer_t *w);


#include "ngx_svc_oauth_exchange.sql.h"


const ngx_svc_oauth_grant_t  ngx_svc_oauth_exchange = {
    .name = ngx_string(NGX_SVC_OAUTH_EXCHANGE),
    .metric = NGX_SVC_M_TOKEN_EXCHANGE,
    .login = NGX_SVC_OAUTH_LOGIN_SYNC,
    .check = ngx_svc_oauth_exchange_check,
    .rows = ngx_svc_oauth_exchange_rows,
    .first = &ngx_svc_sql_oauth_exchange_token,
    .jwt = &ngx_svc_sql_oauth_exchange_token_jwt,
    .statement = &ngx_svc_sql_oauth_exchange_read,
    .wider = &ngx_svc_sql_oauth_exchange_read_wider,
    .decide = ngx_svc_oauth_exchange_decide,
    .journal = ngx_svc_oauth_exchange_journal,
    .more = ngx_svc_oauth_exchange_more
};


/*
 * Checks the parameters.  A token that is not good is refused only once the
 * client is known.
 */

static ngx_int_t
ngx_svc_oauth_exchange_check(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_exchange_t  *ex;

    o->data = ngx_pcalloc(o->sr->request->pool,
                          sizeof(ngx_svc_oauth_exchange_t));
    if (o->data == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_exchange_requested(o);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_subject(o);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_actor(o);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_exchange_target(o));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_scope(o));
    }

    ex = o->data;
    o->wider = (o->resource_key.data || ex->audience.data
                || ngx_svc_oauth_exchange_acts(o));

    return rc;
}


/* Returns 1 if a JWT says that it has an actor, of whom more is to be read. */

static ngx_uint_t
ngx_svc_oauth_exchange_acts(ngx_svc_oauth_t *o)
{
    return o->token.jws
           && cJSON_GetObjectItemCaseSensitive(o->token.jws->payload, "act");
}


static ngx_int_t
ngx_svc_oauth_exchange_requested(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;
    ngx_str_t  type;

    rc = ngx_svc_oauth_value(o, "requested_token_type", &type);

    if (rc != NGX_OK || type.data == NULL
        || (type.len == sizeof(NGX_SVC_OAUTH_ACCESS_TOKEN) - 1
            && ngx_memcmp(type.data, NGX_SVC_OAUTH_ACCESS_TOKEN, type.len)
               == 0))
    {
        return rc;
    }

    return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "'requested_token_type' is not '"
                        NGX_SVC_OAUTH_ACCESS_TOKEN "'.");
}


static ngx_int_t
ngx_svc_oauth_exchange_subject(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;
    ngx_str_t  text, type;

    rc = ngx_svc_oauth_needed(o, "subject_token", &text);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_needed(o, "subject_token_type", &type);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_type(o, "subject_token_type", &type);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_read(o, &text, &o->token);
    }

    return rc == NGX_OK ? ngx_svc_oauth_exchange_issuer(o) : rc;
}


static ngx_int_t
ngx_svc_oauth_exchange_actor(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_str_t                  text, type;
    ngx_svc_oauth_exchange_t  *ex;

    static const ngx_str_t  no = { 1, (u_char *) "\0" };

    ex = o->data;

    ex->actor.unverified = no;

    rc = ngx_svc_oauth_value(o, "actor_token", &text);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_value(o, "actor_token_type", &type);
    }

    if (rc != NGX_OK || (text.data == NULL && type.data == NULL)) {
        return rc;
    }

    if (text.data == NULL || type.data == NULL) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "'actor_token' and 'actor_token_type' come "
                            "together.");
    }

    ex->acts = 1;

    rc = ngx_svc_oauth_exchange_type(o, "actor_token_type", &type);

    return rc == NGX_OK ? ngx_svc_oauth_exchange_read(o, &text, &ex->actor)
                        : rc;
}


static ngx_int_t
ngx_svc_oauth_exchange_type(ngx_svc_oauth_t *o, const char *name,
    const ngx_str_t *type)
{
    ngx_uint_t  i;

    static const ngx_str_t  types[] = {
        ngx_string(NGX_SVC_OAUTH_ACCESS_TOKEN),
        ngx_string(NGX_SVC_OAUTH_JWT)
    };

    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (type->len == types[i].len
            && ngx_memcmp(type->data, types[i].data, type->len) == 0)
        {
            return NGX_OK;
        }
    }

    return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "'%s' is neither '%V' nor '%V'.", name, &types[0],
                        &types[1]);
}


/*
 * Takes the target.  "audience" is a URI, too, or the clientId of an
 * application that has one.
 */

static ngx_int_t
ngx_svc_oauth_exchange_target(ngx_svc_oauth_t *o)
{
    ngx_str_t                  audience, more;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ngx_svc_form_nth(&o->form, "audience", 0, &audience) != NGX_OK) {
        return ngx_svc_oauth_resource(o);
    }

    if (ngx_svc_form_nth(&o->form, "audience", 1, &more) == NGX_OK
        || ngx_svc_form_nth(&o->form, "resource", 0, &more) == NGX_OK)
    {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_TARGET,
                            "A token is for one 'resource' or 'audience'.");
    }

    if (!ngx_svc_application_id(&audience)) {
        return ngx_svc_oauth_target(o, &audience);
    }

    ex->audience = audience;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_exchange_read(ngx_svc_oauth_t *o, const ngx_str_t *text,
    ngx_svc_oauth_bearer_t *bearer)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_bearer_read(o->sr, text, bearer);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_bearer_verify(bearer);
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_oauth_presented_forget(bearer);
    }

    return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/*
 * Takes the slug of the issuer that a JWT names.  It decides nothing but how
 * the token is refused.
 */

static ngx_int_t
ngx_svc_oauth_exchange_issuer(ngx_svc_oauth_t *o)
{
    size_t                     len;
    const cJSON               *iss;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (o->token.jws == NULL) {
        return NGX_OK;
    }

    iss = cJSON_GetObjectItemCaseSensitive(o->token.jws->payload, "iss");

    if (!cJSON_IsString(iss)) {
        return NGX_OK;
    }

    len = ngx_strlen(iss->valuestring);

    if (len <= o->issuer.len
        || ngx_memcmp(iss->valuestring, o->issuer.data, o->issuer.len) != 0)
    {
        return NGX_OK;
    }

    return ngx_svc_oauth_bytes(o->sr, &ex->issuer,
                               (u_char *) iss->valuestring + o->issuer.len,
                               len - o->issuer.len);
}


/*
 * Stores both rows in the order in which a batch of them is stored: no two
 * transactions wait for each other.
 */

static ngx_int_t
ngx_svc_oauth_exchange_rows(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_bearer_t    *first, *second;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    first = &o->token;
    second = &ex->actor;

    if (first->own && second->own
        && ngx_memcmp(first->own->jti, second->own->jti, NGX_SVC_UUID_LEN) > 0)
    {
        first = &ex->actor;
        second = &o->token;
    }

    rc = ngx_svc_oauth_exchange_store(o, first);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_store(o, second);
    }

    if (rc != NGX_OK || !ex->acts) {
        return rc;
    }

    ex->acts_by = &ngx_svc_sql_oauth_exchange_acting;

    return ngx_svc_route_call(o->sr, ex->acts_by, NULL);
}


/* Stores the row of a client's own token, which may not be stored yet. */

static ngx_int_t
ngx_svc_oauth_exchange_store(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_bearer_t *bearer)
{
    if (bearer->own && *bearer->unverified.data == 0) {
        o->sr->op->kind = NGX_SVC_PG_WRITE;
    }

    return ngx_svc_oauth_kept_call(o, bearer);
}


static ngx_int_t
ngx_svc_oauth_exchange_journal(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    return ngx_svc_oauth_delegation_refused(o, &ex->refused);
}


/* Adds the member of RFC 8693, 2.2.1. */

static ngx_int_t
ngx_svc_oauth_exchange_more(ngx_svc_oauth_t *o, ngx_svc_json_writer_t *w)
{
    ngx_svc_json_plain(w, "issued_token_type",
                       (u_char *) NGX_SVC_OAUTH_ACCESS_TOKEN,
                       sizeof(NGX_SVC_OAUTH_ACCESS_TOKEN) - 1);

    return NGX_OK;
}
