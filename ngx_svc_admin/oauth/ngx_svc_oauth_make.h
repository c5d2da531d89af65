/*
 * RSA keys of tenants.  A thread makes them, one at a time in a worker.
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
    ngx_int_t           rc;         /* NGX_OK: the thread has made new */
    ngx_svc_jwk_new_t   new;        /* wiped when the work is freed */
    ngx_queue_t         queue;      /* among the keys that requests wait for */
    ngx_queue_t         waiting;    /* the requests that wait for this one */
};


/*
 * Has an RSA key made for o->tenant, which has none; all requests of the tenant
 * that come meanwhile get the same key.  made() is called with the new key in
 * o, and with o->key_first as the statement that stores it.  A reply returns
 * what this returns, and made() returns the same.
 */
ngx_int_t ngx_svc_oauth_make(ngx_svc_oauth_t *o,
    ngx_int_t (*made)(ngx_svc_oauth_t *o));

/*
 * Has a key made for a tenant, of NGX_SVC_UUID_LEN bytes.  Returns NGX_OK:
 * handler will be called once, with a key if work->rc and rc are NGX_OK;
 * NGX_BUSY: too many wait; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_make_key(const u_char *tenant,
    ngx_svc_work_pt handler);


#endif /* _NGX_SVC_OAUTH_MAKE_H_INCLUDED_ */
