/*
 * The methods that there are.
 */

#include "ngx_svc_methods.h"
#include "ngx_svc_email_method.h"
#include "ngx_svc_passkey_method.h"
#include "ngx_svc_password_method.h"
#include "ngx_svc_recovery_method.h"
#include "ngx_svc_totp_method.h"


const ngx_svc_method_t *const  ngx_svc_methods[] = {
    &ngx_svc_passkey_method,
    &ngx_svc_totp_method,
    &ngx_svc_email_method,
    &ngx_svc_recovery_method,
    &ngx_svc_password_method,
    NULL
};
