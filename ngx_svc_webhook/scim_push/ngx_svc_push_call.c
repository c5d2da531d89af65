/*
 * Outbound SCIM: the requests for one user, one after the other.
 */

#include "ngx_svc_push_call.h"
#include "ngx_svc_push_attribute.h"


static ngx_int_t ngx_svc_push_call_hash(ngx_svc_push_call_t *call);
static ngx_int_t ngx_svc_push_call_ask(ngx_svc_push_call_t *call,
    ngx_svc_push_ask_t *ask, ngx_svc_push_call_pt next);
static void ngx_svc_push_call_ask_init(ngx_svc_push_call_t *call,
    ngx_svc_push_ask_t *ask, const char *method);
static void ngx_svc_push_call_sent(ngx_svc_push_call_t *call);
static void ngx_svc_push_call_answer(ngx_svc_push_http_t *http);
static void ngx_svc_push_call_end(ngx_event_t *ev);
static void ngx_svc_push_call_finish(ngx_svc_push_call_t *call);


ngx_int_t
ngx_svc_push_call(ngx_svc_push_t *push, ngx_svc_push_call_pt begin)
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
    call->http.handler = ngx_svc_push_call_answer;
    call->http.data = call;

    call->end.handler = ngx_svc_push_call_end;
    call->end.data = call;
    call->end.log = ngx_cycle->log;

    push->state = call;

    if (ngx_svc_push_call_hash(call) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = begin(call);

    if (rc == NGX_DONE) {
        ngx_post_event(&call->end, &ngx_posted_events);
        return NGX_OK;
    }

    return rc;
}


void
ngx_svc_push_call_cancel(ngx_svc_push_t *push)
{
    ngx_svc_push_call_t *call = push->state;

    if (call->end.posted) {
        ngx_delete_posted_event(&call->end);
    }

    if (call->asking) {
        push->owner_cancel(push);
    }

    ngx_svc_push_http_close(&call->http);
}


/* Hashes all that is pushed; of an inactive user nothing else is. */

static ngx_int_t
ngx_svc_push_call_hash(ngx_svc_push_call_t *call)
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


/* --- requests ---------------------------------------------------------- */

static ngx_int_t
ngx_svc_push_call_ask(ngx_svc_push_call_t *call, ngx_svc_push_ask_t *ask,
    ngx_svc_push_call_pt next)
{
    if (call->push->stop) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_RETRY,
                               "the target was changed, or disabled");
        return NGX_DONE;
    }

    call->next = next;

    return ngx_svc_push_http(&call->http, ask);
}


/* Prepares a request for the user by his id there. */

static void
ngx_svc_push_call_ask_init(ngx_svc_push_call_t *call, ngx_svc_push_ask_t *ask,
    const char *method)
{
    ngx_memzero(ask, sizeof(ngx_svc_push_ask_t));

    ask->method = method;
    ask->path = "/Users/";
    ask->name = call->push->remote_id;
}


ngx_int_t
ngx_svc_push_call_look(ngx_svc_push_call_t *call, ngx_svc_push_by_e by,
    ngx_svc_push_call_pt next)
{
    ngx_svc_push_ask_t  ask;

    ngx_svc_push_call_ask_init(call, &ask, "GET");

    ask.path = "/Users?filter=";
    ask.read = 1;

    call->by = by;

    if (ngx_svc_push_write_filter(call->push->pool, &call->push->want, by,
                                  &ask.name)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_push_call_ask(call, &ask, next);
}


ngx_int_t
ngx_svc_push_call_create(ngx_svc_push_call_t *call, ngx_svc_push_call_pt next)
{
    ngx_svc_push_ask_t  ask;

    ngx_svc_push_call_ask_init(call, &ask, "POST");

    ask.path = "/Users";
    ask.name.len = 0;
    ask.once = 1;

    ngx_svc_push_call_sent(call);

    if (ngx_svc_push_write_user(call->push->pool, &call->push->want, &ask.body)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_push_call_ask(call, &ask, next);
}


ngx_int_t
ngx_svc_push_call_get(ngx_svc_push_call_t *call, ngx_svc_push_call_pt next)
{
    ngx_svc_push_ask_t  ask;

    ngx_svc_push_call_ask_init(call, &ask, "GET");

    ask.read = 1;
    call->read = 1;

    return ngx_svc_push_call_ask(call, &ask, next);
}


ngx_int_t
ngx_svc_push_call_config(ngx_svc_push_call_t *call, ngx_svc_push_call_pt next)
{
    ngx_svc_push_ask_t  ask;

    ngx_svc_push_call_ask_init(call, &ask, "GET");

    ask.path = "/ServiceProviderConfig";
    ask.name.len = 0;
    ask.read = 1;

    return ngx_svc_push_call_ask(call, &ask, next);
}


/* The state there is unknown as soon as this request is under way. */

ngx_int_t
ngx_svc_push_call_change(ngx_svc_push_call_t *call, const char *method,
    const ngx_str_t *body, ngx_svc_push_call_pt next)
{
    ngx_svc_push_ask_t  ask;

    ngx_svc_push_call_ask_init(call, &ask, method);

    ask.body = *body;
    call->push->remote_hash.len = 0;
    ngx_svc_push_call_sent(call);

    return ngx_svc_push_call_ask(call, &ask, next);
}


/* Notes that the target may have these attributes from now on. */

static void
ngx_svc_push_call_sent(ngx_svc_push_call_t *call)
{
    ngx_svc_push_want_t  *want;

    want = &call->push->want;

    if (want->active) {
        want->sent |= ngx_svc_push_bits(want);
    }
}


/* --- answers ----------------------------------------------------------- */

static void
ngx_svc_push_call_answer(ngx_svc_push_http_t *http)
{
    ngx_svc_push_call_t  *call;

    call = http->data;

    ngx_svc_push_call_go_on(call, call->next(call));
}


void
ngx_svc_push_call_go_on(ngx_svc_push_call_t *call, ngx_int_t rc)
{
    if (rc == NGX_OK) {
        return;
    }

    if (rc == NGX_ERROR) {
        ngx_svc_push_http_fail(&call->http, NGX_SVC_PUSH_RETRY,
                               "memory ran out");
    }

    ngx_svc_push_call_finish(call);
}


static void
ngx_svc_push_call_end(ngx_event_t *ev)
{
    ngx_svc_push_call_finish(ev->data);
}


/* The handler destroys the pool, and the call with it. */

static void
ngx_svc_push_call_finish(ngx_svc_push_call_t *call)
{
    ngx_svc_push_t       *push;
    ngx_svc_push_http_t  *http;

    push = call->push;
    http = &call->http;

    push->answer = http->answer;
    push->requests = http->requests;

    ngx_svc_push_http_close(http);

    push->handler(push);
}


ngx_int_t
ngx_svc_push_call_id(ngx_svc_push_call_t *call, const cJSON *resource)
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


void
ngx_svc_push_call_forget(ngx_svc_push_call_t *call)
{
    call->push->remote_id.len = 0;
    call->push->remote_hash.len = 0;
    call->push->remote_active = 0;
}


ngx_int_t
ngx_svc_push_call_good(ngx_svc_push_call_t *call)
{
    ngx_svc_push_t  *push;

    push = call->push;

    push->remote_hash.data = call->hash;
    push->remote_hash.len = NGX_SVC_SHA256_LEN;
    push->remote_active = push->want.active;

    if (push->want.active) {
        push->want.sent = ngx_svc_push_bits(&push->want);
    }

    call->http.answer.outcome = NGX_SVC_PUSH_DONE;
    ngx_str_null(&call->http.answer.error);

    return NGX_DONE;
}
