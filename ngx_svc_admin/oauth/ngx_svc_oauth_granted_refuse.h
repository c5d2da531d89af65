/*
 * What a user has granted, and is not given: what that leaves behind; or what
 * is to be read again before it can be told.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_REFUSE_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_REFUSE_H_INCLUDED_


#include "ngx_svc_oauth_granted.h"


/*
 * For a decide, of granted->verdict: spends what is shown if the client was
 * good, and ends the grant of what was shown before.  Returns what a reply
 * does.
 */
ngx_int_t ngx_svc_oauth_granted_refuse(ngx_svc_oauth_t *o);

/*
 * For a reply, which returns what this does: reads once more, since what was
 * read has changed, or the user is not active.
 */
ngx_int_t ngx_svc_oauth_granted_again(ngx_svc_oauth_t *o);


#endif /* _NGX_SVC_OAUTH_GRANTED_REFUSE_H_INCLUDED_ */
