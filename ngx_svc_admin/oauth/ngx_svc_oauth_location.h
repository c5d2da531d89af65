/*
 * Where an authorization request sends the browser: back to the client, or to
 * the page that signs users in and asks for their consent.
 */

#ifndef _NGX_SVC_OAUTH_LOCATION_H_INCLUDED_
#define _NGX_SVC_OAUTH_LOCATION_H_INCLUDED_


#include "ngx_svc_oauth_form_post.h"
#include "ngx_svc_oauth_request.h"


#define NGX_SVC_OAUTH_AUTHORIZE  "/oauth/authorize"

#define NGX_SVC_OAUTH_LOCATION_FIELDS  5


/*
 * Fills in the fields that the client gets: the code, or sr->error unless its
 * kind is NGX_SVC_E_NONE; the state; and the issuer of the tenant with that
 * slug (RFC 9207).  fields: room for NGX_SVC_OAUTH_LOCATION_FIELDS and a last
 * one without a name.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_location_answer(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_svc_oauth_field_t *fields);

/*
 * Sets *location to the redirect URI with those fields in its query, or in its
 * fragment if ar->mode says so.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_location_client(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_str_t *location);

/*
 * Sets *location to svc_login_url with a parameter that leads back to this
 * request.  since: as for ngx_svc_oauth_request_query().  consent: 1: the page
 * asks for the user's consent; 0: it signs the user in, or up.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_location_page(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *since, ngx_uint_t consent, ngx_str_t *location);

/*
 * Returns 1 if nginx, as this server is configured, could read the location in
 * the first line of a request.
 */
ngx_uint_t ngx_svc_oauth_location_fits(ngx_svc_request_t *sr,
    const ngx_str_t *location);

/*
 * Writes what comes before one more parameter: first, or '&', or nothing.  uri:
 * what there is so far.  first: what parameters begin with, '?' or '#'.
 * Returns the end of what it has written.
 */
u_char *ngx_svc_oauth_location_separator(u_char *p, const ngx_str_t *uri,
    u_char first);

/* Sets *location to the same request by GET.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_location_again(ngx_svc_oauth_request_t *ar,
    ngx_str_t *location);


#endif /* _NGX_SVC_OAUTH_LOCATION_H_INCLUDED_ */
