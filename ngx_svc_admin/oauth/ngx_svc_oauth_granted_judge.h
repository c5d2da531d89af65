/*
 * What may be given for what a user has granted.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_JUDGE_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_JUDGE_H_INCLUDED_


#include "ngx_svc_oauth_granted.h"


/*
 * Takes what was read into o->data, of the last result and, unless o->wider, of
 * the one before it: nothing of it but granted->client.res is the results'.
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_granted_take(ngx_svc_oauth_t *o, PGresult *res);

/*
 * Sets granted->verdict to the first one of oauth/token's order, or NULL, and
 * what is given then.  NGX_OK; NGX_DECLINED: more is to be read before it can
 * be told; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_granted_judge(ngx_svc_oauth_t *o);

/*
 * 1: refresh tokens belong to it: the user has granted that, or the client
 * always gets them.
 */
ngx_uint_t ngx_svc_oauth_granted_refreshes(
    const ngx_svc_oauth_granted_t *granted);

/* The name that a tenant without a key has for a verdict. */
#define NGX_SVC_OAUTH_GRANTED_KEY  "key"


/* 1: the client may have this scope today. */
ngx_uint_t ngx_svc_oauth_granted_may(ngx_svc_oauth_t *o,
    const ngx_str_t *scope);


#endif /* _NGX_SVC_OAUTH_GRANTED_JUDGE_H_INCLUDED_ */
