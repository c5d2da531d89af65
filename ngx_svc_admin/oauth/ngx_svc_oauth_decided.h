/*
 * A user's decision on the page, for a client that wants its answer posted.
 */

#ifndef _NGX_SVC_OAUTH_DECIDED_H_INCLUDED_
#define _NGX_SVC_OAUTH_DECIDED_H_INCLUDED_


#include "ngx_svc_oauth_response.h"


/*
 * Sets where the page sends the browser: to /oauth/authorize again, with
 * ar->code in the query, or with the user's refusal if sr->error is not NONE.
 * It is sealed, and good for a minute and for this session alone.  slug: the
 * tenant's.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_decided_location(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_str_t *location);

/*
 * For a prepare that has ar->digest: opens what a browser brings from there.
 * Sets ar->code or sr->error, and the slug.  Returns NGX_OK; NGX_DECLINED: the
 * request brings no decision, or one on another request; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_decided(ngx_svc_oauth_request_t *ar, ngx_str_t *slug);


#endif /* _NGX_SVC_OAUTH_DECIDED_H_INCLUDED_ */
