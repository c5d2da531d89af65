/*
 * Recovery codes as a method.
 */

#ifndef _NGX_SVC_RECOVERY_METHOD_H_INCLUDED_
#define _NGX_SVC_RECOVERY_METHOD_H_INCLUDED_


#include "ngx_svc_method.h"


extern const ngx_svc_method_t  ngx_svc_recovery_method;


#endif /* _NGX_SVC_RECOVERY_METHOD_H_INCLUDED_ */
