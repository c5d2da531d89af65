/*
 * Outbound SCIM: the requests of one user.
 *
 * Of whom a target has no id is known he is looked up, by name and by our id;
 * who is there is taken over, and made what is wanted, who is not is created.
 * A request whose outcome is not known is never made again before that.  Nobody
 * is ever deleted, and who is not to be active is only made inactive, which is
 * done when the target shows it.
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
 * Who is in scope is taken over by name, too; who is to be made inactive only
 * when it was us who made him.
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


/* Not each target knows to look for our id, or has a list of nobody. */

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
 * A resource with the id of somebody else who is pushed from here is that
 * one's, whatever its name: PostgreSQL knows.
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


/* Who was read by his id is to be adjusted, who was looked up is taken over. */

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

        /* the id is not his any more: he may have another one */

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


/* RFC 7644, 3.3: 409; some say it with 400. */

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


/* Without a resource all is said that is, or was, set here. */

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
 * Some refuse to take away what is not there: then it is asked for what is, and
 * the difference is sent.  Some have no route for PATCH, and say 404 to it.
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


/* PATCH of the user was 404: if the user is there, it is PATCH that is not. */

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


/* A target may say of itself that it has done something else. */

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
 * Who was made inactive without a word is asked for.  Some never say whether
 * anybody is active, or cannot be asked: what they have answered is all there
 * is.
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
    /* of who has left the id is kept until he is not there for sure */

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
