/*
 * One-time passwords as a method: what there is of it.
 */

#include "ngx_svc_totp_method.h"


extern const ngx_svc_route_t  ngx_svc_totp_enroll[];


static ngx_svc_resources_t  ngx_svc_totp_routes[] = {
    ngx_svc_totp_enroll,
    NULL
};


const ngx_svc_method_t  ngx_svc_totp_method = {
    .name = ngx_string("totp"),
    .proof = NGX_SVC_METHOD_CODE,
    .amr = "otp",
    .stepup = &ngx_svc_totp_stepup,
    .routes = ngx_svc_totp_routes
};
