/*
 * What may be given for what a user has granted.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_JUDGE_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_JUDGE_H_INCLUDED_


#include "ngx_svc_oauth_granted.h"


/*
 * Takes what was read into o->data: from the last result and, unless o->wider,
 * from the one before it.  All but granted->client is copied.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_granted_take(ngx_svc_oauth_t *o, PGresult *res);

/*
 * Sets granted->verdict to the first verdict in the order of /oauth/token, or
 * to NULL, and what is given then.  Returns NGX_OK; NGX_DECLINED: more is to
 * be read before it can be decided; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_granted_judge(ngx_svc_oauth_t *o);

/*
 * Returns 1 if the grant comes with refresh tokens: the user has granted
 * offline_access, or the client always gets them.
 */
ngx_uint_t ngx_svc_oauth_granted_refreshes(
    const ngx_svc_oauth_granted_t *granted);

/* The verdict for a tenant that has no key yet. */
#define NGX_SVC_OAUTH_GRANTED_KEY  "key"


/* Returns 1 if the client may have this scope today. */
ngx_uint_t ngx_svc_oauth_granted_may(ngx_svc_oauth_t *o,
    const ngx_str_t *scope);


#endif /* _NGX_SVC_OAUTH_GRANTED_JUDGE_H_INCLUDED_ */
