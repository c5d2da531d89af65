/*
 * Lists that are searched.
 */

#include "ngx_svc_admin_search.h"


#define NGX_SVC_ADMIN_DEEP_OFFSET  10000    /* a page behind it takes longer */


ngx_int_t
ngx_svc_admin_search_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t        rc;
    ngx_str_t        q;
    ngx_svc_page_t  *page;

    page = sr->data;

    rc = ngx_svc_argument(sr, "q", &q);

    if (rc == NGX_OK && (q.len || page->offset > NGX_SVC_ADMIN_DEEP_OFFSET)) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    return rc;
}
