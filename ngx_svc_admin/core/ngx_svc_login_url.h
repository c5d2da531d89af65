/*
 * Where browsers are sent to: the page that signs users in, and pages of the
 * same origin that lead on from there.
 */

#ifndef _NGX_SVC_LOGIN_URL_H_INCLUDED_
#define _NGX_SVC_LOGIN_URL_H_INCLUDED_


#include "ngx_svc_http.h"


#define NGX_SVC_RETURN_TO  2048     /* bytes */


/* Returns svc_login_url of the request's location, or the default. */
ngx_str_t ngx_svc_login_url(ngx_http_request_t *r);

/*
 * Returns 1 if a sign-in may lead to that path, with its query: it is one of
 * the pages that there are, and of this origin however it is read.
 */
ngx_uint_t ngx_svc_login_url_leads(const ngx_str_t *path);


#endif /* _NGX_SVC_LOGIN_URL_H_INCLUDED_ */
