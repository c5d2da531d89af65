/*
 * Versions of a user (RFC 7644, 3.14): weak entity tags.
 */

#ifndef _NGX_SVC_SCIM_VERSION_H_INCLUDED_
#define _NGX_SVC_SCIM_VERSION_H_INCLUDED_


#include "ngx_svc_http.h"


#define NGX_SVC_SCIM_VERSION_LEN  (sizeof("W/\"20261121091530123\"") - 1)


/* A parameter: the versions in If-Match. */
#define ngx_svc_param_scim_if_match()                                         \
    { .bind = ngx_svc_scim_version_bind }


/*
 * Writes the version for a time as of ngx_svc_time_text(); each change of the
 * row moves that time.  Writes NGX_SVC_SCIM_VERSION_LEN bytes at most, and
 * returns the position behind them.
 */
u_char *ngx_svc_scim_version(u_char *p, const ngx_str_t *updated_at);

/* Sends the ETag of an answer.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_scim_version_etag(ngx_svc_request_t *sr,
    const ngx_str_t *updated_at);

ngx_int_t ngx_svc_scim_version_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#endif /* _NGX_SVC_SCIM_VERSION_H_INCLUDED_ */
