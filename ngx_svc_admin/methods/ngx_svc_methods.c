/*
 * The methods that there are.
 */

#include "ngx_svc_methods.h"


#define NGX_SVC_METHODS(_)                                                    \
    _(ngx_svc_passkey_method)                                                 \
    _(ngx_svc_totp_method)                                                    \
    _(ngx_svc_email_method)                                                   \
    _(ngx_svc_recovery_method)                                                \
    _(ngx_svc_federation_method)                                              \
    _(ngx_svc_directory_method)                                               \
    _(ngx_svc_password_method)

#define NGX_SVC_METHOD_EXTERN(name)  extern const ngx_svc_method_t  name;
#define NGX_SVC_METHOD_ROW(name)     &name,

NGX_SVC_METHODS(NGX_SVC_METHOD_EXTERN)


const ngx_svc_method_t *const  ngx_svc_methods[] = {
    NGX_SVC_METHODS(NGX_SVC_METHOD_ROW)
    NULL
};
