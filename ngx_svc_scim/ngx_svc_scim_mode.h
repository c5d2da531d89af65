/*
 * The mode of a location: how closely it follows the RFCs.
 */

#ifndef _NGX_SVC_SCIM_MODE_H_INCLUDED_
#define _NGX_SVC_SCIM_MODE_H_INCLUDED_


#include "ngx_svc_http.h"


/* The configuration of a location. */

typedef struct {
    ngx_uint_t  mode;       /* NGX_SVC_SCIM_MODE_...; 0: not set, is _SPEC */
} ngx_svc_scim_loc_conf_t;

#define NGX_SVC_SCIM_MODE_SPEC  1
#define NGX_SVC_SCIM_MODE_RFC   2


extern ngx_module_t  ngx_http_svc_scim_module;


/* The set function of svc_scim_mode; conf is an ngx_svc_scim_loc_conf_t. */
char *ngx_svc_scim_mode_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Returns 1 when the request's location has svc_scim_mode rfc, else 0. */
ngx_uint_t ngx_svc_scim_rfc(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_SCIM_MODE_H_INCLUDED_ */
