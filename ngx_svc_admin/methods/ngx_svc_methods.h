/*
 * The methods that there are.
 */

#ifndef _NGX_SVC_METHODS_H_INCLUDED_
#define _NGX_SVC_METHODS_H_INCLUDED_


#include "ngx_svc_method.h"


/* In the order in which a challenge offers them; NULL ends them. */
extern const ngx_svc_method_t *const  ngx_svc_methods[];


#endif /* _NGX_SVC_METHODS_H_INCLUDED_ */
