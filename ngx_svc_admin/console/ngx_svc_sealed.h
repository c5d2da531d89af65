/*
 * Secrets that a tenant configures, sealed under svc_key_file.
 */

#ifndef _NGX_SVC_SEALED_H_INCLUDED_
#define _NGX_SVC_SEALED_H_INCLUDED_


#include "ngx_svc_http.h"


/*
 * A member of the body, sealed: a bytea, NULL when it is absent or null.  It is
 * sealed for what it is, a string, and for the new id of the request, which is
 * kept beside it and comes before it (ngx_svc_param_new_id()): a worker learns
 * of which tenant it is only when the transaction is over, and the ids are as
 * good as unique without that.  Without a key: 503.
 */

#define ngx_svc_param_sealed(type, field, what)                               \
    { .bind = ngx_svc_sealed_bind, .offset = offsetof(type, field),           \
      .text = what }

ngx_int_t ngx_svc_sealed_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body);

/*
 * Likewise, of bytes, for sr->new_id: *sealed is of the request's pool.
 * NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_sealed_make(ngx_svc_request_t *sr, const char *what,
    const ngx_str_t *secret, ngx_str_t *sealed);

/* NGX_OK; NGX_DECLINED with sr->error: there is no key to seal with. */
ngx_int_t ngx_svc_sealed_able(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_SEALED_H_INCLUDED_ */
