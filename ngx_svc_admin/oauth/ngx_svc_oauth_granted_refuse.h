/*
 * Refusals of what a user has granted: what they write; and what is read again
 * before a refusal is certain.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_REFUSE_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_REFUSE_H_INCLUDED_


#include "ngx_svc_oauth_granted.h"


/*
 * For a decide: refuses by granted->verdict.  A code is spent if the client
 * was good, and the grant ends if what is presented was used before.  Returns
 * what a reply does.
 */
ngx_int_t ngx_svc_oauth_granted_refuse(ngx_svc_oauth_t *o);

/*
 * For a reply, which returns what this does: reads all once more, since what
 * was read has changed, or the user is not active.
 */
ngx_int_t ngx_svc_oauth_granted_again(ngx_svc_oauth_t *o);


#endif /* _NGX_SVC_OAUTH_GRANTED_REFUSE_H_INCLUDED_ */
