/*
 * The passkey as a method: what there is of it.
 */

#include "ngx_svc_passkey_method.h"
#include "ngx_svc_ceremony.h"


extern const ngx_svc_route_t  ngx_svc_passkey_login[];
extern const ngx_svc_route_t  ngx_svc_passkey_enroll[];


static ngx_svc_resources_t  ngx_svc_passkey_routes[] = {
    ngx_svc_passkey_login,
    ngx_svc_passkey_enroll,
    NULL
};

static const ngx_svc_method_option_t  ngx_svc_passkey_option = {
    .name = "passkey",
    .offered = ngx_svc_ceremony_offered
};


const ngx_svc_method_t  ngx_svc_passkey_method = {
    .name = ngx_string("passkey"),
    .proof = NGX_SVC_METHOD_PASSKEY,
    .login = &ngx_svc_passkey_login_method,
    .stepup = &ngx_svc_passkey_stepup,
    .option = &ngx_svc_passkey_option,
    .routes = ngx_svc_passkey_routes,
    .init_worker = ngx_svc_ceremony_init_worker,
    .exit_worker = ngx_svc_ceremony_exit_worker
};
