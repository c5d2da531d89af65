/*
 * The scripts that move deliveries in Redis, and the names of its keys.
 */

#ifndef _NGX_SVC_WEBHOOK_SCRIPT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_SCRIPT_H_INCLUDED_


#include "ngx_svc_redis_script.h"


/*
 * The queue, a list of entries; a hash of how many are queued and in flight, by
 * tenant and in "total"; a sorted set of helpers by deadline, in ms of Redis'
 * clock, 0 when others have started to take over.  Of each helper a hash of its
 * entries in flight, by delivery id, and one of the attempts that it has
 * started: by delivery id which of the delivery's it is, and by the id and a
 * "#" its number among all of the helper's.  A sorted set of the ids of all
 * deliveries that are queued and in flight, with an infinite score, and of those
 * that have ended of late, by when that was: nobody queues them once more.
 *
 * The names of released versions stay as they are: during an upgrade the new
 * helpers take over from the old ones.
 */
#define NGX_SVC_WEBHOOK_QUEUE    "svc.webhook2.queue"
#define NGX_SVC_WEBHOOK_PENDING  "svc.webhook2.pending"
#define NGX_SVC_WEBHOOK_HELPERS  "svc.webhook2.helpers"
#define NGX_SVC_WEBHOOK_INFLIGHT  "svc.webhook2.own."
#define NGX_SVC_WEBHOOK_STARTED  ".begun"       /* behind the hash's name */
#define NGX_SVC_WEBHOOK_NUMBER   "#"            /* behind an id, in that one */
#define NGX_SVC_WEBHOOK_KNOWN    "svc.webhook2.known"

/*
 * ms that an ended delivery is known for: by then PostgreSQL knows it, or who
 * is to note it there says that it is late.
 */
#define NGX_SVC_WEBHOOK_KNOWN_MS  "60000"

/* A channel: there is something to take. */
#define NGX_SVC_WEBHOOK_WAKE     "svc.webhook2.wake"

#define NGX_SVC_WEBHOOK_BATCH    256    /* deliveries of a call, at most */


/* As text. */
typedef u_char  ngx_svc_webhook_number_t[NGX_INT64_LEN];


/*
 * Keys: queue, pending; capacity, capacity of a tenant; of each event: tenant,
 * how many entries, entries.  A text with a digit for each event, 0: taken; 1:
 * the queue is full; 2: the tenant's share is; 3: all deliveries were known, and
 * are not queued again.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_push_script;

/*
 * Keys: helpers; id, lifetime in ms, id of the predecessor or an empty text.
 * Its deliveries are taken over at once.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_register_script;

/*
 * Keys: helpers, queue, in flight; id, lifetime.  { 1: alive, 0: others have
 * taken over; length of the queue; how many are in flight; how many helpers
 * have died }.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_heartbeat_script;

/*
 * Keys: helpers, queue, pending, in flight; id, how many at most.  { how many
 * are of helpers that have ended; a digit for each of those, the number of the
 * attempt that had started, or 0; entries, theirs first }.  Nothing when others
 * have taken over.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_take_script;

/*
 * Keys: in flight; names and values of the attempts that are to start.  1: a
 * successor will count them; 0: others have taken over.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_started_script;

/*
 * Keys: in flight, pending; cursor, how many about.  { the next cursor, "0" at
 * the end; digits, as above; entries }, of which some may come twice.  What is
 * under a name that is not its id goes.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_recover_script;

/*
 * Keys: in flight, pending, queue; delivery id, outcome, the number among all
 * of the helper's of the attempt that it is of, and so on.  "-": final; "=" and
 * what the entry begins with from now on, up to its attempts; "<" and the same:
 * it goes back to the queue.  What is in flight elsewhere stays as it is.  So
 * does what has been acknowledged since, or an attempt that has started since,
 * when an outcome comes once more or late, of a connection that broke.  No
 * script can make an entry by itself: it has a MAC.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_ack_script;

/*
 * No keys; ids of deliveries that have ended: they are known for as long as if
 * that were just now.  What is queued or in flight stays so.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_known_script;

/* Keys: helpers, in flight; id.  What is in flight is anybody's. */
extern ngx_svc_redis_script_t  ngx_svc_webhook_unregister_script;


#endif /* _NGX_SVC_WEBHOOK_SCRIPT_H_INCLUDED_ */
