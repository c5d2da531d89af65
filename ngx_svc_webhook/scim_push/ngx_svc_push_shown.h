/*
 * Outbound SCIM: whom a look-up of many users has shown.
 */

#ifndef _NGX_SVC_PUSH_SHOWN_H_INCLUDED_
#define _NGX_SVC_PUSH_SHOWN_H_INCLUDED_


#include "ngx_svc_push.h"


#define NGX_SVC_PUSH_SHOWN_MOST  32     /* users, without the two who are
                                           there */


typedef struct {
    ngx_str_t                   name;
    ngx_str_t                   id;     /* empty: of one who is there */
    ngx_uint_t                  shown;  /* so often */
} ngx_svc_push_shown_user_t;


/* Those who are asked for: the first and the last one are there. */

typedef struct {
    ngx_pool_t                 *pool;
    ngx_uint_t                  n;
    ngx_svc_push_shown_user_t   users[NGX_SVC_PUSH_SHOWN_MOST + 2];
} ngx_svc_push_shown_t;


/* Adds a user, whose texts are copied; NGX_ERROR: memory. */
ngx_int_t ngx_svc_push_shown_add(ngx_svc_push_shown_t *s,
    const ngx_str_t *name, const ngx_str_t *id);

/* Reads an answer, and returns whether it is to be believed. */
ngx_uint_t ngx_svc_push_shown_read(ngx_svc_push_shown_t *s,
    const cJSON *json);

/* Whether one has been shown, or was not asked for. */
ngx_uint_t ngx_svc_push_shown(const ngx_svc_push_shown_t *s,
    const ngx_str_t *id);


#endif /* _NGX_SVC_PUSH_SHOWN_H_INCLUDED_ */
