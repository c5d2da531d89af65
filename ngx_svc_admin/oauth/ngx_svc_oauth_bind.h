/*
 * Parameters of statements that a row has had as text, and that go back in the
 * binary form of their types.  A cast from text would be looked up, and run,
 * each time that the statement runs.
 */

#ifndef _NGX_SVC_OAUTH_BIND_H_INCLUDED_
#define _NGX_SVC_OAUTH_BIND_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Binds an ngx_str_t of the struct that o->data points to.  type: uuid, which
 * is NULL if there is no data; tid; int8; int4, also for an xid: that has no
 * sign, and its bytes are the same.
 */

#define ngx_svc_oauth_bind_as(type, data, field)                              \
    { .bind = ngx_svc_oauth_bind_##type, .offset = offsetof(data, field) }

ngx_svc_bind_function(ngx_svc_oauth_bind_uuid);
ngx_svc_bind_function(ngx_svc_oauth_bind_tid);
ngx_svc_bind_function(ngx_svc_oauth_bind_int8);
ngx_svc_bind_function(ngx_svc_oauth_bind_int4);


#endif /* _NGX_SVC_OAUTH_BIND_H_INCLUDED_ */
