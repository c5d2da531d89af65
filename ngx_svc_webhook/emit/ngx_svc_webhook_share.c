/*
 * Each tenant's share of a worker's buffer of events.
 */

#include "ngx_svc_webhook_share.h"


static ngx_rbtree_t       ngx_svc_webhook_shares;
static ngx_rbtree_node_t  ngx_svc_webhook_shares_sentinel;


void
ngx_svc_webhook_share_init(void)
{
    ngx_rbtree_init(&ngx_svc_webhook_shares, &ngx_svc_webhook_shares_sentinel,
                    ngx_str_rbtree_insert_value);
}


ngx_svc_webhook_share_t *
ngx_svc_webhook_share(const ngx_str_t *tenant)
{
    uint32_t                  hash;
    ngx_str_t                 id;
    ngx_str_node_t           *node;
    ngx_svc_webhook_share_t  *share;

    id = *tenant;
    hash = ngx_crc32_short(id.data, id.len);

    node = ngx_str_rbtree_lookup(&ngx_svc_webhook_shares, &id, hash);
    if (node) {
        return (ngx_svc_webhook_share_t *) node;
    }

    share = ngx_alloc(sizeof(ngx_svc_webhook_share_t) + id.len, ngx_cycle->log);
    if (share == NULL) {
        return NULL;
    }

    share->n = 0;
    share->size = 0;
    share->node.str.data = (u_char *) (share + 1);
    share->node.str.len = id.len;
    ngx_memcpy(share->node.str.data, id.data, id.len);

    share->node.node.key = hash;
    ngx_rbtree_insert(&ngx_svc_webhook_shares, &share->node.node);

    return share;
}


void
ngx_svc_webhook_share_add(ngx_svc_webhook_share_t *share, size_t size)
{
    share->n++;
    share->size += size;
}


void
ngx_svc_webhook_share_remove(ngx_svc_webhook_share_t *share, size_t size)
{
    share->n--;
    share->size -= size;

    ngx_svc_webhook_share_unused(share);
}


void
ngx_svc_webhook_share_unused(ngx_svc_webhook_share_t *share)
{
    if (share->n == 0) {
        ngx_rbtree_delete(&ngx_svc_webhook_shares, &share->node.node);
        ngx_free(share);
    }
}
