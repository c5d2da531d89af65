/*
 * RSA keys of tenants, which threads make, one at a time in a worker.
 */

#ifndef _NGX_SVC_OAUTH_MAKE_H_INCLUDED_
#define _NGX_SVC_OAUTH_MAKE_H_INCLUDED_


#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_oauth.h"
#include "ngx_svc_work.h"


typedef struct ngx_svc_oauth_make_s  ngx_svc_oauth_make_t;

struct ngx_svc_oauth_make_s {
    ngx_svc_work_t      work;
    u_char              tenant[NGX_SVC_UUID_LEN];
    ngx_int_t           rc;         /* of who has made it */
    ngx_svc_jwk_new_t   new;        /* wiped when the job is freed */
    ngx_queue_t         queue;      /* of those that requests wait for */
    ngx_queue_t         waiting;    /* these */
};


/*
 * For a reply of a client whose tenant has no RSA key: has one made, for all
 * that wait for it.  made: takes o's new key, which o->key_first stores, from
 * there; both return what a reply does.
 */
ngx_int_t ngx_svc_oauth_make(ngx_svc_oauth_t *o,
    ngx_int_t (*made)(ngx_svc_oauth_t *o));

/*
 * A key for a tenant, of 16 bytes: handler is called once, work->rc and then rc
 * say how it went.  NGX_OK, NGX_BUSY or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_make_key(const u_char *tenant,
    ngx_svc_work_pt handler);


#endif /* _NGX_SVC_OAUTH_MAKE_H_INCLUDED_ */
