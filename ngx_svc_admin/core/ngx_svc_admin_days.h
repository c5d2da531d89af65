/*
 * The number of days that statistics cover.
 */

#ifndef _NGX_SVC_ADMIN_DAYS_H_INCLUDED_
#define _NGX_SVC_ADMIN_DAYS_H_INCLUDED_


#include "ngx_svc_bind.h"


/* A parameter's function: the query's "days", from 1 to 90, or 30. */
ngx_int_t ngx_svc_admin_stat_days(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#endif /* _NGX_SVC_ADMIN_DAYS_H_INCLUDED_ */
