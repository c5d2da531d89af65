/*
 * Fetches, and their answers, as sealed entries in Redis, and the names of the
 * keys.
 */

#ifndef _NGX_SVC_FETCH_ENTRY_H_INCLUDED_
#define _NGX_SVC_FETCH_ENTRY_H_INCLUDED_


#include "ngx_svc_fetch.h"


/*
 * A list of queued entries; a sorted set of the ids under way by deadline, and
 * one of each tenant's; a sorted set of helpers by deadline; a key for each
 * answer.  Deadlines are in ms of Redis' clock.
 */
#define NGX_SVC_FETCH_QUEUE    "svc.fetch.queue"
#define NGX_SVC_FETCH_PENDING  "svc.fetch.pending"
#define NGX_SVC_FETCH_HELPERS  "svc.fetch.helpers"
#define NGX_SVC_FETCH_ANSWERS  "svc.fetch.done."

/*
 * The channel that wakes helpers, and the one that tells of answers: a message
 * is an id, or the beat of a helper.
 */
#define NGX_SVC_FETCH_WAKE     "svc.fetch"
#define NGX_SVC_FETCH_DONE     "svc.fetch.done"
#define NGX_SVC_FETCH_BEAT     "+"

#define NGX_SVC_FETCH_CAPACITY "1000"   /* fetches under way */
#define NGX_SVC_FETCH_GRACE    1000     /* ms that a worker waits longer than
                                           the fetch's own time */
#define NGX_SVC_FETCH_INTERVAL 10000    /* ms between lines in the log */

#define NGX_SVC_FETCH_ENTRY    (24576 + NGX_SVC_ENTRY_OVERHEAD)
#define NGX_SVC_FETCH_KEY      (sizeof(NGX_SVC_FETCH_PENDING ".")             \
                                + NGX_SVC_UUID_TEXT_LEN)


/*
 * Seals a request, or an answer.  *entry is made by ngx_alloc(), for the caller
 * to free.  Returns NGX_OK; NGX_DECLINED: it is too long, or has a control
 * character where HTTP has none; or NGX_ERROR: memory or OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_fetch_entry(const ngx_svc_keys_t *keys,
    const ngx_svc_fetch_t *fetch, ngx_str_t *entry);
NGX_SVC_API ngx_int_t ngx_svc_fetch_answer(const ngx_svc_keys_t *keys,
    const ngx_svc_fetch_t *fetch, ngx_str_t *entry);

/*
 * Opens a request: sets what a caller sets but the timeout, and the id.  The
 * texts are of fetch->pool, and are wiped with it; the tenant points into the
 * entry.  Returns NGX_OK; NGX_DECLINED: it is no
 * request; NGX_ABORT: it is not authentic, or is too old; or NGX_ERROR: memory
 * or OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_fetch_open(const ngx_svc_keys_t *keys,
    const ngx_str_t *entry, ngx_svc_fetch_t *fetch);

/* Opens the answer to a request, in the same way: sets its result. */
NGX_SVC_API ngx_int_t ngx_svc_fetch_open_answer(const ngx_svc_keys_t *keys,
    const ngx_str_t *entry, ngx_svc_fetch_t *fetch);


#endif /* _NGX_SVC_FETCH_ENTRY_H_INCLUDED_ */
