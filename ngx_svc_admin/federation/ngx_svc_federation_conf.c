/*
 * The routes of sign-in through others.
 */

#include "ngx_svc_federation_conf.h"
#include "ngx_svc_directory_login.h"
#include "ngx_svc_http.h"


#define NGX_SVC_FEDERATION_RESOURCES(_)                                       \
    _(ngx_svc_federation_start)                                               \
    _(ngx_svc_federation_callback)                                            \
    _(ngx_svc_federation_finish)                                              \
    _(ngx_svc_federation_links)                                               \
    _(ngx_svc_federation_logout)                                              \
    _(ngx_svc_federation_initiate)                                            \
    _(ngx_svc_federation_test)

/* Those that svc_mail adds. */

#define NGX_SVC_FEDERATION_MAIL_RESOURCES(_)                                  \
    _(ngx_svc_federation_mail)

#define NGX_SVC_FEDERATION_ROUTES(name)    extern const ngx_svc_route_t  name[];
#define NGX_SVC_FEDERATION_RESOURCE(name)  name,

NGX_SVC_FEDERATION_RESOURCES(NGX_SVC_FEDERATION_ROUTES)
NGX_SVC_FEDERATION_MAIL_RESOURCES(NGX_SVC_FEDERATION_ROUTES)


static ngx_svc_resources_t  ngx_svc_federation_resources[] = {
    NGX_SVC_FEDERATION_RESOURCES(NGX_SVC_FEDERATION_RESOURCE)
    NULL
};


static ngx_svc_resources_t  ngx_svc_federation_mail_resources[] = {
    NGX_SVC_FEDERATION_MAIL_RESOURCES(NGX_SVC_FEDERATION_RESOURCE)
    NULL
};


ngx_int_t
ngx_svc_federation_init(ngx_conf_t *cf, ngx_svc_admin_main_conf_t *amcf,
    const ngx_svc_surface_t *surface)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_svc_main_conf(cf);

    if (!ngx_svc_admin_has_sign_in(amcf) || smcf->federation != 1) {
        return NGX_OK;
    }

    amcf->directory = &ngx_svc_directory_login;

    if (smcf->mail
        && ngx_svc_add_resources(cf, &surface->prefix,
                                 ngx_svc_federation_mail_resources)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_add_resources(cf, &surface->prefix,
                                 ngx_svc_federation_resources);
}
