/*
 * Parameters of statements: what a row has had as text goes back in the binary
 * form of its type.  A cast of a text to a type is looked up, and run, each
 * time that the statement is.
 */

#ifndef _NGX_SVC_OAUTH_BIND_H_INCLUDED_
#define _NGX_SVC_OAUTH_BIND_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Of an ngx_str_t of what o->data points to; of a UUID NULL, when it has no
 * data.  type: uuid, tid, int8, int4; and int4 of an xid, which has no sign:
 * that makes no difference to its bytes.
 */

#define ngx_svc_oauth_bind_as(type, data, field)                              \
    { .bind = ngx_svc_oauth_bind_##type, .offset = offsetof(data, field) }

ngx_svc_bind_function(ngx_svc_oauth_bind_uuid);
ngx_svc_bind_function(ngx_svc_oauth_bind_tid);
ngx_svc_bind_function(ngx_svc_oauth_bind_int8);
ngx_svc_bind_function(ngx_svc_oauth_bind_int4);


#endif /* _NGX_SVC_OAUTH_BIND_H_INCLUDED_ */
