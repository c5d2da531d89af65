/*
 * The scripts that move deliveries in Redis, and the names of the keys.
 */

#ifndef _NGX_SVC_WEBHOOK_SCRIPT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_SCRIPT_H_INCLUDED_


#include "ngx_svc_redis_script.h"


/*
 * A list of queued entries; a hash that counts deliveries queued and in
 * flight, by tenant and in "total"; a sorted set of helpers by deadline, in ms
 * of Redis' clock, 0 when others have begun to take over.  For each helper a
 * hash of its entries in flight, by delivery id, and a hash of its started
 * attempts: by delivery id the number among the delivery's attempts, and by
 * the id and "#" the number among all attempts of the helper.  A sorted set of
 * known deliveries by id: those queued or in flight with an infinite score,
 * and those that have ended of late with the time of that; a known delivery is
 * not queued again.
 *
 * The names that released versions use do not change: during an upgrade new
 * helpers take over from old ones.
 */
#define NGX_SVC_WEBHOOK_QUEUE    "svc.webhook2.queue"
#define NGX_SVC_WEBHOOK_PENDING  "svc.webhook2.pending"
#define NGX_SVC_WEBHOOK_HELPERS  "svc.webhook2.helpers"
#define NGX_SVC_WEBHOOK_INFLIGHT  "svc.webhook2.own."
#define NGX_SVC_WEBHOOK_STARTED  ".begun"       /* appended to the hash's
                                                   name */
#define NGX_SVC_WEBHOOK_NUMBER   "#"            /* appended to an id in that
                                                   hash */
#define NGX_SVC_WEBHOOK_KNOWN    "svc.webhook2.known"

/*
 * ms that an ended delivery is known for.  By then it is noted in PostgreSQL,
 * or the helper that is to note it has told Redis that it is late.
 */
#define NGX_SVC_WEBHOOK_KNOWN_MS  "60000"

/* The channel that tells of deliveries to be taken. */
#define NGX_SVC_WEBHOOK_WAKE     "svc.webhook2.wake"

#define NGX_SVC_WEBHOOK_BATCH    256    /* deliveries of a call, at most */


/* A number as text. */
typedef u_char  ngx_svc_webhook_number_t[NGX_INT64_LEN];


/*
 * Queues events.  Keys: queue, pending.  Arguments: capacity, a tenant's
 * capacity; for each event: tenant, number of entries, entries.  Returns a
 * text with a digit for each event; 0: queued; 1: the queue is full; 2: the
 * tenant's share is; 3: all its deliveries were known, and are not queued
 * again.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_enqueue_script;

/*
 * Registers a helper.  Keys: helpers.  Arguments: id, lifetime in ms, id of a
 * predecessor or an empty text, whose deliveries are taken over at once.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_register_script;

/*
 * Prolongs a helper's life.  Keys: helpers, queue, in flight.  Arguments: id,
 * lifetime in ms.  Returns { 1: alive, or 0: others have taken over; length of
 * the queue; number in flight; number of dead helpers }.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_heartbeat_script;

/*
 * Takes deliveries, those of helpers that have ended first.  Keys: helpers,
 * queue, pending, in flight.  Arguments: id, number at most.  Returns { number
 * from helpers that have ended; for each of those a digit, the number of its
 * attempt that had started, or 0; entries }; no entries when others have taken
 * over from this helper.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_take_script;

/*
 * Records attempts that are to start.  Keys: in flight.  Arguments: names and
 * values.  Returns 1: a successor will count them; 0: others have taken over.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_started_script;

/*
 * Reads what is in flight.  Keys: in flight, pending.  Arguments: cursor,
 * number to be read, roughly.  Returns { next cursor, "0" at the end; digits,
 * as above; entries }, of which some may come twice.  Removes an entry whose
 * id is not its name.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_recover_script;

/*
 * Stores outcomes.  Keys: in flight, pending, queue.  Arguments: delivery id,
 * outcome, the attempt's number among all of the helper's; and so on.
 * Outcomes are "-": final; "=" with the new beginning of the entry, up to its
 * attempts; "<" with the same: the delivery goes back to the queue.
 * Deliveries in flight elsewhere are left alone.  If an outcome comes again,
 * or late since a connection broke, later outcomes and attempts started since
 * stay as they are.  The script cannot write an entry's beginning itself,
 * which has a MAC.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_ack_script;

/*
 * Marks deliveries as ended just now, so that they stay known.  No keys;
 * arguments: their ids.  Those queued or in flight stay so.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_known_script;

/*
 * Leaves what is in flight to any helper.  Keys: helpers, in flight; argument:
 * id.
 */
extern ngx_svc_redis_script_t  ngx_svc_webhook_unregister_script;


#endif /* _NGX_SVC_WEBHOOK_SCRIPT_H_INCLUDED_ */
