/*
 * Outbound SCIM: looks for the user here whom a target's resource belongs to.
 */

#include "ngx_svc_push_owner.h"
#include "ngx_svc_helper_op.h"
#include "ngx_svc_push_sql_users.h"
#include "ngx_svc_push_sql_users.row.h"
#include "ngx_svc_push_user.h"


static void ngx_svc_push_owner_answer(ngx_svc_pg_op_t *op);
static ngx_svc_push_owner_e ngx_svc_push_owner_read(ngx_svc_pg_op_t *op);


ngx_int_t
ngx_svc_push_owner(ngx_svc_push_t *push, const ngx_str_t *id)
{
    ngx_svc_pg_op_t      *op;
    ngx_svc_pg_call_t    *call;
    ngx_svc_push_item_t  *item;

    item = push->data;

    op = ngx_svc_push_store_make(item->work, NGX_SVC_PG_READ,
                                 ngx_svc_push_owner_answer,
                                 &ngx_svc_sql_push_owner, &call);
    if (op == NULL) {
        return NGX_ERROR;
    }

    op->data = item;

    ngx_svc_pg_bind_str(call, id);

    return ngx_svc_helper_op_submit(op, NGX_OK, &item->op);
}


void
ngx_svc_push_owner_cancel(ngx_svc_push_t *push)
{
    ngx_svc_push_item_t  *item;

    item = push->data;

    ngx_svc_pg_drop(&item->op);
}


static void
ngx_svc_push_owner_answer(ngx_svc_pg_op_t *op)
{
    ngx_svc_push_item_t   *item;
    ngx_svc_push_owner_e   owner;

    item = op->data;
    item->op = NULL;

    owner = ngx_svc_push_owner_read(op);

    ngx_destroy_pool(op->pool);

    ngx_svc_push_user_owned(&item->push, owner);
}


static ngx_svc_push_owner_e
ngx_svc_push_owner_read(ngx_svc_pg_op_t *op)
{
    PGresult                  *res;
    ngx_svc_row_push_owner_t   row;

    if (ngx_svc_push_store_failed(op)) {
        return NGX_SVC_PUSH_OWNER_UNKNOWN;
    }

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_push_owner);

    if (PQntuples(res) == 0) {
        return NGX_SVC_PUSH_OWNER_UNKNOWN;
    }

    ngx_svc_row_push_owner(&row, res, 0);

    if (!row.known) {
        return NGX_SVC_PUSH_OWNER_NONE;
    }

    return row.pending ? NGX_SVC_PUSH_OWNER_PENDING
                       : NGX_SVC_PUSH_OWNER_OTHER;
}
