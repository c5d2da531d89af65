/*
 * Outbound SCIM: which users a look-up of many has shown.
 */

#ifndef _NGX_SVC_PUSH_SHOWN_H_INCLUDED_
#define _NGX_SVC_PUSH_SHOWN_H_INCLUDED_


#include "ngx_svc_push.h"


#define NGX_SVC_PUSH_SHOWN_MOST  32     /* users, without the two known ones */


typedef struct {
    ngx_str_t                   name;
    ngx_str_t                   id;     /* empty: a known user */
    ngx_uint_t                  shown;  /* how often he was shown */
} ngx_svc_push_shown_user_t;


/* The users asked for.  The target is known to have the first and the last. */

typedef struct {
    ngx_pool_t                 *pool;
    ngx_uint_t                  n;
    ngx_svc_push_shown_user_t   users[NGX_SVC_PUSH_SHOWN_MOST + 2];
} ngx_svc_push_shown_t;


/* Adds a user; the texts are copied.  NGX_ERROR: no memory. */
ngx_int_t ngx_svc_push_shown_add(ngx_svc_push_shown_t *s,
    const ngx_str_t *name, const ngx_str_t *id);

/* Reads an answer, and returns whether it can be believed. */
ngx_uint_t ngx_svc_push_shown_read(ngx_svc_push_shown_t *s,
    const cJSON *json);

/* Returns whether a user was shown, or was not asked for. */
ngx_uint_t ngx_svc_push_shown(const ngx_svc_push_shown_t *s,
    const ngx_str_t *id);


#endif /* _NGX_SVC_PUSH_SHOWN_H_INCLUDED_ */
