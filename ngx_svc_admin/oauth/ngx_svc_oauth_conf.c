/*
 * The surface /oauth.
 */

#include "ngx_svc_oauth_conf.h"
#include "ngx_svc_oauth_client_keys.h"
#include "ngx_svc_oauth_kept.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_login_url.h"
#include "ngx_svc_oauth_metadata.h"
#include "ngx_svc_oauth_own.h"
#include "ngx_svc_oauth_preflight.h"
#include "ngx_svc_oauth_proof.h"
#include "ngx_svc_oauth_refresh_token.h"
#include "ngx_svc_oauth_rotate.h"
#include "ngx_svc_oauth_userinfo.h"
#include "ngx_svc_router.h"
#include "ngx_svc_url.h"


#define NGX_SVC_OAUTH_RESOURCES(_)                                            \
    _(ngx_svc_oauth_token)                                                    \
    _(ngx_svc_oauth_introspect)                                               \
    _(ngx_svc_oauth_revoke)                                                   \
    _(ngx_svc_oauth_userinfo)                                                 \
    _(ngx_svc_oauth_metadata)                                                 \
    _(ngx_svc_oauth_jwks)                                                     \
    _(ngx_svc_oauth_preflight)

/*
 * Routes that need sign-in; and routes of the JSON API for the page that asks
 * users.
 */

#define NGX_SVC_OAUTH_SIGNIN_RESOURCES(_)                                     \
    _(ngx_svc_oauth_authorize)                                                \
    _(ngx_svc_oauth_par)                                                      \
    _(ngx_svc_oauth_end_session)

#define NGX_SVC_OAUTH_PAGE_RESOURCES(_)                                       \
    _(ngx_svc_admin_authorization)                                            \
    _(ngx_svc_admin_authorization_decide)                                     \
    _(ngx_svc_admin_end_session)                                              \
    _(ngx_svc_admin_consents)

#define NGX_SVC_OAUTH_ROUTES(name)    extern const ngx_svc_route_t  name[];
#define NGX_SVC_OAUTH_RESOURCE(name)  name,

NGX_SVC_OAUTH_RESOURCES(NGX_SVC_OAUTH_ROUTES)
NGX_SVC_OAUTH_SIGNIN_RESOURCES(NGX_SVC_OAUTH_ROUTES)
NGX_SVC_OAUTH_PAGE_RESOURCES(NGX_SVC_OAUTH_ROUTES)


static const ngx_svc_location_t *ngx_svc_oauth_documents(
    ngx_svc_main_conf_t *smcf);
static ngx_uint_t ngx_svc_oauth_document(const ngx_svc_surface_t *surface);
static ngx_int_t ngx_svc_oauth_base_urls(ngx_conf_t *cf,
    ngx_svc_main_conf_t *smcf);
static ngx_int_t ngx_svc_oauth_signin(ngx_conf_t *cf,
    ngx_svc_admin_main_conf_t *amcf);
static ngx_int_t ngx_svc_oauth_rejected(ngx_svc_request_t *sr);
static ngx_uint_t ngx_svc_oauth_safe(const ngx_svc_loc_conf_t *slcf);
static void ngx_svc_oauth_error(ngx_svc_json_writer_t *w,
    const ngx_svc_error_row_t *row, const ngx_str_t *detail,
    const ngx_str_t *member);
static void ngx_svc_oauth_error_description(ngx_svc_json_writer_t *w,
    const ngx_str_t *detail);


static ngx_svc_resources_t  ngx_svc_oauth_resources[] = {
    NGX_SVC_OAUTH_RESOURCES(NGX_SVC_OAUTH_RESOURCE)
    NULL
};

static ngx_svc_resources_t  ngx_svc_oauth_well_known_resources[] = {
    ngx_svc_oauth_well_known,
    ngx_svc_oauth_well_known_preflight,
    NULL
};

static ngx_svc_resources_t  ngx_svc_oauth_signin_resources[] = {
    NGX_SVC_OAUTH_SIGNIN_RESOURCES(NGX_SVC_OAUTH_RESOURCE)
    NULL
};

static ngx_svc_resources_t  ngx_svc_oauth_page_resources[] = {
    NGX_SVC_OAUTH_PAGE_RESOURCES(NGX_SVC_OAUTH_RESOURCE)
    NULL
};

static const ngx_svc_constraint_t  ngx_svc_oauth_constraints[] = {
    { NULL, NGX_SVC_E_NONE, NULL }
};

ngx_svc_surface_t  ngx_svc_oauth_surface = {
    ngx_string("/oauth"),
    ngx_string("application/json"),
    ngx_string("oauth"),
    ngx_string("application"),
    ngx_svc_oauth_resources,
    ngx_svc_oauth_constraints,
    ngx_svc_oauth_error,
    NULL,
    ngx_svc_oauth_rejected
};


/* The surface of a document.  Nothing else below /.well-known is ours. */

#define ngx_svc_oauth_document_surface(path)                                  \
    {                                                                         \
        ngx_string(path),                                                     \
        ngx_string("application/json"),                                       \
        ngx_string("oauth"),                                                  \
        ngx_string("application"),                                            \
        ngx_svc_oauth_well_known_resources,                                   \
        ngx_svc_oauth_constraints,                                            \
        ngx_svc_oauth_error,                                                  \
        NULL,                                                                 \
        ngx_svc_oauth_rejected                                                \
    }

static ngx_svc_surface_t  ngx_svc_oauth_document_surfaces[] = {
    ngx_svc_oauth_document_surface("/.well-known/openid-configuration"),
    ngx_svc_oauth_document_surface("/.well-known/oauth-authorization-server")
};

#define NGX_SVC_OAUTH_DOCUMENTS                                               \
    (sizeof(ngx_svc_oauth_document_surfaces) / sizeof(ngx_svc_surface_t))


char *
ngx_svc_conf_oauth(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char                       *rv;
    ngx_svc_loc_conf_t         *slcf;
    ngx_svc_admin_main_conf_t  *amcf;

    rv = ngx_svc_surface_directive(cf, cmd, conf);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    slcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_svc_common_module);

    if (slcf->surface == &ngx_svc_oauth_surface) {
        amcf = ngx_http_conf_get_module_main_conf(cf,
                                                  ngx_http_svc_admin_module);
        amcf->oauth = 1;
    }

    return NGX_CONF_OK;
}


char *
ngx_svc_conf_oauth_metadata(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t                 *prefix;
    ngx_uint_t                 i;
    ngx_command_t              command;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    command = *cmd;

    for (i = 0; i < NGX_SVC_OAUTH_DOCUMENTS; i++) {
        prefix = &ngx_svc_oauth_document_surfaces[i].prefix;

        if (clcf->name.len >= prefix->len
            && ngx_strncmp(clcf->name.data, prefix->data, prefix->len) == 0)
        {
            command.post = &ngx_svc_oauth_document_surfaces[i];

            return ngx_svc_surface_directive(cf, &command, conf);
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" does not get the requests for its documents in "
                       "location \"%V\": put it into location %V, and into "
                       "location %V", &cmd->name, &clcf->name,
                       &ngx_svc_oauth_document_surfaces[0].prefix,
                       &ngx_svc_oauth_document_surfaces[1].prefix);

    return NGX_CONF_ERROR;
}


ngx_int_t
ngx_svc_oauth_init(ngx_conf_t *cf, ngx_svc_admin_main_conf_t *amcf)
{
    ngx_svc_main_conf_t       *smcf;
    const ngx_svc_location_t  *document;

    smcf = ngx_svc_main_conf(cf);

    if (!amcf->oauth) {
        document = ngx_svc_oauth_documents(smcf);

        if (document == NULL) {
            return NGX_OK;
        }

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%V on\" tells of what is not there: add a location "
                      "/oauth with \"svc_oauth on\", in %s:%ui",
                      &document->directive, document->file, document->line);
        return NGX_ERROR;
    }

    if (smcf->keys.n == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_oauth on\" needs a \"svc_key_file\", under whose "
                      "keys those that sign tokens are sealed");
        return NGX_ERROR;
    }

    if (ngx_svc_oauth_base_urls(cf, smcf) != NGX_OK
        || ngx_svc_oauth_login_url_check(cf, amcf) != NGX_OK
        || ngx_svc_oauth_signin(cf, amcf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_svc_check_resources(cf, ngx_svc_oauth_well_known_resources)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_check_resources(cf, ngx_svc_oauth_resources);
}


/* Returns the first location of documents, or NULL. */

static const ngx_svc_location_t *
ngx_svc_oauth_documents(ngx_svc_main_conf_t *smcf)
{
    ngx_uint_t           i;
    ngx_svc_location_t  *location;

    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {
        if (ngx_svc_oauth_document(location[i].conf->surface)) {
            return &location[i];
        }
    }

    return NULL;
}


static ngx_uint_t
ngx_svc_oauth_document(const ngx_svc_surface_t *surface)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_OAUTH_DOCUMENTS; i++) {
        if (surface == &ngx_svc_oauth_document_surfaces[i]) {
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_svc_oauth_base_urls(ngx_conf_t *cf, ngx_svc_main_conf_t *smcf)
{
    ngx_uint_t           i;
    ngx_svc_location_t  *location;

    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {
        if ((location[i].conf->surface == &ngx_svc_oauth_surface
             || ngx_svc_oauth_document(location[i].conf->surface))
            && !ngx_svc_oauth_safe(location[i].conf))
        {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"%V on\" needs a \"svc_base_url\" that begins with "
                          "https:// and the name of a host, or is of this "
                          "machine alone, such as "
                          "http://127.0.0.1:8080, in %s:%ui",
                          &location[i].directive, location[i].file,
                          location[i].line);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* Adds the routes that need sign-in: without it no user can consent. */

static ngx_int_t
ngx_svc_oauth_signin(ngx_conf_t *cf, ngx_svc_admin_main_conf_t *amcf)
{
    static const ngx_str_t  api = ngx_string("/v1");

    if (!ngx_svc_admin_has_sign_in(amcf)) {
        return NGX_OK;
    }

    if (ngx_svc_add_resources(cf, &ngx_svc_oauth_surface.prefix,
                              ngx_svc_oauth_signin_resources)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_add_resources(cf, &api, ngx_svc_oauth_page_resources);
}


/* Adds the headers that the route's answers have, if there is a route. */

static ngx_int_t
ngx_svc_oauth_rejected(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    if (sr->route == NULL && ngx_svc_router_find(sr) != NGX_OK) {
        sr->error.kind = NGX_SVC_E_NONE;
        return NGX_OK;
    }

    rc = ngx_svc_oauth_userinfo_rejected(sr);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (sr->route->flags & NGX_SVC_ROUTE_FORM) {
        return ngx_svc_oauth_headers(sr);
    }

    return (sr->route->flags & NGX_SVC_ROUTE_ANY_ORIGIN)
           ? ngx_svc_oauth_any_origin(sr) : NGX_OK;
}


/*
 * Returns 1 if an issuer may begin with the location's base URL (RFC 8414, 2).
 */

static ngx_uint_t
ngx_svc_oauth_safe(const ngx_svc_loc_conf_t *slcf)
{
    ngx_svc_url_t  url;

    /* DPoP proofs name the base URL, so it must be one that can be split */

    if (ngx_svc_url_split(&slcf->base_url, &url) != NGX_OK) {
        return 0;
    }

    return ngx_svc_url_scheme(&url, "https")
           || (ngx_svc_url_split(&slcf->base_key, &url) == NGX_OK
               && ngx_svc_url_local(&url));
}


ngx_int_t
ngx_svc_oauth_init_worker(ngx_cycle_t *cycle, ngx_svc_admin_main_conf_t *amcf)
{
    ngx_svc_main_conf_t  *smcf;

    if (!amcf->oauth) {
        return NGX_OK;
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_common_module);

    ngx_svc_oauth_kept_init_worker(cycle);
    ngx_svc_oauth_rotate_init_worker(cycle, &smcf->keys);

    return ngx_svc_oauth_own_init_worker(&smcf->keys) == NGX_OK
           ? ngx_svc_oauth_proof_init_worker(&smcf->keys) : NGX_ERROR;
}


void
ngx_svc_oauth_exit_worker(void)
{
    ngx_svc_oauth_kept_exit_worker();
    ngx_svc_oauth_own_exit_worker();
    ngx_svc_oauth_proof_exit_worker();
    ngx_svc_oauth_rotate_exit_worker();
    ngx_svc_oauth_key_exit_worker();
    ngx_svc_oauth_client_keys_exit_worker();
    ngx_svc_oauth_refresh_token_exit_worker();
    ngx_svc_oauth_bearer_exit_worker();
}


/*
 * Writes an error (RFC 6749, 5.2).  If it has no code there, a 401 or 403 is
 * told as the JSON API does, since a token was presented; any other error is
 * an invalid request.
 */

static void
ngx_svc_oauth_error(ngx_svc_json_writer_t *w, const ngx_svc_error_row_t *row,
    const ngx_str_t *detail, const ngx_str_t *member)
{
    ngx_str_t  code;

    code = row->oauth;

    ngx_svc_json_open(w, NULL, '{');

    if (code.len == 0
        && (row->status == NGX_HTTP_UNAUTHORIZED
            || row->status == NGX_HTTP_FORBIDDEN))
    {
        ngx_svc_json_open(w, "error", '{');
        ngx_svc_json_plain(w, "code", row->code.data, row->code.len);
        ngx_svc_json_string(w, "message", detail->data, detail->len);
        ngx_svc_json_close(w, '}');

    } else {
        if (code.len == 0) {
            ngx_str_set(&code, "invalid_request");
        }

        ngx_svc_json_plain(w, "error", code.data, code.len);
        ngx_svc_oauth_error_description(w, detail);
    }

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_oauth_error_description(ngx_svc_json_writer_t *w,
    const ngx_str_t *detail)
{
    u_char  c;
    size_t  i;

    ngx_svc_json_string_begin(w, "error_description");

    for (i = 0; i < detail->len; i++) {
        c = ngx_svc_oauth_description(detail->data[i]);

        ngx_svc_json_string_append(w, &c, 1);
    }

    ngx_svc_json_string_end(w);
}
