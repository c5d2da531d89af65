/*
 * Codes and links by mail as a method: what there is of it.
 */

#include "ngx_svc_email_method.h"
#include "ngx_svc_row.h"


extern const ngx_svc_route_t  ngx_svc_email_login[];
extern const ngx_svc_route_t  ngx_svc_email_enroll[];


static ngx_uint_t ngx_svc_email_offered(ngx_svc_request_t *sr, PGresult *res);


static ngx_svc_resources_t  ngx_svc_email_mail_routes[] = {
    ngx_svc_email_login,
    ngx_svc_email_enroll,
    NULL
};

static const ngx_svc_method_option_t  ngx_svc_email_option = {
    .name = "passwordless",
    .offered = ngx_svc_email_offered
};


const ngx_svc_method_t  ngx_svc_email_method = {
    .name = ngx_string("email"),
    .proof = NGX_SVC_METHOD_CODE,
    .amr = "otp",
    .login = &ngx_svc_email_login_method,
    .stepup = &ngx_svc_email_stepup,
    .option = &ngx_svc_email_option,
    .mail_routes = ngx_svc_email_mail_routes
};


static ngx_uint_t
ngx_svc_email_offered(ngx_svc_request_t *sr, PGresult *res)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    return smcf->mail && ngx_svc_row_true(res, 0, "_passwordless");
}
