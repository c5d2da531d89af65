/*
 * A logout token that is to be sent.
 */

#ifndef _NGX_SVC_LOGOUT_H_INCLUDED_
#define _NGX_SVC_LOGOUT_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* The columns of svc.oauth_logout_take(). */

typedef struct {
    ngx_str_t   tenant;             /* UUID */
    ngx_str_t   client;
    ngx_str_t   root;
    ngx_str_t   user;
    ngx_str_t   attempt;            /* the attempt's number */
    ngx_str_t   uri;                /* without data: nobody is to be told */
    ngx_str_t   slug;
    ngx_str_t   alg;
    ngx_str_t   kid;                /* without data: nobody could verify the
                                       token */
    ngx_str_t   sealed;             /* the key, as in svc.oauth_key */
} ngx_svc_logout_t;


#endif /* _NGX_SVC_LOGOUT_H_INCLUDED_ */
