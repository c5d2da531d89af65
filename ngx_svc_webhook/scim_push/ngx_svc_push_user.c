/*
 * Outbound SCIM: the requests of one user.
 *
 * Of whom a target has no id is known he is looked up, by name and by our id;
 * who is there is taken over, and made what is wanted, who is not is created.
 * A request whose outcome is not known is never made again before that.  Nobody
 * is ever deleted, and who is not to be active is only made inactive.
 */

#include "ngx_svc_push_user.h"
#include "ngx_svc_push_http.h"
#include "ngx_svc_push_write.h"

#include "ngx_svc_crypto.h"


typedef struct ngx_svc_push_call_s  ngx_svc_push_call_t;

/*
 * Reads an answer: NGX_OK, the next request is under way; NGX_DONE, the outcome
 * is the last request's; NGX_ERROR, memory.
 */
typedef ngx_int_t (*ngx_svc_push_call_pt)(ngx_svc_push_call_t *call);

struct ngx_svc_push_call_s {
    ngx_svc_push_http_t    http;
    ngx_svc_push_t        *push;
    ngx_svc_push_call_pt   next;
    ngx_event_t            end;         /* posted: there is nothing to ask */
    ngx_svc_push_by_e      by;          /* of the look-up under way */
    u_char                 hash[NGX_SVC_SHA256_LEN];
    unsigned               put:1;       /* the target does not take PATCH */
    unsigned               read:1;      /* the resource was asked for */
    unsigned               conflict:1;  /* it says that the user is there */
    unsigned               created:1;   /* it has, without an id */
    unsigned               forgotten:1; /* its id is of nobody any more */
};


static ngx_int_t ngx_svc_push_user_begin(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_hash(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_ask(ngx_svc_push_call_t *call,
    ngx_svc_push_ask_t *ask, ngx_svc_push_call_pt next);
static ngx_int_t ngx_svc_push_user_find(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_look(ngx_svc_push_call_t *call,
    ngx_svc_push_by_e by);
static ngx_int_t ngx_svc_push_user_looked(ngx_svc_push_call_t *call);
static ngx_uint_t ngx_svc_push_user_unlisted(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_absent(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_take(ngx_svc_push_call_t *call,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_user_create(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_created(ngx_svc_push_call_t *call);
static ngx_uint_t ngx_svc_push_user_taken(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_get(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_got(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_adjust(ngx_svc_push_call_t *call,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_user_patched(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_put(ngx_svc_push_call_t *call,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_user_updated(ngx_svc_push_call_t *call);
static ngx_uint_t ngx_svc_push_user_lost(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_forget(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_user_id(ngx_svc_push_call_t *call,
    const cJSON *resource);
static ngx_int_t ngx_svc_push_user_good(ngx_svc_push_call_t *call);
static void ngx_svc_push_user_answer(ngx_svc_push_http_t *http);
static void ngx_svc_push_user_end(ngx_event_t *ev);
static void ngx_svc_push_user_finish(ngx_svc_push_call_t *call);


ngx_int_t
ngx_svc_push_user(ngx_svc_push_t *push)
{
    ngx_int_t             rc;
    ngx_svc_push_call_t  *call;

    call = ngx_pcalloc(push->pool, sizeof(ngx_svc_push_call_t));
    if (call == NULL) {
        return NGX_ERROR;
    }

    call->push = push;
    call->put = !push->target->patch;

    call->http.target = push->target;
    call->http.handler = ngx_svc_push_user_answer;
    call->http.data = call;

    call->end.handler = ngx_svc_push_user_end;
    call->end.data = call;
    call->end.log = ngx_cycle->log;

    push->state = call;

    rc = ngx_svc_push_user_begin(call);

    if (rc == NGX_DONE) {
        ngx_post_event(&call->end, &ngx_posted_events);
        return NGX_OK;
    }

    return rc;
}


void
ngx_svc_push_user_cancel(ngx_svc_push_t *push)
{
    ngx_svc_push_call_t *call = push->state;

    if (call->end.posted) {
        ngx_delete_posted_event(&call->end);
    }

    ngx_svc_push_http_close(&call->http);
}


static ngx_int_t
ngx_svc_push_user_begin(ngx_svc_push_call_t *call)
{
    ngx_svc_push_t  *push;

    push = call->push;

    if (ngx_svc_push_user_hash(call) != NGX_OK) {
        return NGX_ERROR;
    }

    if (push->remote_id.len == 0) {
        return ngx_svc_push_user_find(call);
    }

    if (push->compare) {
        return ngx_svc_push_user_get(call);
    }

    if (push->remote_hash.len == NGX_SVC_SHA256_LEN
        && ngx_memcmp(push->remote_hash.data, call->hash, NGX_SVC_SHA256_LEN)
           == 0)
    {
        return ngx_svc_push_user_good(call);
    }

    return call->put ? ngx_svc_push_user_get(call)
                     : ngx_svc_push_user_adjust(call, NULL);
}


/* Of all that is pushed: of an inactive user that is nothing else. */

static ngx_int_t
ngx_svc_push_user_hash(ngx_svc_push_call_t *call)
{
    ngx_str_t  text;

    ngx_str_set(&text, "inactive");

    if (call->push->want.active
        && ngx_svc_push_write_user(call->push->pool, &call->push->want, &text)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_sha256(text.data, text.len, call->hash);
}


static ngx_int_t
ngx_svc_push_user_ask(ngx_svc_push_call_t *call, ngx_svc_push_ask_t *ask,
    ngx_svc_push_call_pt next)
{
    call->next = next;

    return ngx_svc_push_http(&call->http, ask);
}


static ngx_int_t
ngx_svc_push_user_find(ngx_svc_push_call_t *call)
{
    return ngx_svc_push_user_look(call, call->push->want.user_name.len
                                        ? NGX_SVC_PUSH_BY_NAME
                                        : NGX_SVC_PUSH_BY_ID);
}


static ngx_int_t
ngx_svc_push_user_look(ngx_svc_push_call_t *call, ngx_svc_push_by_e by)
{
    ngx_svc_push_ask_t  ask;

    ngx_memzero(&ask, sizeof(ngx_svc_push_ask_t));

    ask.method = "GET";
    ask.path = "/Users?filter=";
    ask.read = 1;

    call->by = by;

    if (ngx_svc_push_write_filter(call->push->pool, &call->push->want, by,
                                  &ask.name)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_push_user_ask(call, &ask, ngx_svc_push_user_looked);
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

    if (call->http.outcome == NGX_SVC_PUSH_DONE) {
        n = ngx_svc_push_read_find(call->http.json, want,
                                   want->active ? call->by
                                                : NGX_SVC_PUSH_BY_ID,
                                   &resource);

    } else if (!ngx_svc_push_user_unlisted(call)) {
        return NGX_DONE;
    }

    if (n == 1) {
        return ngx_svc_push_user_take(call, resource);
    }

    if (n > 1) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_USER,
                               "ambiguous: %ui users of the target are this "
                               "one", n);
        return NGX_DONE;
    }

    if (call->by == NGX_SVC_PUSH_BY_NAME) {
        return ngx_svc_push_user_look(call, NGX_SVC_PUSH_BY_ID);
    }

    return ngx_svc_push_user_absent(call);
}


/* Not each target knows to look for our id, or has a list of nobody. */

static ngx_uint_t
ngx_svc_push_user_unlisted(ngx_svc_push_call_t *call)
{
    ngx_uint_t  status;

    status = call->http.status;

    return status == NGX_HTTP_NOT_FOUND
           || (call->by == NGX_SVC_PUSH_BY_ID
               && (status == NGX_HTTP_BAD_REQUEST
                   || status == NGX_HTTP_NOT_IMPLEMENTED));
}


static ngx_int_t
ngx_svc_push_user_absent(ngx_svc_push_call_t *call)
{
    if (!call->push->want.active) {
        return ngx_svc_push_user_good(call);
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

    return ngx_svc_push_user_create(call);
}


static ngx_int_t
ngx_svc_push_user_take(ngx_svc_push_call_t *call, const cJSON *resource)
{
    ngx_int_t        rc;
    ngx_svc_push_t  *push;

    push = call->push;

    rc = ngx_svc_push_user_id(call, resource);

    if (rc == NGX_DECLINED) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_USER,
                               "the target's user has no id that can be in a "
                               "URL");
        return NGX_DONE;
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    push->remote_hash.len = 0;
    push->remote_active = (ngx_svc_push_read_active(resource) != 0);

    return ngx_svc_push_user_adjust(call, resource);
}


static ngx_int_t
ngx_svc_push_user_create(ngx_svc_push_call_t *call)
{
    ngx_svc_push_ask_t  ask;

    ngx_memzero(&ask, sizeof(ngx_svc_push_ask_t));

    ask.method = "POST";
    ask.path = "/Users";
    ask.once = 1;

    if (ngx_svc_push_write_user(call->push->pool, &call->push->want, &ask.body)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_push_user_ask(call, &ask, ngx_svc_push_user_created);
}


static ngx_int_t
ngx_svc_push_user_created(ngx_svc_push_call_t *call)
{
    ngx_int_t        rc;
    ngx_svc_push_t  *push;

    push = call->push;

    if (call->http.outcome == NGX_SVC_PUSH_DONE) {
        push->remote_active = 1;

        rc = ngx_svc_push_user_id(call, call->http.json);

        if (rc == NGX_OK) {
            return ngx_svc_push_user_good(call);
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

    if (call->http.status == NGX_HTTP_CONFLICT) {
        return 1;
    }

    return call->http.status == NGX_HTTP_BAD_REQUEST
           && ngx_svc_push_read_is(call->http.json, "scimType", &type, 0);
}


static ngx_int_t
ngx_svc_push_user_get(ngx_svc_push_call_t *call)
{
    ngx_svc_push_ask_t  ask;

    ngx_memzero(&ask, sizeof(ngx_svc_push_ask_t));

    ask.method = "GET";
    ask.path = "/Users/";
    ask.name = call->push->remote_id;
    ask.read = 1;

    call->read = 1;

    return ngx_svc_push_user_ask(call, &ask, ngx_svc_push_user_got);
}


static ngx_int_t
ngx_svc_push_user_got(ngx_svc_push_call_t *call)
{
    if (ngx_svc_push_user_lost(call)) {
        return ngx_svc_push_user_forget(call);
    }

    if (call->http.outcome != NGX_SVC_PUSH_DONE) {
        return NGX_DONE;
    }

    return ngx_svc_push_user_adjust(call, call->http.json);
}


/*
 * Without a resource all is said.  What was there is not known any more from
 * the moment on that the change is on its way.
 */

static ngx_int_t
ngx_svc_push_user_adjust(ngx_svc_push_call_t *call, const cJSON *resource)
{
    ngx_int_t            rc;
    ngx_svc_push_t      *push;
    ngx_svc_push_ask_t   ask;

    push = call->push;

    ngx_memzero(&ask, sizeof(ngx_svc_push_ask_t));

    ask.method = "PATCH";
    ask.path = "/Users/";
    ask.name = push->remote_id;

    rc = ngx_svc_push_write_patch(push->pool, &push->want, resource,
                                  &ask.body);

    if (rc == NGX_DECLINED) {
        return ngx_svc_push_user_good(call);
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    if (call->put) {
        return call->read ? ngx_svc_push_user_put(call, resource)
                          : ngx_svc_push_user_get(call);
    }

    push->remote_hash.len = 0;

    return ngx_svc_push_user_ask(call, &ask, ngx_svc_push_user_patched);
}


/*
 * Some refuse to take away what is not there: then it is asked for what is, and
 * the difference is sent.
 */

static ngx_int_t
ngx_svc_push_user_patched(ngx_svc_push_call_t *call)
{
    ngx_uint_t  status;

    status = call->http.status;

    if (status == NGX_HTTP_NOT_ALLOWED || status == NGX_HTTP_NOT_IMPLEMENTED) {
        call->put = 1;
        call->push->no_patch = 1;

        return ngx_svc_push_user_get(call);
    }

    if (status == NGX_HTTP_BAD_REQUEST && !call->read) {
        return ngx_svc_push_user_get(call);
    }

    return ngx_svc_push_user_updated(call);
}


static ngx_int_t
ngx_svc_push_user_put(ngx_svc_push_call_t *call, const cJSON *resource)
{
    ngx_svc_push_t      *push;
    ngx_svc_push_ask_t   ask;

    push = call->push;

    ngx_memzero(&ask, sizeof(ngx_svc_push_ask_t));

    ask.method = "PUT";
    ask.path = "/Users/";
    ask.name = push->remote_id;

    if (ngx_svc_push_write_merged(push->pool, &push->want, resource, &ask.body)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    push->remote_hash.len = 0;

    return ngx_svc_push_user_ask(call, &ask, ngx_svc_push_user_updated);
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

    if (call->http.outcome != NGX_SVC_PUSH_DONE) {
        return NGX_DONE;
    }

    active = ngx_svc_push_read_active(call->http.json);

    if (active != -1 && active != (ngx_int_t) push->want.active) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_USER,
                               "the target answers %ui, and the user stays %s",
                               call->http.status,
                               active ? "active" : "inactive");
        return NGX_DONE;
    }

    return ngx_svc_push_user_good(call);
}


static ngx_uint_t
ngx_svc_push_user_lost(ngx_svc_push_call_t *call)
{
    return call->http.status == NGX_HTTP_NOT_FOUND
           || call->http.status == 410;
}


static ngx_int_t
ngx_svc_push_user_forget(ngx_svc_push_call_t *call)
{
    ngx_svc_push_t  *push;

    push = call->push;

    push->remote_id.len = 0;
    push->remote_hash.len = 0;
    push->remote_active = 0;

    if (!push->want.active) {
        return ngx_svc_push_user_good(call);
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


/* NGX_DECLINED: the resource has none, or there is no resource. */

static ngx_int_t
ngx_svc_push_user_id(ngx_svc_push_call_t *call, const cJSON *resource)
{
    u_char     *p;
    ngx_str_t   id;

    if (ngx_svc_push_read_id(resource, &id) != NGX_OK) {
        return NGX_DECLINED;
    }

    p = ngx_pstrdup(call->push->pool, &id);
    if (p == NULL) {
        return NGX_ERROR;
    }

    call->push->remote_id.data = p;
    call->push->remote_id.len = id.len;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_push_user_good(ngx_svc_push_call_t *call)
{
    ngx_svc_push_t  *push;

    push = call->push;

    push->remote_hash.data = call->hash;
    push->remote_hash.len = NGX_SVC_SHA256_LEN;
    push->remote_active = push->want.active;

    call->http.outcome = NGX_SVC_PUSH_DONE;

    return NGX_DONE;
}


static void
ngx_svc_push_user_answer(ngx_svc_push_http_t *http)
{
    ngx_int_t             rc;
    ngx_svc_push_call_t  *call;

    call = http->data;

    rc = call->next(call);

    if (rc == NGX_OK) {
        return;
    }

    if (rc == NGX_ERROR) {
        ngx_svc_push_http_fail(http, NGX_SVC_PUSH_RETRY, "memory ran out");
    }

    ngx_svc_push_user_finish(call);
}


static void
ngx_svc_push_user_end(ngx_event_t *ev)
{
    ngx_svc_push_user_finish(ev->data);
}


/* The pool goes with the handler, and the call with it. */

static void
ngx_svc_push_user_finish(ngx_svc_push_call_t *call)
{
    ngx_svc_push_t       *push;
    ngx_svc_push_http_t  *http;

    push = call->push;
    http = &call->http;

    push->outcome = http->outcome;
    push->status = http->status;
    push->delay = http->delay;
    push->requests = http->requests;

    ngx_str_null(&push->error);

    if (http->outcome != NGX_SVC_PUSH_DONE) {
        push->error = http->error;
    }

    ngx_svc_push_http_close(http);

    push->handler(push);
}
