/*
 * Clients that authenticate by an assertion.
 *
 * The client is found as by a secret: the request's op looks up a digest of
 * the keys and the profile by which the assertion was judged.  The digest is
 * found only while both are the client's: a key that has been replaced is good
 * nowhere any more, whatever workers keep.
 */

#include "ngx_svc_oauth_asserted.h"
#include "ngx_svc_oauth_fragments.row.h"
#include "ngx_svc_oauth_client.h"
#include "ngx_svc_oauth_client_keys.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_published.h"


#define NGX_SVC_OAUTH_TOKEN_PATH  "token"
#define NGX_SVC_OAUTH_PAR_PATH    "par"


/* A client's assertion, in the request's pool. */

struct ngx_svc_oauth_asserted_s {
    ngx_svc_oauth_assertion_t   assertion;
    u_char                      digest[NGX_SVC_SHA256_LEN];
    ngx_int_t                 (*calls)(ngx_svc_request_t *sr);
    ngx_int_t                 (*reply)(ngx_svc_request_t *sr);
    ngx_int_t                 (*found)(ngx_svc_request_t *sr);
    ngx_svc_pg_pool_e           kind;
    unsigned                    verified:1; /* 1: by kept keys */
    unsigned                    read:1;     /* 1: this request has read keys */
    unsigned                    waited:1;   /* 1: it has waited for new ones */
};


static ngx_int_t ngx_svc_oauth_asserted_read(ngx_svc_oauth_t *o,
    const ngx_str_t *text);
static ngx_int_t ngx_svc_oauth_asserted_same(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_asserted_aud(ngx_svc_oauth_t *o);
static ngx_uint_t ngx_svc_oauth_asserted_slug(ngx_svc_oauth_t *o,
    ngx_svc_oauth_assertion_t *a);
static ngx_uint_t ngx_svc_oauth_asserted_endpoint(ngx_svc_oauth_t *o,
    const ngx_str_t *name);
static ngx_int_t ngx_svc_oauth_asserted_verify(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_asserted_not(ngx_svc_oauth_t *o,
    const char *why);
static ngx_int_t ngx_svc_oauth_asserted_keys_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_asserted_keys_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_asserted_learn(ngx_svc_oauth_t *o);
static void ngx_svc_oauth_asserted_found(ngx_svc_oauth_t *o,
    PGresult *login);
static ngx_int_t ngx_svc_oauth_asserted_reply(ngx_svc_request_t *sr);


ngx_int_t
ngx_svc_oauth_asserted_take(ngx_svc_oauth_t *o, const ngx_str_t *text)
{
    ngx_int_t                   rc;
    ngx_svc_oauth_assertion_t  *a;

    static const ngx_str_t      no = { 1, (u_char *) "\0" };

    o->client.asserted = ngx_pcalloc(o->sr->request->pool,
                                     sizeof(ngx_svc_oauth_asserted_t));
    if (o->client.asserted == NULL) {
        return NGX_ERROR;
    }

    o->client.public = no;
    a = &o->client.asserted->assertion;

    rc = ngx_svc_oauth_asserted_read(o, text);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_asserted_aud(o);
    }

    o->client.id = a->client_id;

    if (rc == NGX_ABORT) {
        return ngx_svc_oauth_asserted_not(o, a->why);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    o->client.once.data = a->once;
    o->client.once.len = NGX_SVC_SHA256_LEN;

    rc = ngx_svc_oauth_asserted_verify(o);

    o->client.asserted->verified = (rc == NGX_OK);

    return rc == NGX_ERROR ? rc : NGX_OK;
}


/*
 * Reads the assertion.  Returns NGX_ABORT, as the functions below do, if it is
 * not good: its why says so.
 */

static ngx_int_t
ngx_svc_oauth_asserted_read(ngx_svc_oauth_t *o, const ngx_str_t *text)
{
    ngx_int_t                   rc, same;
    ngx_str_t                   type;
    ngx_svc_oauth_assertion_t  *a;

    static const ngx_str_t  bearer = ngx_string(NGX_SVC_OAUTH_ASSERTION_TYPE);

    a = &o->client.asserted->assertion;

    rc = ngx_svc_oauth_assertion(o->sr->request->pool, text, ngx_time(), a);

    if (rc == NGX_ERROR) {
        return rc;
    }

    same = ngx_svc_oauth_asserted_same(o);

    if (same != NGX_OK) {
        return same;
    }

    if (rc == NGX_DECLINED) {
        return NGX_ABORT;
    }

    rc = ngx_svc_oauth_value(o, "client_assertion_type", &type);

    if (rc != NGX_OK) {
        return rc;
    }

    if (type.len != bearer.len
        || ngx_memcmp(type.data, bearer.data, type.len) != 0)
    {
        a->why = "comes with another 'client_assertion_type', or without one";
        return NGX_ABORT;
    }

    if (!ngx_svc_application_id(&a->client_id)) {
        a->why = "has no 'sub' that is a clientId";
        return NGX_ABORT;
    }

    return NGX_OK;
}


/*
 * Checks that "client_id", which may be absent (RFC 7521, 4.2), is the client
 * of the assertion.
 */

static ngx_int_t
ngx_svc_oauth_asserted_same(ngx_svc_oauth_t *o)
{
    ngx_int_t         rc;
    ngx_str_t         id;
    const ngx_str_t  *sub;

    sub = &o->client.asserted->assertion.client_id;

    rc = ngx_svc_oauth_value(o, "client_id", &id);

    if (rc != NGX_OK || id.data == NULL || sub->data == NULL
        || (id.len == sub->len
            && ngx_memcmp(id.data, sub->data, id.len) == 0))
    {
        return rc;
    }

    return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "'client_id' is not the client of "
                        "'client_assertion'.");
}


/*
 * Checks "aud".  The login finds out whether the tenant is the client's: it
 * takes the slug of an "aud" as it takes that of a path below an issuer.
 */

static ngx_int_t
ngx_svc_oauth_asserted_aud(ngx_svc_oauth_t *o)
{
    ngx_str_t                   pinned;
    ngx_svc_oauth_assertion_t  *a;

    a = &o->client.asserted->assertion;

    if (ngx_svc_oauth_client_pinned(o->sr, &pinned) != NGX_OK) {
        return NGX_ERROR;
    }

    if (!ngx_svc_oauth_asserted_slug(o, a)
        || (pinned.len && o->client.slug.len
            && (pinned.len != o->client.slug.len
                || ngx_memcmp(pinned.data, o->client.slug.data, pinned.len)
                   != 0)))
    {
        a->why = "has an 'aud' that is neither the issuer nor the token"
                 " endpoint";
        return NGX_ABORT;
    }

    return NGX_OK;
}


/*
 * Returns 1 if "aud" is an issuer, or an endpoint that may be named there.
 * o->client.slug is its tenant's then; it has no data if the endpoint is one
 * of all tenants.
 */

static ngx_uint_t
ngx_svc_oauth_asserted_slug(ngx_svc_oauth_t *o, ngx_svc_oauth_assertion_t *a)
{
    u_char     *slash, *end;
    size_t      all;
    ngx_str_t   rest;

    /* o->issuer ends with "/t/" */

    all = o->issuer.len - (sizeof("t/") - 1);

    if (a->aud.len < all || ngx_memcmp(a->aud.data, o->issuer.data, all) != 0)
    {
        return 0;
    }

    rest.data = a->aud.data + all;
    rest.len = a->aud.len - all;

    if (ngx_svc_oauth_asserted_endpoint(o, &rest)) {
        return 1;
    }

    if (rest.len <= sizeof("t/") - 1
        || ngx_memcmp(rest.data, "t/", sizeof("t/") - 1) != 0)
    {
        return 0;
    }

    end = rest.data + rest.len;
    rest.data += sizeof("t/") - 1;
    slash = ngx_strlchr(rest.data, end, '/');

    a->for_issuer = (slash == NULL);

    o->client.slug.data = rest.data;
    o->client.slug.len = (slash ? slash : end) - rest.data;

    if (slash) {
        rest.data = slash + 1;
        rest.len = end - rest.data;
    }

    return o->client.slug.len
           && (slash == NULL || ngx_svc_oauth_asserted_endpoint(o, &rest));
}


/*
 * Returns 1 for the token endpoint, and for the one where requests are pushed
 * if this request is for that (RFC 9126, 2).
 */

static ngx_uint_t
ngx_svc_oauth_asserted_endpoint(ngx_svc_oauth_t *o, const ngx_str_t *name)
{
    const ngx_str_t  *path;

    static const ngx_str_t  token = ngx_string(NGX_SVC_OAUTH_TOKEN_PATH);
    static const ngx_str_t  par = ngx_string(NGX_SVC_OAUTH_PAR_PATH);

    path = &o->sr->route->path;

    return ngx_svc_same(name, &token)
           || (ngx_svc_same(name, &par) && path->len > par.len
               && ngx_memcmp(path->data + path->len - par.len, par.data,
                             par.len)
                  == 0);
}


/*
 * Verifies the assertion by kept keys, and sets o->client.digest if it is
 * good.
 */

static ngx_int_t
ngx_svc_oauth_asserted_verify(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_asserted_t  *asserted;

    asserted = o->client.asserted;

    rc = ngx_svc_oauth_client_keys_verify(&asserted->assertion,
                                          asserted->digest);

    if (rc == NGX_OK) {
        o->client.digest.data = asserted->digest;
        o->client.digest.len = NGX_SVC_SHA256_LEN;
    }

    return rc;
}


/*
 * Makes sure that no client is looked up.  The error log is told why; the
 * client is not.
 */

static ngx_int_t
ngx_svc_oauth_asserted_not(ngx_svc_oauth_t *o, const char *why)
{
    ngx_str_null(&o->client.digest);
    ngx_str_null(&o->client.once);
    ngx_str_null(&o->client.slug);

    ngx_svc_oauth_once_tell(o, why);

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_asserted_calls(ngx_svc_oauth_t *o,
    ngx_int_t (*calls)(ngx_svc_request_t *sr))
{
    ngx_int_t                  rc;
    ngx_svc_request_t         *sr;
    ngx_svc_oauth_asserted_t  *asserted;

    sr = o->sr;
    asserted = o->client.asserted;

    if (asserted == NULL || o->client.once.data == NULL) {
        return calls(sr);
    }

    asserted->calls = calls;
    asserted->reply = sr->reply;
    asserted->kind = sr->op->kind;

    if (!asserted->verified) {
        sr->op->kind = NGX_SVC_PG_READ;
        sr->reply = ngx_svc_oauth_asserted_keys_reply;

        return ngx_svc_oauth_asserted_keys_calls(sr);
    }

    rc = calls(sr);

    asserted->found = sr->reply;
    sr->reply = ngx_svc_oauth_asserted_reply;

    return rc;
}


/*
 * Reads the client's keys.  The client is found by its id alone: nothing of
 * what is read is answered.
 */

static ngx_int_t
ngx_svc_oauth_asserted_keys_calls(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    o = sr->data;

    rc = ngx_svc_oauth_client_public(o, &o->client.id);

    return rc == NGX_OK
           ? ngx_svc_oauth_client_call_then(o, &ngx_svc_sql_oauth_client_keys)
           : rc;
}


static ngx_int_t
ngx_svc_oauth_asserted_keys_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_t           *o;
    ngx_svc_oauth_asserted_t  *asserted;

    static const ngx_str_t     no = { 1, (u_char *) "\0" };

    o = sr->data;
    asserted = o->client.asserted;

    asserted->read = 1;
    o->client.public = no;
    ngx_str_null(&o->client.digest);

    rc = ngx_svc_oauth_asserted_learn(o);

    if (rc == NGX_AGAIN && !asserted->waited) {
        asserted->waited = 1;
        rc = ngx_svc_oauth_published(o, ngx_svc_oauth_asserted_keys_calls,
                                     ngx_svc_oauth_asserted_keys_reply);
    }

    if (rc == NGX_DONE) {
        return rc;
    }

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (rc != NGX_OK) {

        /* kept keys have verified it, and the client has none any more */

        (void) ngx_svc_oauth_asserted_not(o, asserted->assertion.why
                                          ? asserted->assertion.why
                                          : "is of a key that is the client's "
                                            "no more");
        (void) ngx_svc_oauth_client_refuse(o);
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_request_again(sr, asserted->kind, asserted->calls,
                                 asserted->reply);
}


/*
 * Keeps the keys, and verifies the assertion by them.  If another request has
 * brought the same keys meanwhile, those are taken.
 */

static ngx_int_t
ngx_svc_oauth_asserted_learn(ngx_svc_oauth_t *o)
{
    PGresult                  *login, *res;
    ngx_int_t                  rc;
    ngx_svc_oauth_asserted_t  *asserted;

    asserted = o->client.asserted;
    login = ngx_svc_oauth_client_result(o);
    res = ngx_svc_result(o->sr, &ngx_svc_sql_oauth_client_keys);

    if (PQntuples(login) == 0 || PQntuples(res) == 0) {
        asserted->assertion.why = "is of a client that is unknown, or of"
                                  " another tenant";
        return NGX_DECLINED;
    }

    rc = ngx_svc_oauth_client_keys_learn(o->sr->request->pool, &o->client.id,
                                         res);

    return rc == NGX_OK ? ngx_svc_oauth_asserted_verify(o) : rc;
}


/* Logs why the login has found no client; the route's own reply refuses it. */

static void
ngx_svc_oauth_asserted_found(ngx_svc_oauth_t *o, PGresult *login)
{
    ngx_svc_row_login_found_t  row;

    ngx_svc_row_login_found(&row, login, 0, 0);

    if (PQntuples(login) == 0) {
        ngx_svc_oauth_once_tell(o, "is of a key that has just been replaced");

    } else if (row.retired) {
        ngx_svc_oauth_once_tell(o, "is of a key that was not read anew for 7"
                                " days");

    } else if (row.tenant.len == 0) {
        ngx_svc_oauth_once_tell(o, "is for the issuer of another tenant");
    }
}


/*
 * Reads the client's keys if the login has found nothing that is good: the
 * client has other keys now, or needs them, and the op has done nothing.
 */

static ngx_int_t
ngx_svc_oauth_asserted_reply(ngx_svc_request_t *sr)
{
    PGresult                   *login;
    ngx_svc_oauth_t            *o;
    ngx_svc_oauth_asserted_t   *asserted;
    ngx_svc_row_login_found_t   row;

    o = sr->data;
    asserted = o->client.asserted;
    login = ngx_svc_oauth_client_result(o);

    ngx_svc_row_login_found(&row, login, 0, 0);

    if ((PQntuples(login) && !row.retired) || asserted->read) {
        ngx_svc_oauth_asserted_found(o, login);

        sr->reply = asserted->found;
        return sr->reply(sr);
    }

    ngx_svc_oauth_once_unspent(o);

    return ngx_svc_request_again(sr, NGX_SVC_PG_READ,
                                 ngx_svc_oauth_asserted_keys_calls,
                                 ngx_svc_oauth_asserted_keys_reply);
}
