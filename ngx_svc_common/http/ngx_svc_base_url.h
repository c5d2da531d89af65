/*
 * The base of the URLs in an answer, and in the mails that a request causes.
 * It is svc_base_url; its host is replaced where the request has come to a
 * verified domain of its tenant.  An issuer is always svc_base_url's.
 */

#ifndef _NGX_SVC_BASE_URL_H_INCLUDED_
#define _NGX_SVC_BASE_URL_H_INCLUDED_


#include "ngx_svc_request.h"


/* Returns that base, without a slash at its end. */
NGX_SVC_API const ngx_str_t *ngx_svc_base_url(ngx_svc_request_t *sr);

/*
 * Returns 1 if the Host may be a domain of a tenant, and sets sr->domain and
 * sr->domain_url.  Returns 0 for svc_base_url's own host, and for a name that
 * is no domain.
 */
NGX_SVC_API ngx_uint_t ngx_svc_base_url_domain(ngx_svc_request_t *sr);

/* Binds sr->domain and sr->domain_url, where the Host may be a domain. */
NGX_SVC_API void ngx_svc_base_url_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);

/* Notes that the Host is a verified domain of the request's tenant. */
NGX_SVC_API void ngx_svc_base_url_found(ngx_svc_request_t *sr);

/*
 * Makes the URL of a page with a token in its fragment, which browsers send to
 * no server.  tenant: a slug, or NULL; fragment: "#token=".  The URL is of the
 * request's pool, and is wiped with it.  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_base_url_page(ngx_svc_request_t *sr,
    const char *path, const ngx_str_t *tenant, const char *fragment,
    const ngx_str_t *token, ngx_str_t *url);

/*
 * Does what ngx_svc_base_url_found() does if the result's first row has a value
 * in "_base_url".
 */
NGX_SVC_API void ngx_svc_base_url_read(ngx_svc_request_t *sr, PGresult *res);


#endif /* _NGX_SVC_BASE_URL_H_INCLUDED_ */
