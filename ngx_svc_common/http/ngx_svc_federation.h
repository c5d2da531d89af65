/*
 * Sign-in through other servers: what the configuration says of it.
 */

#ifndef _NGX_SVC_FEDERATION_H_INCLUDED_
#define _NGX_SVC_FEDERATION_H_INCLUDED_


#include "ngx_svc_conf.h"


/*
 * Checks, when all is read, what "svc_federation on" needs of svc_sign_in,
 * svc_base_url and the webhook module, and notes whether svc_base_url is a
 * loopback address.  Returns NGX_OK, or NGX_ERROR with a line in the log.
 */
ngx_int_t ngx_svc_federation_conf(ngx_conf_t *cf, ngx_svc_main_conf_t *smcf);

/*
 * Checks whether a tenant may name the URL, for fetches: by
 * ngx_svc_outbound_url() with svc_federation_allow.  "http://" is taken where
 * ngx_svc_federation_plain() is 1.
 */
NGX_SVC_API ngx_int_t ngx_svc_federation_url(const ngx_str_t *url,
    const char *path, ngx_svc_error_t *err);

/* Returns 1 where svc_base_url is itself a loopback address. */
NGX_SVC_API ngx_uint_t ngx_svc_federation_plain(void);


#endif /* _NGX_SVC_FEDERATION_H_INCLUDED_ */
