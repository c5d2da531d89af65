/*
 * Outbound SCIM: the tenants whose targets this helper holds.
 */

#include "ngx_svc_push_tenant.h"


static ngx_rbtree_t       ngx_svc_push_tenants;
static ngx_rbtree_node_t  ngx_svc_push_tenant_sentinel;


void
ngx_svc_push_tenant_init(void)
{
    ngx_rbtree_init(&ngx_svc_push_tenants, &ngx_svc_push_tenant_sentinel,
                    ngx_str_rbtree_insert_value);
}


ngx_svc_push_tenant_t *
ngx_svc_push_tenant(const ngx_str_t *id)
{
    ngx_svc_push_tenant_t  *tenant;

    tenant = ngx_svc_push_tenant_find(id);
    if (tenant) {
        return tenant;
    }

    tenant = ngx_calloc(sizeof(ngx_svc_push_tenant_t), ngx_cycle->log);
    if (tenant == NULL) {
        return NULL;
    }

    tenant->node.str.data = tenant->id;
    tenant->node.str.len = ngx_min(id->len, NGX_SVC_UUID_TEXT_LEN);
    ngx_memcpy(tenant->id, id->data, tenant->node.str.len);
    tenant->node.node.key = ngx_crc32_short(tenant->id, tenant->node.str.len);

    ngx_queue_init(&tenant->works);
    ngx_rbtree_insert(&ngx_svc_push_tenants, &tenant->node.node);

    return tenant;
}


ngx_svc_push_tenant_t *
ngx_svc_push_tenant_find(const ngx_str_t *id)
{
    ngx_str_t  key;

    key = *id;

    return (ngx_svc_push_tenant_t *)
               ngx_str_rbtree_lookup(&ngx_svc_push_tenants, &key,
                                     ngx_crc32_short(key.data, key.len));
}


ngx_svc_push_work_t *
ngx_svc_push_tenant_work(ngx_svc_push_tenant_t *tenant, const ngx_str_t *id)
{
    ngx_queue_t          *q;
    ngx_svc_push_work_t  *work;

    for (q = ngx_queue_head(&tenant->works);
         q != ngx_queue_sentinel(&tenant->works);
         q = ngx_queue_next(q))
    {
        work = ngx_queue_data(q, ngx_svc_push_work_t, queue);

        if (work->id.str.len == id->len
            && ngx_memcmp(work->id.text, id->data, id->len) == 0)
        {
            return work;
        }
    }

    return NULL;
}


void
ngx_svc_push_tenant_leave(ngx_svc_push_work_t *work)
{
    ngx_svc_push_tenant_t  *tenant;

    tenant = work->tenant;

    ngx_queue_remove(&work->queue);

    if (--tenant->nworks == 0) {
        ngx_rbtree_delete(&ngx_svc_push_tenants, &tenant->node.node);
        ngx_free(tenant);
    }
}


void
ngx_svc_push_tenant_join(ngx_svc_push_work_t *work)
{
    ngx_queue_insert_tail(&work->tenant->works, &work->queue);
    work->tenant->nworks++;
}
