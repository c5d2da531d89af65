/*
 * Outbound SCIM: one look-up of many users.
 *
 * A user who is not shown must really not be there, or he would be made twice
 * at a target that does not compare names.  So the filter begins and ends with
 * the names of two users whom the target has: a target that reads only a part
 * of the filter, or none, does not show both.  An answer without them, or with
 * anybody else, is not believed, and users are looked up one by one for a
 * while.
 */

#include "ngx_svc_push_lookup.h"
#include "ngx_svc_push_attribute.h"
#include "ngx_svc_push_http.h"
#include "ngx_svc_push_outcome.h"
#include "ngx_svc_push_shown.h"
#include "ngx_svc_push_write.h"


#define NGX_SVC_PUSH_LOOKUP_URL    2000     /* bytes; some servers refuse longer
                                               ones */
#define NGX_SVC_PUSH_LOOKUP_LEAST  4
#define NGX_SVC_PUSH_LOOKUP_AHEAD  8        /* absent users who are ready */
#define NGX_SVC_PUSH_LOOKUP_FRESH  5000     /* ms for which they count as
                                               absent */
#define NGX_SVC_PUSH_LOOKUP_ALONE  600000   /* ms of looking up one by one */

#define NGX_SVC_PUSH_LOOKUP_PATH   "/Users?count=100&filter="
#define NGX_SVC_PUSH_LOOKUP_TERM   32       /* bytes of a comparison in a URL,
                                               without its value */


typedef struct {
    ngx_svc_push_http_t    http;
    ngx_pool_t            *pool;
    ngx_svc_push_shown_t   asked;
} ngx_svc_push_lookup_t;


static ngx_uint_t ngx_svc_push_lookup_may(ngx_svc_push_work_t *work);
static ngx_uint_t ngx_svc_push_lookup_absent(ngx_svc_push_item_t *item);
static ngx_uint_t ngx_svc_push_lookup_new(ngx_svc_push_work_t *work,
    ngx_svc_push_item_t *item);
static ngx_int_t ngx_svc_push_lookup_ask(ngx_svc_push_work_t *work,
    ngx_svc_push_lookup_t *lookup);
static ngx_int_t ngx_svc_push_lookup_users(ngx_svc_push_work_t *work,
    ngx_svc_push_lookup_t *lookup);
static ngx_int_t ngx_svc_push_lookup_add(ngx_svc_push_lookup_t *lookup,
    ngx_svc_push_item_t *item, ngx_int_t *room);
static ngx_int_t ngx_svc_push_lookup_size(const ngx_str_t *value);
static ngx_int_t ngx_svc_push_lookup_filter(ngx_svc_push_lookup_t *lookup,
    ngx_str_t *filter);
static void ngx_svc_push_lookup_answer(ngx_svc_push_http_t *http);
static void ngx_svc_push_lookup_alone(ngx_svc_push_work_t *work,
    const ngx_svc_push_answer_t *answer);
static void ngx_svc_push_lookup_tell(ngx_svc_push_work_t *work,
    ngx_svc_push_lookup_t *lookup, ngx_uint_t believed);


static void  (*ngx_svc_push_lookup_ended)(ngx_svc_push_work_t *work);


void
ngx_svc_push_lookup_init(void (*ended)(ngx_svc_push_work_t *work))
{
    ngx_svc_push_lookup_ended = ended;
}


/* --- the users --------------------------------------------------------- */

ngx_uint_t
ngx_svc_push_lookup_due(ngx_svc_push_work_t *work)
{
    ngx_uint_t            absent, new;
    ngx_queue_t          *q;
    ngx_svc_push_item_t  *item;

    work->several = 0;

    absent = 0;
    new = 0;

    for (q = ngx_queue_head(&work->ready);
         q != ngx_queue_sentinel(&work->ready);
         q = ngx_queue_next(q))
    {
        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);

        absent += ngx_svc_push_lookup_absent(item);
        new += ngx_svc_push_lookup_new(work, item);
    }

    if (!ngx_svc_push_lookup_may(work)) {
        return 0;
    }

    work->several = work->lookup || new >= NGX_SVC_PUSH_LOOKUP_LEAST;

    return work->lookup == NULL && work->several
           && absent < NGX_SVC_PUSH_LOOKUP_AHEAD;
}


/* Names move between users: the same name at both ends would prove nothing. */

static ngx_uint_t
ngx_svc_push_lookup_may(ngx_svc_push_work_t *work)
{
    const ngx_str_t  *first, *last;

    first = &work->conf->known[0].name;
    last = &work->conf->known[1].name;

    return first->len && last->len
           && (first->len != last->len
               || ngx_strncasecmp(first->data, last->data, last->len) != 0)
           && work->conf->target.base_url.len <= NGX_SVC_PUSH_LOOKUP_URL / 2
           && ngx_svc_push_due(work->alone);
}


/* What a look-up said too long ago does not count any more. */

static ngx_uint_t
ngx_svc_push_lookup_absent(ngx_svc_push_item_t *item)
{
    if (item->push.absent
        && ngx_svc_push_due(item->asked + NGX_SVC_PUSH_LOOKUP_FRESH))
    {
        item->push.absent = 0;
    }

    return item->push.absent;
}


/*
 * Users who were tried before, who may have been created, or who have been
 * shown, are looked up one by one.
 */

static ngx_uint_t
ngx_svc_push_lookup_new(ngx_svc_push_work_t *work, ngx_svc_push_item_t *item)
{
    const ngx_svc_push_t  *push;

    push = &item->push;

    return push->want.active && push->want.user_name.len
           && push->want.user_name.len <= NGX_SVC_PUSH_KNOWN
           && push->remote_id.len == 0 && !push->remote_active
           && push->absent_for == 0 && item->attempts == 0
           && !push->absent && !item->same && !item->looking && !item->shown
           && ngx_memcmp(push->want.id.data, work->conf->known[0].id,
                         NGX_SVC_UUID_TEXT_LEN) != 0
           && ngx_memcmp(push->want.id.data, work->conf->known[1].id,
                         NGX_SVC_UUID_TEXT_LEN) != 0;
}


ngx_uint_t
ngx_svc_push_lookup_waits(ngx_svc_push_work_t *work, ngx_svc_push_item_t *item)
{
    return item->looking
           || (work->several && ngx_svc_push_lookup_new(work, item));
}


/* --- the request ------------------------------------------------------- */

ngx_int_t
ngx_svc_push_lookup(ngx_svc_push_work_t *work)
{
    ngx_pool_t             *pool;
    ngx_svc_push_lookup_t  *lookup;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    lookup = ngx_pcalloc(pool, sizeof(ngx_svc_push_lookup_t));

    if (lookup == NULL) {
        ngx_destroy_pool(pool);
        return NGX_ERROR;
    }

    lookup->pool = pool;
    lookup->asked.pool = pool;
    work->lookup = lookup;

    if (ngx_svc_push_lookup_ask(work, lookup) != NGX_OK) {
        ngx_svc_push_lookup_tell(work, lookup, 0);
        ngx_svc_push_lookup_cancel(work);
        work->several = 0;
        return NGX_ERROR;
    }

    work->tokens -= 1000;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_push_lookup_ask(ngx_svc_push_work_t *work,
    ngx_svc_push_lookup_t *lookup)
{
    ngx_svc_push_ask_t  ask;

    ngx_memzero(&ask, sizeof(ngx_svc_push_ask_t));

    ask.method = "GET";
    ask.path = NGX_SVC_PUSH_LOOKUP_PATH;
    ask.read = 1;

    lookup->http.target = &work->conf->target;
    lookup->http.handler = ngx_svc_push_lookup_answer;
    lookup->http.data = work;

    if (ngx_svc_push_lookup_users(work, lookup) != NGX_OK
        || ngx_svc_push_lookup_filter(lookup, &ask.name) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_push_http(&lookup->http, &ask);
}


/* Adds as many ready users as fit into the URL.  NGX_DECLINED: none fits. */

static ngx_int_t
ngx_svc_push_lookup_users(ngx_svc_push_work_t *work,
    ngx_svc_push_lookup_t *lookup)
{
    ngx_int_t                    room;
    ngx_str_t                    none = ngx_null_string;
    ngx_queue_t                 *q;
    ngx_svc_push_item_t         *item;
    const ngx_svc_push_known_t  *known;

    known = work->conf->known;

    room = NGX_SVC_PUSH_LOOKUP_URL
           - (ngx_int_t) (sizeof(NGX_SVC_PUSH_LOOKUP_PATH)
                          + work->conf->target.base_url.len)
           - ngx_svc_push_lookup_size(&known[0].name)
           - ngx_svc_push_lookup_size(&known[1].name);

    if (ngx_svc_push_shown_add(&lookup->asked, &known[0].name, &none)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (q = ngx_queue_head(&work->ready);
         q != ngx_queue_sentinel(&work->ready)
         && lookup->asked.n <= NGX_SVC_PUSH_SHOWN_MOST;
         q = ngx_queue_next(q))
    {
        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);

        if (ngx_svc_push_lookup_new(work, item)
            && ngx_svc_push_lookup_add(lookup, item, &room) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (lookup->asked.n == 1) {
        return NGX_DECLINED;
    }

    return ngx_svc_push_shown_add(&lookup->asked, &known[1].name, &none);
}


/* A user who does not fit even as the first is looked up by himself. */

static ngx_int_t
ngx_svc_push_lookup_add(ngx_svc_push_lookup_t *lookup,
    ngx_svc_push_item_t *item, ngx_int_t *room)
{
    ngx_int_t                   size;
    const ngx_svc_push_want_t  *want;

    want = &item->push.want;
    size = ngx_svc_push_lookup_size(&want->user_name)
           + ngx_svc_push_lookup_size(&want->id);

    if (size > *room) {
        item->shown = (lookup->asked.n == 1);
        return NGX_OK;
    }

    *room -= size;
    item->looking = 1;

    return ngx_svc_push_shown_add(&lookup->asked, &want->user_name, &want->id);
}


/*
 * Returns the most bytes that a comparison takes in the URL; what JSON escapes
 * is escaped once more.
 */

static ngx_int_t
ngx_svc_push_lookup_size(const ngx_str_t *value)
{
    size_t     i;
    ngx_int_t  size;

    size = NGX_SVC_PUSH_LOOKUP_TERM;

    for (i = 0; i < value->len; i++) {
        if (value->data[i] < 0x20 || value->data[i] == '"'
            || value->data[i] == '\\')
        {
            size += sizeof("%5Cu0000") - 1;

        } else if (value->data[i] < 0x80 && (isalnum(value->data[i])
                                             || value->data[i] == '-'
                                             || value->data[i] == '.'))
        {
            size++;

        } else {
            size += 3;
        }
    }

    return size;
}


static ngx_int_t
ngx_svc_push_lookup_filter(ngx_svc_push_lookup_t *lookup, ngx_str_t *filter)
{
    ngx_uint_t             i;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, lookup->pool, NGX_SVC_PUSH_LOOKUP_URL)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < lookup->asked.n; i++) {
        if (i) {
            ngx_svc_push_write_or(&w);
        }

        ngx_svc_push_write_term(&w, NGX_SVC_PUSH_BY_NAME,
                                &lookup->asked.users[i].name);

        if (lookup->asked.users[i].id.len) {
            ngx_svc_push_write_or(&w);
            ngx_svc_push_write_term(&w, NGX_SVC_PUSH_BY_ID,
                                    &lookup->asked.users[i].id);
        }
    }

    return ngx_svc_push_attribute_end(&w, filter);
}


/* --- the answer -------------------------------------------------------- */

static void
ngx_svc_push_lookup_answer(ngx_svc_push_http_t *http)
{
    ngx_uint_t              believed;
    ngx_svc_push_work_t    *work;
    ngx_svc_push_lookup_t  *lookup;

    work = http->data;
    lookup = work->lookup;

    believed = http->answer.outcome == NGX_SVC_PUSH_DONE
               && ngx_svc_push_shown_read(&lookup->asked, http->json);

    if (believed) {
        work->refused = 0;

    } else if (work->conf->version == work->version) {
        ngx_svc_push_lookup_alone(work, &http->answer);
    }

    ngx_svc_push_lookup_tell(work, lookup, believed);
    ngx_svc_push_lookup_cancel(work);

    ngx_svc_push_lookup_ended(work);
}


/*
 * Some targets refuse such a filter with 401 or 403, or break.  If the target
 * itself fails, the next request will tell.  A second pause in a row counts as
 * the filter's.
 */

static void
ngx_svc_push_lookup_alone(ngx_svc_push_work_t *work,
    const ngx_svc_push_answer_t *answer)
{
    if (answer->outcome == NGX_SVC_PUSH_PAUSE) {
        ngx_svc_push_outcome(work, answer);

        if (work->refused++ == 0) {
            return;
        }
    }

    work->alone = ngx_current_msec + NGX_SVC_PUSH_LOOKUP_ALONE;
    work->conf->known[0].name.len = 0;
    work->conf->known[1].name.len = 0;

    ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                  "SCIM target %V of tenant %V does not find several users "
                  "with one filter, its answer was %ui: they are looked up one "
                  "by one", &work->id.str, &work->tenant->node.str,
                  answer->status);
}


/*
 * Users who became ready meanwhile were not asked for, though they may be the
 * same users again.
 */

static void
ngx_svc_push_lookup_tell(ngx_svc_push_work_t *work,
    ngx_svc_push_lookup_t *lookup, ngx_uint_t believed)
{
    ngx_queue_t          *q;
    ngx_svc_push_item_t  *item;

    for (q = ngx_queue_head(&work->ready);
         q != ngx_queue_sentinel(&work->ready);
         q = ngx_queue_next(q))
    {
        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);

        if (!item->looking) {
            continue;
        }

        item->looking = 0;

        if (believed) {
            item->shown = ngx_svc_push_shown(&lookup->asked,
                                             &item->push.want.id);
            item->push.absent = !item->shown;
            item->asked = ngx_current_msec;
        }
    }
}


void
ngx_svc_push_lookup_cancel(ngx_svc_push_work_t *work)
{
    ngx_svc_push_lookup_t  *lookup;

    lookup = work->lookup;

    if (lookup) {
        ngx_svc_push_http_close(&lookup->http);
        ngx_destroy_pool(lookup->pool);

        work->lookup = NULL;
    }
}


/* --- users the target is known to have --------------------------------- */

void
ngx_svc_push_lookup_forget(ngx_svc_push_work_t *work,
    const ngx_svc_push_t *push)
{
    ngx_uint_t             i;
    ngx_svc_push_known_t  *known;

    for (i = 0; i < 2; i++) {
        known = &work->conf->known[i];

        if (ngx_memcmp(known->id, push->want.id.data, NGX_SVC_UUID_TEXT_LEN)
            == 0)
        {
            known->name.len = 0;
        }
    }
}


/* Keeps the users pushed last: they are the least likely to have changed. */

void
ngx_svc_push_lookup_known(ngx_svc_push_work_t *work,
    const ngx_svc_push_t *push)
{
    ngx_svc_push_known_t  *known;

    if (push->answer.outcome != NGX_SVC_PUSH_DONE || !push->want.active
        || push->requests == 0 || push->want.user_name.len == 0
        || push->want.user_name.len > NGX_SVC_PUSH_KNOWN)
    {
        return;
    }

    known = &work->conf->known[work->conf->oldest];
    work->conf->oldest = !work->conf->oldest;

    ngx_memcpy(known->id, push->want.id.data, NGX_SVC_UUID_TEXT_LEN);
    ngx_memcpy(known->text, push->want.user_name.data,
               push->want.user_name.len);

    known->name.data = known->text;
    known->name.len = push->want.user_name.len;
}
