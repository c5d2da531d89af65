/*
 * The base of the URLs that a request is told, or that a mail has which it
 * causes: svc_base_url; or the same with another host, where the request has
 * come to a verified domain of its tenant.  An issuer is always svc_base_url's.
 */

#ifndef _NGX_SVC_BASE_URL_H_INCLUDED_
#define _NGX_SVC_BASE_URL_H_INCLUDED_


#include "ngx_svc_request.h"


NGX_SVC_API const ngx_str_t *ngx_svc_base_url(ngx_svc_request_t *sr);

/*
 * Whether the Host might be a domain of a tenant: 0 of what is no domain, and
 * of svc_base_url's own host; otherwise what comes of it is in sr->domain and
 * sr->domain_url.
 */
NGX_SVC_API ngx_uint_t ngx_svc_base_url_domain(ngx_svc_request_t *sr);

/* The two parameters, of a request with such a Host. */
NGX_SVC_API void ngx_svc_base_url_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);

/* It is a verified domain of the request's tenant. */
NGX_SVC_API void ngx_svc_base_url_found(ngx_svc_request_t *sr);

/*
 * The URL of a page: path, and the tenant that it is of, a slug, or NULL;
 * fragment: what is before a token, "#token=", which no server is shown.  Of
 * the request's pool, and wiped with it.  NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_base_url_page(ngx_svc_request_t *sr,
    const char *path, const ngx_str_t *tenant, const char *fragment,
    const ngx_str_t *token, ngx_str_t *url);

/* Likewise, if the column above says so. */
NGX_SVC_API void ngx_svc_base_url_read(ngx_svc_request_t *sr, PGresult *res);


#endif /* _NGX_SVC_BASE_URL_H_INCLUDED_ */
