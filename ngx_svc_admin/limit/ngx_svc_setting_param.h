/*
 * A setting of the operator as a parameter of a statement.
 */

#ifndef _NGX_SVC_SETTING_PARAM_H_INCLUDED_
#define _NGX_SVC_SETTING_PARAM_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_setting.h"


#define ngx_svc_param_setting(setting)                                        \
    { .bind = ngx_svc_setting_bind, .n = setting }


ngx_int_t ngx_svc_setting_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body);


#endif /* _NGX_SVC_SETTING_PARAM_H_INCLUDED_ */
