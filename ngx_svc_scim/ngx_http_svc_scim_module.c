/*
 * The SCIM 2.0 provider: the directives, the routes, the constraints.
 */

#include "ngx_svc_scim.h"


static ngx_int_t ngx_http_svc_scim_preconfiguration(ngx_conf_t *cf);
static void *ngx_http_svc_scim_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_svc_scim_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);


static ngx_svc_resources_t  ngx_http_svc_scim_resources[] = {
    ngx_svc_scim_list,
    ngx_svc_scim_users,
    ngx_svc_scim_discovery,
    NULL
};


/* The resources of svc_scim_mode rfc. */

static ngx_svc_resources_t  ngx_http_svc_scim_rfc_resources[] = {
    ngx_svc_scim_rfc_list,
    ngx_svc_scim_rfc_users,
    ngx_svc_scim_rfc_discovery,
    ngx_svc_scim_schemas,
    NULL
};


static const ngx_svc_constraint_t  ngx_http_svc_scim_constraints[] = {

    { "user_account_user_name_key", NGX_SVC_E_UNIQUENESS,
      "A user with this userName exists already." },

    { "user_account_external_id_key", NGX_SVC_E_UNIQUENESS,
      "A user with this externalId exists already." },

    { "user_account_token_check", NGX_SVC_E_FORBIDDEN,
      "A SCIM token changes an owner only if an owner has made it, and neither"
      " renames nor activates the user who has made it: have an owner make"
      " another one." },

    { "domain_break_glass_check", NGX_SVC_E_ANTI_LOCKOUT,
      "People of a domain come in by one connection alone: an active owner must"
      " keep a passkey." },

    { NULL, NGX_SVC_E_NONE, NULL }
};


static ngx_svc_surface_t  ngx_http_svc_scim_surface = {
    ngx_string("/scim/v2"),
    ngx_string("application/scim+json"),
    ngx_string("scim"),
    ngx_string("scim"),
    ngx_http_svc_scim_resources,
    ngx_http_svc_scim_constraints,
    ngx_svc_scim_error,
    NULL,
    NULL
};


/* The surface of a location in svc_scim_mode rfc: only its resources differ. */

static ngx_svc_surface_t  ngx_http_svc_scim_rfc_surface = {
    ngx_string("/scim/v2"),
    ngx_string("application/scim+json"),
    ngx_string("scim"),
    ngx_string("scim"),
    ngx_http_svc_scim_rfc_resources,
    ngx_http_svc_scim_constraints,
    ngx_svc_scim_error,
    NULL,
    NULL
};


static ngx_command_t  ngx_http_svc_scim_commands[] = {

    { ngx_string("svc_scim"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_svc_surface_directive,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      &ngx_http_svc_scim_surface },

    { ngx_string("svc_scim_mode"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_svc_scim_mode_set,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_svc_scim_module_ctx = {
    ngx_http_svc_scim_preconfiguration,    /* preconfiguration */
    NULL,                                  /* postconfiguration */

    NULL,                                  /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_svc_scim_create_loc_conf,     /* create location configuration */
    ngx_http_svc_scim_merge_loc_conf       /* merge location configuration */
};


ngx_module_t  ngx_http_svc_scim_module = {
    NGX_MODULE_V1,
    &ngx_http_svc_scim_module_ctx,         /* module context */
    ngx_http_svc_scim_commands,            /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    NULL,                                  /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_svc_scim_preconfiguration(ngx_conf_t *cf)
{
    if (ngx_svc_check_common(cf, "ngx_http_svc_scim_module") != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_svc_check_resources(cf, ngx_http_svc_scim_resources) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_check_resources(cf, ngx_http_svc_scim_rfc_resources);
}


static void *
ngx_http_svc_scim_create_loc_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_svc_scim_loc_conf_t));
}


/*
 * The common module merges first: an "if" block has its location's surface
 * already.
 */

static char *
ngx_http_svc_scim_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_svc_scim_loc_conf_t *prev = parent;
    ngx_svc_scim_loc_conf_t *conf = child;

    ngx_uint_t                  i;
    ngx_svc_loc_conf_t         *slcf;
    ngx_svc_srv_conf_t         *sscf;
    const ngx_svc_surface_t   **surfaces;

    if (conf->mode == 0) {
        conf->mode = prev->mode;
    }

    slcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_svc_common_module);
    sscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_svc_common_module);

    if (slcf->surface != &ngx_http_svc_scim_surface
        || conf->mode != NGX_SVC_SCIM_MODE_RFC)
    {
        return NGX_CONF_OK;
    }

    slcf->surface = &ngx_http_svc_scim_rfc_surface;

    /*
     * this surface writes the errors that nginx raises before a location is
     * found
     */

    surfaces = sscf->surfaces.elts;

    for (i = 0; i < sscf->surfaces.nelts; i++) {
        if (surfaces[i] == &ngx_http_svc_scim_surface) {
            surfaces[i] = &ngx_http_svc_scim_rfc_surface;
        }
    }

    return NGX_CONF_OK;
}
