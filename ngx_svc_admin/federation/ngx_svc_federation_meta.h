/*
 * What an issuer publishes: its metadata, and its keys, as they are fetched and
 * stored.
 */

#ifndef _NGX_SVC_FEDERATION_META_H_INCLUDED_
#define _NGX_SVC_FEDERATION_META_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/* Stores flow->connection's document and keys. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_meta_store;

/*
 * For a reply: fetches flow->connection's document and keys, and calls next(),
 * which stores them.  Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_meta(ngx_svc_federation_flow_t *flow,
    ngx_int_t (*next)(ngx_svc_request_t *sr));

/* The same, of the keys alone. */
ngx_int_t ngx_svc_federation_keys(ngx_svc_federation_flow_t *flow,
    ngx_int_t (*next)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_FEDERATION_META_H_INCLUDED_ */
