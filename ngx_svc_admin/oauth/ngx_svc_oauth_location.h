/*
 * Where a browser is sent by an authorization request: back to the client, or
 * to the page that signs people in, and asks them.
 */

#ifndef _NGX_SVC_OAUTH_LOCATION_H_INCLUDED_
#define _NGX_SVC_OAUTH_LOCATION_H_INCLUDED_


#include "ngx_svc_oauth_form_post.h"
#include "ngx_svc_oauth_request.h"


#define NGX_SVC_OAUTH_AUTHORIZE  "/oauth/authorize"

#define NGX_SVC_OAUTH_LOCATION_FIELDS  5


/*
 * The code, or sr->error unless that is NONE; the state, and the issuer, of the
 * tenant with that slug (RFC 9207).  fields: room for one more than there are.
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_location_answer(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_svc_oauth_field_t *fields);

/*
 * The redirect URI with those, in the query, or in the fragment if that is
 * ar->mode.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_location_client(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_str_t *location);

/*
 * svc_login_url, which leads back to this request; since: as of
 * ngx_svc_oauth_request_query(); consent: whether the user is to be asked, and
 * not to sign in, or up.
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_location_page(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *since, ngx_uint_t consent, ngx_str_t *location);

/* 1: nginx would read it as the line of a request, as it is configured here. */
ngx_uint_t ngx_svc_oauth_location_fits(ngx_svc_request_t *sr,
    const ngx_str_t *location);

/*
 * Writes what comes before one more parameter; uri: what there is so far; first:
 * what parameters are behind, '?' or '#'.  Returns what follows it.
 */
u_char *ngx_svc_oauth_location_separator(u_char *p, const ngx_str_t *uri,
    u_char first);

/* The same request by GET.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_location_again(ngx_svc_oauth_request_t *ar,
    ngx_str_t *location);

/* Sends 303; as of ngx_svc_send(). */
ngx_int_t ngx_svc_oauth_location_send(ngx_svc_request_t *sr,
    ngx_str_t *location);


#endif /* _NGX_SVC_OAUTH_LOCATION_H_INCLUDED_ */
