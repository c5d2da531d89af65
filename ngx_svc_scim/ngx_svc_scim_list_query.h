/*
 * What a client asks of a list, by a query or by the body of a search (RFC
 * 7644, 3.4.2 and 3.4.3).
 */

#ifndef _NGX_SVC_SCIM_LIST_QUERY_H_INCLUDED_
#define _NGX_SVC_SCIM_LIST_QUERY_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_scim_filter_attr.h"


typedef struct {
    ngx_str_t                   filter;     /* no data: none */
    const ngx_svc_scim_attr_t  *sort;       /* NULL: by meta.created */
    ngx_uint_t                  descending;
    int32_t                     start;      /* from 1 */
    int32_t                     count;      /* 0 to NGX_SVC_SCIM_LIST_MAX */
    ngx_uint_t                  mask;       /* of attributes to be shown */
} ngx_svc_scim_query_t;


/*
 * Reads the request's arguments.  Returns NGX_OK; NGX_DECLINED with sr->error
 * set; NGX_ERROR.
 */
ngx_int_t ngx_svc_scim_query_args(ngx_svc_request_t *sr,
    ngx_svc_scim_query_t *query);

/* Does the same with the request's body. */
ngx_int_t ngx_svc_scim_query_body(ngx_svc_request_t *sr,
    ngx_svc_scim_query_t *query);


#endif /* _NGX_SVC_SCIM_LIST_QUERY_H_INCLUDED_ */
