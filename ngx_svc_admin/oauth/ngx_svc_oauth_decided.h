/*
 * What a user has decided on the page, for a client that wants it posted.
 */

#ifndef _NGX_SVC_OAUTH_DECIDED_H_INCLUDED_
#define _NGX_SVC_OAUTH_DECIDED_H_INCLUDED_


#include "ngx_svc_oauth_response.h"


/*
 * Where the page sends the browser with ar->code, or with the user's refusal
 * when sr->error is not NONE: here, with that in the query, sealed for a minute,
 * and for the session alone; slug: the tenant's.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_decided_location(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_str_t *location);

/*
 * For a prepare, which has ar->digest: of who comes back so sets ar->code, or
 * sr->error, and the slug.  NGX_OK; NGX_DECLINED: it is no such request, or not
 * the one that was decided on; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_decided(ngx_svc_oauth_request_t *ar, ngx_str_t *slug);


#endif /* _NGX_SVC_OAUTH_DECIDED_H_INCLUDED_ */
