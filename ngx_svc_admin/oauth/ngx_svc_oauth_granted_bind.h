/*
 * Parameters of statements: what a row has had as text goes back in the binary
 * form of its type.  A cast of a text to a type is looked up, and run, each
 * time that the statement is.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_BIND_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_BIND_H_INCLUDED_


#include "ngx_svc_oauth_granted.h"


/* Of an ngx_str_t of o->data: NULL, when it has no data. */

#define ngx_svc_oauth_granted_as(type, field)                                 \
    { .bind = ngx_svc_oauth_granted_bind_##type,                              \
      .offset = offsetof(ngx_svc_oauth_granted_t, field) }

#define ngx_svc_oauth_granted_uuid(field)                                     \
    ngx_svc_oauth_granted_as(uuid, field)
#define ngx_svc_oauth_granted_tid(field)                                      \
    ngx_svc_oauth_granted_as(tid, field)
#define ngx_svc_oauth_granted_int8(field)                                     \
    ngx_svc_oauth_granted_as(int8, field)
#define ngx_svc_oauth_granted_int4(field)                                     \
    ngx_svc_oauth_granted_as(int4, field)

/* Without a sign, which makes no difference to its bytes. */
#define ngx_svc_oauth_granted_xid(field)                                      \
    ngx_svc_oauth_granted_as(int4, field)

ngx_svc_bind_function(ngx_svc_oauth_granted_bind_uuid);
ngx_svc_bind_function(ngx_svc_oauth_granted_bind_tid);
ngx_svc_bind_function(ngx_svc_oauth_granted_bind_int8);
ngx_svc_bind_function(ngx_svc_oauth_granted_bind_int4);


#endif /* _NGX_SVC_OAUTH_GRANTED_BIND_H_INCLUDED_ */
