/*
 * Outbound SCIM: users who are to be inactive, and whom the target does not
 * show by the id that is known.
 *
 * A target that answers 404 may be broken for a moment, and a user who was not
 * deactivated then would keep the account for good.  So a user counts as gone
 * only when the target's lists lack him twice, an hour apart.  A target that
 * answers 404 instead of an empty list must at least tell what it can do.
 */

#include "ngx_svc_push_leave.h"


static ngx_uint_t ngx_svc_push_leave_his(const ngx_svc_push_t *push,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_leave_asked(ngx_svc_push_call_t *call);


ngx_uint_t
ngx_svc_push_leave_find(ngx_svc_push_call_t *call, const cJSON **resource)
{
    ngx_uint_t       n;
    const cJSON     *item;
    ngx_svc_push_t  *push;

    push = call->push;

    n = ngx_svc_push_read_find(call->http.json, &push->want,
                               NGX_SVC_PUSH_BY_ID, resource);

    if (n || push->remote_id.len == 0) {
        return n;
    }

    item = ngx_svc_push_read_list(call->http.json);

    for (item = item ? item->child : NULL; item; item = item->next) {
        if (ngx_svc_push_leave_his(push, item)) {
            *resource = item;
            n++;
        }
    }

    return n;
}


static ngx_uint_t
ngx_svc_push_leave_his(const ngx_svc_push_t *push, const cJSON *resource)
{
    ngx_str_t  id;

    (void) ngx_svc_push_read_text(resource, "externalId", &id);

    if (id.len) {
        return 0;
    }

    if (ngx_svc_push_read_is(resource, "id", &push->remote_id, 1)) {
        return 1;
    }

    return push->want.user_name.len
           && ngx_svc_push_read_is(resource, "userName", &push->want.user_name,
                                   0);
}


/* A user who was never made at the target need not be shown by it. */

ngx_int_t
ngx_svc_push_leave_absent(ngx_svc_push_call_t *call)
{
    ngx_svc_push_t  *push;

    push = call->push;

    if (push->remote_id.len == 0 && !push->remote_active
        && push->absent_for == 0)
    {
        return ngx_svc_push_call_good(call);
    }

    if (!call->listed) {
        return ngx_svc_push_call_config(call, ngx_svc_push_leave_asked);
    }

    push->seen = NGX_SVC_PUSH_ABSENT;
    push->remote_active = 0;

    if (push->absent_for >= NGX_SVC_PUSH_ABSENCE) {
        ngx_svc_push_call_forget(call);
        return ngx_svc_push_call_good(call);
    }

    ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_USER,
                           "the target does not show the user, who is to be "
                           "inactive: it is asked again in an hour");
    return NGX_DONE;
}


static ngx_int_t
ngx_svc_push_leave_asked(ngx_svc_push_call_t *call)
{
    if (call->http.answer.outcome == NGX_SVC_PUSH_DONE) {
        call->listed = 1;
        return ngx_svc_push_leave_absent(call);
    }

    if (call->http.answer.outcome == NGX_SVC_PUSH_USER) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_RETRY,
                               "the target answers %ui to all that it is "
                               "asked: whether the user is active there is not "
                               "known", call->http.answer.status);
    }

    return NGX_DONE;
}
