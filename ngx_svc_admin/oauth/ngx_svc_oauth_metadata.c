/*
 * The metadata of a tenant's authorization server (RFC 8414; OpenID Connect
 * Discovery 1.0), and the keys that its tokens are verified with (RFC 7517, 5).
 * They are read from the cache, or else from the database.
 */

#include "ngx_svc_oauth_metadata.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_admin_public_answer.h"
#include "ngx_svc_oauth_amr.h"


/* What the document tells about users, besides services. */

#define NGX_SVC_OAUTH_HAS_USERS   0x01      /* users sign in here */
#define NGX_SVC_OAUTH_HAS_SIGNUP  0x02      /* new users can sign up */
#define NGX_SVC_OAUTH_HAS_LOGOUT  0x04      /* clients get logout tokens */

#define NGX_SVC_OAUTH_SLUG  63


/* sr->data, of the request's pool. */

typedef struct {
    ngx_svc_admin_reader_t  reader;
    ngx_str_t               slug;
} ngx_svc_oauth_public_t;


/* What differs between the metadata and the keys. */

typedef struct {
    ngx_svc_cache_kind_e     kind;
    ngx_str_t                cache_control;
    ngx_svc_admin_answer_pt  answer;
} ngx_svc_oauth_public_kind_t;


/*
 * A member of the document: an endpoint, or a list with spaces between items.
 */

typedef struct {
    const char             *name;       /* NULL ends the table */
    const char             *value;
    const char             *service;    /* the value where no user signs in;
                                           NULL: the member is left out */
} ngx_svc_oauth_metadata_t;


static ngx_int_t ngx_svc_oauth_public_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_public_create(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_public_slug(ngx_svc_request_t *sr,
    ngx_str_t *slug);
static ngx_uint_t ngx_svc_oauth_public_is_slug(const ngx_str_t *slug);
static ngx_int_t ngx_svc_oauth_public_bind_slug(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_oauth_public_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_public_send(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer);
static ngx_int_t ngx_svc_oauth_public_none(ngx_svc_request_t *sr);
static const ngx_svc_oauth_public_kind_t *ngx_svc_oauth_public_kind(
    ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_metadata_answer(ngx_svc_request_t *sr,
    PGresult *res, ngx_svc_cache_answer_t *answer);
static void ngx_svc_oauth_metadata_write(ngx_svc_json_writer_t *w,
    const ngx_str_t *issuer, ngx_uint_t has);
static void ngx_svc_oauth_metadata_users(ngx_svc_json_writer_t *w,
    ngx_uint_t has);
static void ngx_svc_oauth_metadata_list(ngx_svc_json_writer_t *w,
    const char *name, const char *value, const char *more);


static const ngx_svc_oauth_public_kind_t  ngx_svc_oauth_public_metadata = {
    NGX_SVC_CACHE_METADATA,
    ngx_string("public, max-age=300"),
    ngx_svc_oauth_metadata_answer
};

static const ngx_svc_oauth_public_kind_t  ngx_svc_oauth_public_jwks = {
    NGX_SVC_CACHE_JWKS,
    ngx_string("public, max-age=60"),
    ngx_svc_admin_json_answer
};


/* Paths below the issuer: some clients accept no other endpoints. */

static const ngx_svc_oauth_metadata_t  ngx_svc_oauth_endpoints[] = {
    { "authorization_endpoint", "/authorize", NULL },
    { "pushed_authorization_request_endpoint", "/par", NULL },
    { "token_endpoint", "/token", "/token" },
    { "userinfo_endpoint", "/userinfo", NULL },
    { "introspection_endpoint", "/introspect", "/introspect" },
    { "revocation_endpoint", "/revoke", "/revoke" },
    { "end_session_endpoint", "/logout", NULL },
    { NULL, NULL, NULL }
};

#define NGX_SVC_OAUTH_SERVICE_GRANTS                                          \
    "client_credentials urn:ietf:params:oauth:grant-type:token-exchange"

#define NGX_SVC_OAUTH_PROMPTS  "prompt_values_supported"

/* How clients with a secret or a key authenticate. */

#define NGX_SVC_OAUTH_METHODS                                                 \
    "client_secret_basic client_secret_post private_key_jwt"

#define NGX_SVC_OAUTH_ASSERTION_ALGS  "ES256 EdDSA Ed25519 PS256 RS256"

/*
 * The members about authentication at an endpoint.  public: the method of
 * public clients, or "" if they are refused.
 */

#define NGX_SVC_OAUTH_AUTH(endpoint, public)                                  \
    { endpoint "_endpoint_auth_methods_supported",                            \
      NGX_SVC_OAUTH_METHODS public, NGX_SVC_OAUTH_METHODS },                  \
    { endpoint "_endpoint_auth_signing_alg_values_supported",                 \
      NGX_SVC_OAUTH_ASSERTION_ALGS, NGX_SVC_OAUTH_ASSERTION_ALGS }

/*
 * The scopes that a tenant's applications have besides these are nobody's
 * business.  A list without items is left out (RFC 8414, 3.2).
 */

static const ngx_svc_oauth_metadata_t  ngx_svc_oauth_lists[] = {
    { "scopes_supported",
      "openid profile email groups roles offline_access", NULL },
    { "response_types_supported", "code", "code" },
    { "response_modes_supported", "query fragment form_post", NULL },
    { "grant_types_supported",
      "authorization_code refresh_token " NGX_SVC_OAUTH_SERVICE_GRANTS,
      NGX_SVC_OAUTH_SERVICE_GRANTS },
    { "code_challenge_methods_supported", "S256", NULL },
    NGX_SVC_OAUTH_AUTH("token", " none"),
    NGX_SVC_OAUTH_AUTH("introspection", ""),
    NGX_SVC_OAUTH_AUTH("revocation", " none"),
    { "dpop_signing_alg_values_supported", "ES256 EdDSA Ed25519",
      "ES256 EdDSA Ed25519" },
    { "subject_types_supported", "public", NULL },
    { "id_token_signing_alg_values_supported", "ES256 RS256", NULL },
    { "acr_values_supported", NGX_SVC_OAUTH_ACR_ONE " " NGX_SVC_OAUTH_ACR_TWO
      " " NGX_SVC_OAUTH_ACR_PASSKEY, NULL },
    { NGX_SVC_OAUTH_PROMPTS, "none login consent select_account", NULL },
    { "claims_supported",
      "sub iss aud exp iat auth_time nonce at_hash acr amr sid act name "
      "given_name family_name locale updated_at email email_verified groups "
      "roles", NULL },
    { NULL, NULL, NULL }
};


#include "ngx_svc_oauth_metadata.sql.h"


const ngx_svc_route_t  ngx_svc_oauth_metadata[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/t/*/.well-known/openid-configuration"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .statements = { &ngx_svc_sql_oauth_metadata },
      .prepare = ngx_svc_oauth_public_prepare,
      .reply = ngx_svc_oauth_public_reply },

    ngx_svc_null_route
};

const ngx_svc_route_t  ngx_svc_oauth_jwks[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/t/*/jwks"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .statements = { &ngx_svc_sql_oauth_jwks },
      .prepare = ngx_svc_oauth_public_prepare,
      .reply = ngx_svc_oauth_public_reply },

    ngx_svc_null_route
};

const ngx_svc_route_t  ngx_svc_oauth_well_known[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/oauth/t/*"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .statements = { &ngx_svc_sql_oauth_metadata },
      .prepare = ngx_svc_oauth_public_prepare,
      .reply = ngx_svc_oauth_public_reply },

    { .method = NGX_HTTP_GET,
      .path = ngx_string(""),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .statements = { &ngx_svc_sql_oauth_metadata },
      .prepare = ngx_svc_oauth_public_prepare,
      .reply = ngx_svc_oauth_public_reply },

    ngx_svc_null_route
};


/*
 * The route's prepare is called again when the wait for a cache entry is over.
 */

static ngx_int_t
ngx_svc_oauth_public_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_admin_reader_t  *reader;
    ngx_svc_cache_answer_t   answer;

    if (sr->data == NULL) {
        rc = ngx_svc_oauth_public_create(sr);
        if (rc != NGX_OK) {
            return rc == NGX_DECLINED ? rc : NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    reader = sr->data;

    rc = ngx_svc_cache_get(sr->request, reader->kind, &reader->key, &answer,
                           &reader->ticket);

    return rc == NGX_OK ? ngx_svc_oauth_public_send(sr, &answer)
                        : ngx_svc_admin_reader_prepare(reader, rc);
}


static ngx_int_t
ngx_svc_oauth_public_create(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_oauth_public_t  *public;

    public = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_oauth_public_t));

    if (public == NULL || ngx_svc_oauth_any_origin(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_public_slug(sr, &public->slug);

    if (rc == NGX_OK) {
        public->reader.sr = sr;
        public->reader.kind = ngx_svc_oauth_public_kind(sr)->kind;
        rc = ngx_svc_admin_reader_key(sr, &public->slug, &public->reader.key);
    }

    if (rc == NGX_OK) {
        sr->data = public;
    }

    return rc;
}


/*
 * Takes the slug from the path, or else from svc_tenant of the location, which
 * serves no other tenant.
 */

static ngx_int_t
ngx_svc_oauth_public_slug(ngx_svc_request_t *sr, ngx_str_t *slug)
{
    ngx_str_t                  pinned;
    ngx_svc_admin_loc_conf_t  *alcf;

    alcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_admin_module);

    ngx_str_null(&pinned);

    if (alcf->tenant
        && ngx_http_complex_value(sr->request, alcf->tenant, &pinned) != NGX_OK)
    {
        return NGX_ERROR;
    }

    *slug = sr->route->path.len ? sr->params[0] : pinned;

    if (!ngx_svc_oauth_public_is_slug(slug)
        || (pinned.len && (pinned.len != slug->len
                           || ngx_memcmp(pinned.data, slug->data, slug->len)
                              != 0)))
    {
        return ngx_svc_oauth_public_none(sr);
    }

    return NGX_OK;
}


/* Returns 1 for a slug.  A domain, which has a dot, names no tenant here. */

static ngx_uint_t
ngx_svc_oauth_public_is_slug(const ngx_str_t *slug)
{
    u_char  c;
    size_t  i;

    for (i = 0; i < slug->len; i++) {
        c = slug->data[i];

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') {
            return 0;
        }
    }

    return slug->len > 0 && slug->len <= NGX_SVC_OAUTH_SLUG;
}


static ngx_int_t
ngx_svc_oauth_public_bind_slug(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_oauth_public_t  *public;

    public = sr->data;

    ngx_svc_pg_bind_str(call, &public->slug);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_public_reply(ngx_svc_request_t *sr)
{
    ngx_svc_cache_answer_t  answer;

    if (ngx_svc_admin_public_keep(sr->data,
                                  ngx_svc_oauth_public_kind(sr)->answer,
                                  &answer)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_oauth_public_send(sr, &answer);
}


static ngx_int_t
ngx_svc_oauth_public_send(ngx_svc_request_t *sr,
    ngx_svc_cache_answer_t *answer)
{
    ngx_str_t  cache_control;

    if (!answer->found) {
        (void) ngx_svc_oauth_public_none(sr);
        return ngx_svc_send_error(sr);
    }

    cache_control = ngx_svc_oauth_public_kind(sr)->cache_control;

    if (ngx_svc_add_header(sr->request, "Cache-Control", &cache_control)
        != NGX_OK
        || ngx_svc_send_etag(sr, &answer->etag) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_bytes(sr, &answer->content_type, &answer->body);
}


static ngx_int_t
ngx_svc_oauth_public_none(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                        "There is no such tenant.");
}


static const ngx_svc_oauth_public_kind_t *
ngx_svc_oauth_public_kind(ngx_svc_request_t *sr)
{
    return sr->route->statements[0] == &ngx_svc_sql_oauth_jwks
           ? &ngx_svc_oauth_public_jwks : &ngx_svc_oauth_public_metadata;
}


static ngx_int_t
ngx_svc_oauth_metadata_answer(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer)
{
    ngx_str_t                      issuer;
    ngx_uint_t                     has;
    ngx_svc_json_writer_t          w;
    ngx_svc_oauth_public_t        *public;
    ngx_svc_main_conf_t           *smcf;
    ngx_svc_admin_main_conf_t     *amcf;
    ngx_svc_row_oauth_metadata_t   row;

    public = sr->data;
    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);
    amcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_admin_module);
    issuer = ngx_svc_oauth_issuer(sr, &public->slug);

    if (issuer.data == NULL
        || ngx_svc_json_writer_init(&w, sr->request->pool, 2048) != NGX_OK)
    {
        return NGX_ERROR;
    }

    has = 0;

    if (ngx_svc_admin_has_sign_in(amcf)) {
        has |= NGX_SVC_OAUTH_HAS_USERS;
    }

    ngx_svc_row_oauth_metadata(&row, res, 0);

    if (row.allow_signup) {
        has |= NGX_SVC_OAUTH_HAS_SIGNUP;
    }

    if (smcf->logout) {
        has |= NGX_SVC_OAUTH_HAS_LOGOUT;
    }

    ngx_svc_oauth_metadata_write(&w, &issuer, has);

    return ngx_svc_admin_written_answer(sr, &w, answer);
}


static void
ngx_svc_oauth_metadata_write(ngx_svc_json_writer_t *w,
    const ngx_str_t *issuer, ngx_uint_t has)
{
    const char                      *value, *more;
    const ngx_svc_oauth_metadata_t  *m;

    static const ngx_str_t  jwks = ngx_string("/jwks");

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_string(w, "issuer", issuer->data, issuer->len);

    for (m = ngx_svc_oauth_endpoints; m->name; m++) {
        value = (has & NGX_SVC_OAUTH_HAS_USERS) ? m->value : m->service;

        if (value) {
            ngx_svc_json_string_begin(w, m->name);
            ngx_svc_json_string_append(w, issuer->data, issuer->len);
            ngx_svc_json_string_append(w, (u_char *) value, ngx_strlen(value));
            ngx_svc_json_string_end(w);
        }
    }

    ngx_svc_json_string_begin(w, "jwks_uri");
    ngx_svc_json_string_append(w, issuer->data, issuer->len);
    ngx_svc_json_string_append(w, jwks.data, jwks.len);
    ngx_svc_json_string_end(w);

    for (m = ngx_svc_oauth_lists; m->name; m++) {
        value = (has & NGX_SVC_OAUTH_HAS_USERS) ? m->value : m->service;

        if (value) {
            more = (has & NGX_SVC_OAUTH_HAS_SIGNUP)
                   && ngx_strcmp(m->name, NGX_SVC_OAUTH_PROMPTS) == 0
                   ? "create" : NULL;

            ngx_svc_oauth_metadata_list(w, m->name, value, more);
        }
    }

    if (has & NGX_SVC_OAUTH_HAS_USERS) {
        ngx_svc_oauth_metadata_users(w, has);
    }

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_oauth_metadata_users(ngx_svc_json_writer_t *w, ngx_uint_t has)
{
    ngx_svc_json_boolean(w, "require_pushed_authorization_requests", 0);

    if (has & NGX_SVC_OAUTH_HAS_LOGOUT) {
        ngx_svc_json_boolean(w, "backchannel_logout_supported", 1);
        ngx_svc_json_boolean(w, "backchannel_logout_session_supported", 1);
    }

    ngx_svc_json_boolean(w, "authorization_response_iss_parameter_supported",
                         1);
    ngx_svc_json_boolean(w, "claims_parameter_supported", 1);
    ngx_svc_json_boolean(w, "request_parameter_supported", 0);
    ngx_svc_json_boolean(w, "request_uri_parameter_supported", 0);
}


static void
ngx_svc_oauth_metadata_list(ngx_svc_json_writer_t *w, const char *name,
    const char *value, const char *more)
{
    const char  *p, *space;

    ngx_svc_json_open(w, name, '[');

    for (p = value; ; p = space + 1) {
        space = ngx_strchr(p, ' ');

        if (space == NULL) {
            break;
        }

        ngx_svc_json_plain(w, NULL, (u_char *) p, space - p);
    }

    ngx_svc_json_plain(w, NULL, (u_char *) p, ngx_strlen(p));

    if (more) {
        ngx_svc_json_plain(w, NULL, (u_char *) more, ngx_strlen(more));
    }

    ngx_svc_json_close(w, ']');
}
