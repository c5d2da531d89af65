/*
 * Logout tokens: one that is to be sent, while the helper has it.
 */

#ifndef _NGX_SVC_LOGOUT_H_INCLUDED_
#define _NGX_SVC_LOGOUT_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* The columns of svc.oauth_logout_take(). */

typedef struct {
    ngx_str_t   tenant;             /* UUIDs */
    ngx_str_t   client;
    ngx_str_t   root;
    ngx_str_t   user;
    ngx_str_t   attempt;            /* with this one */
    ngx_str_t   uri;                /* no data: nobody is to be told */
    ngx_str_t   slug;
    ngx_str_t   alg;
    ngx_str_t   kid;                /* likewise: nobody can verify it */
    ngx_str_t   sealed;             /* the key, as svc.oauth_key has it */
} ngx_svc_logout_t;


#endif /* _NGX_SVC_LOGOUT_H_INCLUDED_ */
