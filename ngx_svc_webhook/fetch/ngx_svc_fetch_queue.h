/*
 * Fetches in Redis: the helper takes them from the queue, tells that it lives,
 * and leaves the answers there.
 *
 * An entry that was taken is in no list: when the helper dies nobody asks a
 * second time.
 */

#ifndef _NGX_SVC_FETCH_QUEUE_H_INCLUDED_
#define _NGX_SVC_FETCH_QUEUE_H_INCLUDED_


#include "ngx_svc_fetch_entry.h"
#include "ngx_svc_redis_script.h"


typedef struct {
    /* returns how many more entries may be taken */
    ngx_uint_t  (*room)(void);

    /* takes an entry, which has ms left */
    void        (*take)(const ngx_str_t *entry, ngx_msec_t ms);
} ngx_svc_fetch_queue_handlers_t;


/* Called at the helper's start; id: its name. */
ngx_int_t ngx_svc_fetch_queue_start(ngx_cycle_t *cycle, const u_char *id,
    const ngx_svc_fetch_queue_handlers_t *handlers);

/*
 * Takes no more, and tells no more that the helper lives.  Until 5 s later
 * workers queue entries, which a successor takes.
 */
void ngx_svc_fetch_queue_stop(void);

/* Takes entries, as many as there is room for. */
void ngx_svc_fetch_queue_take(void);

/*
 * Leaves the sealed answer to a fetch for 15 s, and tells the workers.  Returns
 * as ngx_svc_redis_call(), which calls the handler: with NULL, unless Redis has
 * the answer.
 */
ngx_int_t ngx_svc_fetch_queue_leave(const ngx_svc_fetch_t *fetch,
    const ngx_str_t *answer, ngx_svc_redis_reply_pt handler, void *data);


#endif /* _NGX_SVC_FETCH_QUEUE_H_INCLUDED_ */
