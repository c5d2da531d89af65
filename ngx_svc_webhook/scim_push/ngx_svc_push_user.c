/*
 * Outbound SCIM: pushes one user.
 *
 * A user whose id at the target is not known is looked up, by name and by our
 * id.  If the user is there he is taken over and changed; if not he is
 * created. A request whose outcome is not known is never repeated before
 * another look-up. Users are never deleted: one who is not to be active is
 * made inactive, which is done when the target shows it.
 */

#include "ngx_svc_push_user.h"
#include "ngx_svc_push_call.h"
#include "ngx_svc_push_leave.h"
#include "ngx_svc_push_patch.h"


static ngx_int_t ngx_svc_push_user_begin(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_find(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_looked(ngx_svc_push_call_t *call);
static ngx_uint_t ngx_svc_push_user_unlisted(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_absent(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_whose(ngx_svc_push_call_t *call,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_user_ours(ngx_svc_push_call_t *call,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_user_other(ngx_svc_push_call_t *call,
    ngx_svc_push_owner_e owner);
static ngx_int_t ngx_svc_push_user_take(ngx_svc_push_call_t *call,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_user_created(ngx_svc_push_call_t *call);
static ngx_uint_t ngx_svc_push_user_taken(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_got(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_adjust(ngx_svc_push_call_t *call,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_user_patched(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_unrouted(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_put(ngx_svc_push_call_t *call,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_user_updated(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_shown(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_stays(ngx_svc_push_call_t *call,
    ngx_int_t active, ngx_uint_t status);
static ngx_uint_t ngx_svc_push_user_lost(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_forget(ngx_svc_push_call_t *call);


ngx_int_t
ngx_svc_push_user(ngx_svc_push_t *push)
{
    return ngx_svc_push_call(push, ngx_svc_push_user_begin);
}


void
ngx_svc_push_user_cancel(ngx_svc_push_t *push)
{
    ngx_svc_push_call_cancel(push);
}


static ngx_int_t
ngx_svc_push_user_begin(ngx_svc_push_call_t *call)
{
    ngx_svc_push_t  *push;

    push = call->push;

    if (push->remote_id.len == 0) {
        return push->absent ? ngx_svc_push_user_absent(call)
                            : ngx_svc_push_user_find(call);
    }

    if (push->compare) {
        return ngx_svc_push_call_get(call, ngx_svc_push_user_got);
    }

    if (push->remote_hash.len == NGX_SVC_SHA256_LEN
        && ngx_memcmp(push->remote_hash.data, call->hash, NGX_SVC_SHA256_LEN)
           == 0)
    {
        return ngx_svc_push_call_good(call);
    }

    return call->put ? ngx_svc_push_call_get(call, ngx_svc_push_user_got)
                     : ngx_svc_push_user_adjust(call, NULL);
}


static ngx_int_t
ngx_svc_push_user_find(ngx_svc_push_call_t *call)
{
    return ngx_svc_push_call_look(call, call->push->want.user_name.len
                                        ? NGX_SVC_PUSH_BY_NAME
                                        : NGX_SVC_PUSH_BY_ID,
                                  ngx_svc_push_user_looked);
}


/*
 * A user in scope is also taken over by name; one who is to be inactive only
 * if we have made him.
 */

static ngx_int_t
ngx_svc_push_user_looked(ngx_svc_push_call_t *call)
{
    ngx_uint_t            n;
    const cJSON          *resource;
    ngx_svc_push_want_t  *want;

    want = &call->push->want;
    n = 0;

    if (call->http.answer.outcome == NGX_SVC_PUSH_DONE) {
        call->listed = 1;

        n = want->active
            ? ngx_svc_push_read_find(call->http.json, want, call->by,
                                     &resource)
            : ngx_svc_push_leave_find(call, &resource);

    } else if (!ngx_svc_push_user_unlisted(call)) {
        return NGX_DONE;
    }

    if (n == 1) {
        return ngx_svc_push_user_whose(call, resource);
    }

    if (n > 1) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_USER,
                               "ambiguous: %ui users of the target are this "
                               "one", n);
        return NGX_DONE;
    }

    if (call->by == NGX_SVC_PUSH_BY_NAME) {
        return ngx_svc_push_call_look(call, NGX_SVC_PUSH_BY_ID,
                                      ngx_svc_push_user_looked);
    }

    return ngx_svc_push_user_absent(call);
}


/* Not every target can look for our id, or answers with an empty list. */

static ngx_uint_t
ngx_svc_push_user_unlisted(ngx_svc_push_call_t *call)
{
    ngx_uint_t  status;

    status = call->http.answer.status;

    if (!call->push->want.active && ngx_svc_push_user_lost(call)) {
        return 1;
    }

    return status == NGX_HTTP_NOT_FOUND
           || (call->by == NGX_SVC_PUSH_BY_ID
               && (status == NGX_HTTP_BAD_REQUEST
                   || status == NGX_HTTP_NOT_IMPLEMENTED));
}


static ngx_int_t
ngx_svc_push_user_absent(ngx_svc_push_call_t *call)
{
    if (!call->push->want.active) {
        return ngx_svc_push_leave_absent(call);
    }

    if (call->conflict) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_USER,
                               "conflict: the target says that the user is "
                               "there, and does not show him");
        return NGX_DONE;
    }

    if (call->created) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_USER,
                               "the target has made the user without an id, "
                               "and does not show him");
        return NGX_DONE;
    }

    return ngx_svc_push_call_create(call, ngx_svc_push_user_created);
}


/*
 * A resource whose externalId is another user's here belongs to that user,
 * whatever its name; PostgreSQL is asked.
 */

static ngx_int_t
ngx_svc_push_user_whose(ngx_svc_push_call_t *call, const cJSON *resource)
{
    u_char           uuid[NGX_SVC_UUID_LEN];
    ngx_str_t        id;
    ngx_svc_push_t  *push;

    push = call->push;

    if (push->owner == NULL
        || ngx_svc_push_read_is(resource, "externalId", &push->want.id, 0)
        || ngx_svc_push_read_text(resource, "externalId", &id) != NGX_OK
        || ngx_svc_uuid_parse(id.data, id.len, uuid) != NGX_OK)
    {
        return ngx_svc_push_user_ours(call, resource);
    }

    call->resource = resource;

    if (push->owner(push, &id) != NGX_OK) {
        return NGX_ERROR;
    }

    call->asking = 1;

    return NGX_OK;
}


void
ngx_svc_push_user_owned(ngx_svc_push_t *push, ngx_svc_push_owner_e owner)
{
    ngx_svc_push_call_t *call = push->state;

    call->asking = 0;

    ngx_svc_push_call_go_on(call, owner == NGX_SVC_PUSH_OWNER_NONE
                                  ? ngx_svc_push_user_ours(call, call->resource)
                                  : ngx_svc_push_user_other(call, owner));
}


/*
 * A user who was read by his id is adjusted; one who was looked up is taken
 * over.
 */

static ngx_int_t
ngx_svc_push_user_ours(ngx_svc_push_call_t *call, const cJSON *resource)
{
    call->push->seen = NGX_SVC_PUSH_SEEN;

    return call->read ? ngx_svc_push_user_adjust(call, resource)
                      : ngx_svc_push_user_take(call, resource);
}


static ngx_int_t
ngx_svc_push_user_other(ngx_svc_push_call_t *call, ngx_svc_push_owner_e owner)
{
    if (owner == NGX_SVC_PUSH_OWNER_UNKNOWN) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_RETRY,
                               "whose the target's user is is not known yet");
        return NGX_DONE;
    }

    if (call->read) {
        ngx_svc_push_call_forget(call);

        /* the id belongs to another user now: this one may have another id */

        if (!call->push->want.active) {
            call->read = 0;
            call->forgotten = 1;
            call->push->remote_active = 1;

            return ngx_svc_push_user_find(call);
        }
    }

    ngx_svc_push_http_fail(&call->http,
                           owner == NGX_SVC_PUSH_OWNER_PENDING
                           ? NGX_SVC_PUSH_RETRY : NGX_SVC_PUSH_USER,
                           "the target's user of this name is another user of "
                           "this tenant, by its externalId%s",
                           owner == NGX_SVC_PUSH_OWNER_PENDING
                           ? ", who is about to be changed" : "");
    return NGX_DONE;
}


static ngx_int_t
ngx_svc_push_user_take(ngx_svc_push_call_t *call, const cJSON *resource)
{
    ngx_int_t        rc;
    ngx_svc_push_t  *push;

    push = call->push;

    rc = ngx_svc_push_call_id(call, resource);

    if (rc == NGX_DECLINED) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_USER,
                               "the target's user has no id that can be in a "
                               "URL");
        return NGX_DONE;
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    if (!ngx_svc_push_read_is(resource, "externalId", &push->want.id, 0)) {
        push->want.sent = 0;
    }

    push->remote_hash.len = 0;
    push->remote_active = (ngx_svc_push_read_active(resource) != 0);

    return ngx_svc_push_user_adjust(call, resource);
}


static ngx_int_t
ngx_svc_push_user_created(ngx_svc_push_call_t *call)
{
    ngx_int_t        rc;
    ngx_svc_push_t  *push;

    push = call->push;

    if (call->http.answer.outcome == NGX_SVC_PUSH_DONE) {
        push->remote_active = 1;

        rc = ngx_svc_push_call_id(call, call->http.json);

        if (rc == NGX_OK) {
            return ngx_svc_push_call_good(call);
        }

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        call->created = 1;

        return ngx_svc_push_user_find(call);
    }

    if (ngx_svc_push_user_taken(call)) {
        call->conflict = 1;
        return ngx_svc_push_user_find(call);
    }

    if (call->http.unknown) {
        push->remote_active = 1;
    }

    return NGX_DONE;
}


/* The status is 409 by RFC 7644, 3.3; some targets say 400. */

static ngx_uint_t
ngx_svc_push_user_taken(ngx_svc_push_call_t *call)
{
    ngx_str_t  type = ngx_string("uniqueness");

    if (call->http.answer.status == NGX_HTTP_CONFLICT) {
        return 1;
    }

    return call->http.answer.status == NGX_HTTP_BAD_REQUEST
           && ngx_svc_push_read_is(call->http.json, "scimType", &type, 0);
}


static ngx_int_t
ngx_svc_push_user_got(ngx_svc_push_call_t *call)
{
    if (ngx_svc_push_user_lost(call)) {
        return ngx_svc_push_user_forget(call);
    }

    if (call->http.answer.outcome != NGX_SVC_PUSH_DONE) {
        return NGX_DONE;
    }

    return ngx_svc_push_user_whose(call, call->http.json);
}


/* Without a resource, sends all attributes that are or were set here. */

static ngx_int_t
ngx_svc_push_user_adjust(ngx_svc_push_call_t *call, const cJSON *resource)
{
    ngx_int_t  rc;
    ngx_str_t  body;

    rc = ngx_svc_push_patch(call->push->pool, &call->push->want, resource,
                            &body);

    if (rc == NGX_DECLINED) {
        return ngx_svc_push_call_good(call);
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    if (call->put) {
        return call->read ? ngx_svc_push_user_put(call, resource)
                          : ngx_svc_push_call_get(call, ngx_svc_push_user_got);
    }

    return ngx_svc_push_call_change(call, "PATCH", &body,
                                    ngx_svc_push_user_patched);
}


/*
 * Some targets refuse to remove what is not there: then the resource is read,
 * and only the difference is sent.  Others have no route for PATCH, and answer
 * 404.
 */

static ngx_int_t
ngx_svc_push_user_patched(ngx_svc_push_call_t *call)
{
    ngx_uint_t  status;

    status = call->http.answer.status;

    if (status == NGX_HTTP_NOT_ALLOWED || status == NGX_HTTP_NOT_IMPLEMENTED) {
        call->put = 1;
        call->push->no_patch = 1;

        return ngx_svc_push_call_get(call, ngx_svc_push_user_got);
    }

    if (status == NGX_HTTP_BAD_REQUEST && !call->read) {
        return ngx_svc_push_call_get(call, ngx_svc_push_user_got);
    }

    if (status == NGX_HTTP_NOT_FOUND) {
        return ngx_svc_push_call_get(call, ngx_svc_push_user_unrouted);
    }

    return ngx_svc_push_user_updated(call);
}


/* PATCH got 404: if the user is there after all, the target lacks PATCH. */

static ngx_int_t
ngx_svc_push_user_unrouted(ngx_svc_push_call_t *call)
{
    if (call->http.answer.outcome == NGX_SVC_PUSH_DONE) {
        call->put = 1;
        call->push->no_patch = 1;
    }

    return ngx_svc_push_user_got(call);
}


static ngx_int_t
ngx_svc_push_user_put(ngx_svc_push_call_t *call, const cJSON *resource)
{
    ngx_str_t  body;

    if (ngx_svc_push_write_merged(call->push->pool, &call->push->want,
                                  resource, &body)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_push_call_change(call, "PUT", &body,
                                    ngx_svc_push_user_updated);
}


/* The target's answer may show that it has done something else. */

static ngx_int_t
ngx_svc_push_user_updated(ngx_svc_push_call_t *call)
{
    ngx_int_t        active;
    ngx_svc_push_t  *push;

    push = call->push;

    if (ngx_svc_push_user_lost(call)) {
        return ngx_svc_push_user_forget(call);
    }

    if (call->http.answer.outcome != NGX_SVC_PUSH_DONE) {
        return NGX_DONE;
    }

    active = ngx_svc_push_read_active(call->http.json);

    if (active == -1 && !push->want.active && !call->shown) {
        call->shown = call->http.answer.status;
        return ngx_svc_push_call_get(call, ngx_svc_push_user_shown);
    }

    return ngx_svc_push_user_stays(call, active, call->http.answer.status);
}


/*
 * If a change to inactive was answered without the resource, that is read.
 * Some targets never show "active", or do not allow to read: then the answer
 * to the change is all there is.
 */

static ngx_int_t
ngx_svc_push_user_shown(ngx_svc_push_call_t *call)
{
    ngx_uint_t  status;

    status = call->http.answer.status;

    if (status == NGX_HTTP_NOT_ALLOWED || status == NGX_HTTP_NOT_IMPLEMENTED) {
        return ngx_svc_push_call_good(call);
    }

    if (ngx_svc_push_user_lost(call)) {
        return ngx_svc_push_user_forget(call);
    }

    if (call->http.answer.outcome != NGX_SVC_PUSH_DONE) {
        return NGX_DONE;
    }

    return ngx_svc_push_user_stays(call,
                                   ngx_svc_push_read_active(call->http.json),
                                   call->shown);
}


/* active: as the target shows it; status: its answer to the change. */

static ngx_int_t
ngx_svc_push_user_stays(ngx_svc_push_call_t *call, ngx_int_t active,
    ngx_uint_t status)
{
    call->push->seen = NGX_SVC_PUSH_SEEN;

    if (active != -1 && active != (ngx_int_t) call->push->want.active) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_USER,
                               "the target answers %ui, and the user stays %s",
                               status, active ? "active" : "inactive");
        return NGX_DONE;
    }

    return ngx_svc_push_call_good(call);
}


static ngx_uint_t
ngx_svc_push_user_lost(ngx_svc_push_call_t *call)
{
    return call->http.answer.status == NGX_HTTP_NOT_FOUND
           || call->http.answer.status == 410;
}


static ngx_int_t
ngx_svc_push_user_forget(ngx_svc_push_call_t *call)
{
    /* the id of a leaving user is kept until he is gone for certain */

    if (call->push->want.active) {
        ngx_svc_push_call_forget(call);
    }

    if (call->forgotten) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_RETRY,
                               "the target has the user, and has him not");
        return NGX_DONE;
    }

    call->forgotten = 1;
    call->read = 0;

    return ngx_svc_push_user_find(call);
}
