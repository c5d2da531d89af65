/*
 * What an issuer publishes: its metadata, and its keys, as they are fetched and
 * stored.
 */

#ifndef _NGX_SVC_FEDERATION_META_H_INCLUDED_
#define _NGX_SVC_FEDERATION_META_H_INCLUDED_


#include "ngx_svc_published.h"


#define NGX_SVC_FEDERATION_META_TIME  4000      /* ms of each fetch */


/* By the connection's id, as bytes. */
extern const ngx_svc_published_kind_t  ngx_svc_federation_meta;

/*
 * Call these at the start of the worker that looks for what is due, and at the
 * end of any worker.
 */
void ngx_svc_federation_meta_init_worker(ngx_cycle_t *cycle);
void ngx_svc_federation_meta_exit_worker(void);


#endif /* _NGX_SVC_FEDERATION_META_H_INCLUDED_ */
