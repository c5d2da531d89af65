/*
 * The switch of sign-in, and what its workers share.
 */

#include "ngx_svc_signin_conf.h"
#include "ngx_svc_email_challenge.h"
#include "ngx_svc_factor.h"
#include "ngx_svc_limit.h"
#include "ngx_svc_breached_conf.h"
#include "ngx_svc_mac.h"
#include "ngx_svc_methods.h"
#include "ngx_svc_password_check.h"
#include "ngx_svc_signin_expire.h"
#include "ngx_svc_signin_sweep.h"
#include "ngx_svc_signup.h"


/* What is not one method's; those of a method are in its object. */

#define NGX_SVC_SIGNIN_RESOURCES(_)                                           \
    _(ngx_svc_signin_options)                                                 \
    _(ngx_svc_signup_begin)                                                   \
    _(ngx_svc_invitation_accept)                                              \
    _(ngx_svc_profile)                                                        \
    _(ngx_svc_session_routes)                                                 \
    _(ngx_svc_factor_routes)                                                  \
    _(ngx_svc_stepup_routes)                                                  \
    _(ngx_svc_challenge_routes)

#define NGX_SVC_SIGNIN_MAIL_RESOURCES(_)                                      \
    _(ngx_svc_signup_verify)                                                  \
    _(ngx_svc_email_verify)                                                   \
    _(ngx_svc_email_change)

#define NGX_SVC_SIGNIN_ORGANIZATION_RESOURCES(_)                              \
    _(ngx_svc_organization_signup)

#define NGX_SVC_SIGNIN_ROUTES(name)    extern const ngx_svc_route_t  name[];
#define NGX_SVC_SIGNIN_RESOURCE(name)  name,

NGX_SVC_SIGNIN_RESOURCES(NGX_SVC_SIGNIN_ROUTES)
NGX_SVC_SIGNIN_MAIL_RESOURCES(NGX_SVC_SIGNIN_ROUTES)
NGX_SVC_SIGNIN_ORGANIZATION_RESOURCES(NGX_SVC_SIGNIN_ROUTES)


static ngx_int_t ngx_svc_signin_routes(ngx_conf_t *cf,
    ngx_svc_admin_main_conf_t *amcf, const ngx_str_t *prefix);
static ngx_int_t ngx_svc_signin_base_urls(ngx_svc_main_conf_t *smcf,
    const ngx_svc_surface_t *surface);
static ngx_int_t ngx_svc_signin_init_methods(const ngx_svc_keys_t *keys);


static ngx_svc_resources_t  ngx_svc_signin_resources[] = {
    NGX_SVC_SIGNIN_RESOURCES(NGX_SVC_SIGNIN_RESOURCE)
    NULL
};

/* Those that need mail. */

static ngx_svc_resources_t  ngx_svc_signin_mail_resources[] = {
    NGX_SVC_SIGNIN_MAIL_RESOURCES(NGX_SVC_SIGNIN_RESOURCE)
    NULL
};

/* Those that need mail, and an operator who wants them. */

static ngx_svc_resources_t  ngx_svc_signin_organization_resources[] = {
    NGX_SVC_SIGNIN_ORGANIZATION_RESOURCES(NGX_SVC_SIGNIN_RESOURCE)
    NULL
};


char *
ngx_svc_signin_conf_flag(ngx_conf_t *cf, void *post, void *data)
{
    ngx_flag_t *on = data;

    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_svc_main_conf(cf);
    smcf->sign_in = *on;

    return NGX_CONF_OK;
}


ngx_int_t
ngx_svc_signin_init(ngx_conf_t *cf, ngx_svc_admin_main_conf_t *amcf,
    const ngx_svc_surface_t *surface)
{
    ngx_svc_main_conf_t  *smcf;

    if (amcf->sign_in != 1) {
        return NGX_OK;
    }

    smcf = ngx_svc_main_conf(cf);

    if (smcf->keys.n == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_sign_in on\" needs a \"svc_key_file\", under "
                      "whose keys passwords are sealed");
        return NGX_ERROR;
    }

    if (ngx_svc_signin_base_urls(smcf, surface) != NGX_OK) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_sign_in on\" needs a \"svc_base_url\" wherever "
                      "\"svc_admin\" is on: cookies and origins are of it");
        return NGX_ERROR;
    }

    if (ngx_svc_password_check_conf() != NGX_OK) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, ngx_errno,
                      "\"svc_sign_in on\" needs the locale C.UTF-8");
        return NGX_ERROR;
    }

    if (amcf->breached == NULL) {
        ngx_svc_breached_notice(cf);
    }

    smcf->sessions = surface;

    return ngx_svc_signin_routes(cf, amcf, &surface->prefix);
}


static ngx_int_t
ngx_svc_signin_routes(ngx_conf_t *cf, ngx_svc_admin_main_conf_t *amcf,
    const ngx_str_t *prefix)
{
    ngx_svc_main_conf_t            *smcf;
    const ngx_svc_method_t *const  *method;

    smcf = ngx_svc_main_conf(cf);

    if (ngx_svc_signup_organizations(amcf, smcf)
        && ngx_svc_add_resources(cf, prefix,
                                 ngx_svc_signin_organization_resources)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (smcf->mail && ngx_svc_add_resources(cf, prefix,
                                            ngx_svc_signin_mail_resources)
                      != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_svc_add_resources(cf, prefix, ngx_svc_signin_resources) != NGX_OK) {
        return NGX_ERROR;
    }

    for (method = ngx_svc_methods; *method; method++) {

        if ((*method)->routes
            && ngx_svc_add_resources(cf, prefix, (*method)->routes) != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (smcf->mail && (*method)->mail_routes
            && ngx_svc_add_resources(cf, prefix, (*method)->mail_routes)
               != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_signin_base_urls(ngx_svc_main_conf_t *smcf,
    const ngx_svc_surface_t *surface)
{
    ngx_uint_t           i;
    ngx_svc_location_t  *location;

    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {
        if (location[i].conf->surface == surface
            && location[i].conf->base_url.len == 0)
        {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_signin_init_worker(ngx_cycle_t *cycle, ngx_svc_admin_main_conf_t *amcf)
{
    u_char                secret[NGX_SVC_KEY_LEN];
    ngx_svc_main_conf_t  *smcf;

    if (amcf->sign_in != 1) {
        ngx_svc_limit_init_worker(amcf->limits, NULL);
        return NGX_OK;
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_common_module);

    ngx_svc_settings_init_worker(&amcf->settings);

    if (ngx_svc_password_check_init() != NGX_OK
        || ngx_svc_mac_derive(&smcf->keys.keys[0], "email", secret) != NGX_OK
        || ngx_svc_session_init_worker(&smcf->keys) != NGX_OK
        || ngx_svc_factor_init_worker(&smcf->keys) != NGX_OK
        || ngx_svc_email_challenge_init_worker(&smcf->keys) != NGX_OK
        || ngx_svc_signin_init_methods(&smcf->keys) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_limit_init_worker(amcf->limits, secret);
    ngx_explicit_memzero(secret, sizeof(secret));

    if (ngx_worker == 0) {
        ngx_svc_pg_task_init(&ngx_svc_signin_expire, cycle);
        ngx_svc_pg_task_init(&ngx_svc_signin_sweep, cycle);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_signin_init_methods(const ngx_svc_keys_t *keys)
{
    const ngx_svc_method_t *const  *method;

    for (method = ngx_svc_methods; *method; method++) {

        if ((*method)->init_worker && (*method)->init_worker(keys) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


void
ngx_svc_signin_exit_worker(void)
{
    const ngx_svc_method_t *const  *method;

    for (method = ngx_svc_methods; *method; method++) {
        if ((*method)->exit_worker) {
            (*method)->exit_worker();
        }
    }

    ngx_svc_pg_task_exit(&ngx_svc_signin_sweep);
    ngx_svc_pg_task_exit(&ngx_svc_signin_expire);
    ngx_svc_limit_exit_worker();
    ngx_svc_session_exit_worker();
    ngx_svc_factor_exit_worker();
    ngx_svc_email_challenge_exit_worker();
    ngx_svc_password_check_exit();
}
