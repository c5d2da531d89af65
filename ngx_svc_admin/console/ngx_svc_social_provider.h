/*
 * The providers of social connections, by the names that requests have.
 */

#ifndef _NGX_SVC_SOCIAL_PROVIDER_H_INCLUDED_
#define _NGX_SVC_SOCIAL_PROVIDER_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_SOCIAL_PROVIDER_KEY  30     /* bytes behind "oidc-" */


/* The names that are known; an empty one ends the list. */
extern const ngx_str_t  ngx_svc_social_providers[];


/* Returns 1 for each of these, and for "oidc-" with a key behind it. */
ngx_uint_t ngx_svc_social_provider_is(const ngx_str_t *name);

/* Each returns 1 for its provider, the first with a key or without one. */
ngx_uint_t ngx_svc_social_provider_oidc(const ngx_str_t *name);
ngx_uint_t ngx_svc_social_provider_apple(const ngx_str_t *name);
ngx_uint_t ngx_svc_social_provider_gitlab(const ngx_str_t *name);
ngx_uint_t ngx_svc_social_provider_microsoft(const ngx_str_t *name);


#endif /* _NGX_SVC_SOCIAL_PROVIDER_H_INCLUDED_ */
