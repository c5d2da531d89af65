/*
 * The password as a method: what there is of it.
 */

#include "ngx_svc_password_method.h"


extern const ngx_svc_route_t  ngx_svc_password_login[];
extern const ngx_svc_route_t  ngx_svc_password_change[];
extern const ngx_svc_route_t  ngx_svc_password_forgot[];
extern const ngx_svc_route_t  ngx_svc_password_link[];
extern const ngx_svc_route_t  ngx_svc_password_reset[];


static ngx_svc_resources_t  ngx_svc_password_routes[] = {
    ngx_svc_password_login,
    ngx_svc_password_change,
    ngx_svc_password_reset,
    NULL
};

static ngx_svc_resources_t  ngx_svc_password_mail_routes[] = {
    ngx_svc_password_forgot,
    ngx_svc_password_link,
    NULL
};

static const ngx_svc_method_option_t  ngx_svc_password_option = {
    .name = "password"
};


const ngx_svc_method_t  ngx_svc_password_method = {
    .name = ngx_string("password"),
    .proof = NGX_SVC_METHOD_PASSWORD,
    .amr = "pwd",
    .login = &ngx_svc_password_login_method,
    .account = &ngx_svc_password_account,
    .stepup = &ngx_svc_password_stepup,
    .option = &ngx_svc_password_option,
    .routes = ngx_svc_password_routes,
    .mail_routes = ngx_svc_password_mail_routes
};
