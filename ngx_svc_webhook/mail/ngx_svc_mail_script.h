/*
 * The scripts that move mails in Redis, and the names of its keys.
 */

#ifndef _NGX_SVC_MAIL_SCRIPT_H_INCLUDED_
#define _NGX_SVC_MAIL_SCRIPT_H_INCLUDED_


#include "ngx_svc_redis_script.h"


/*
 * The queue, a list of entries; a hash of how many are queued and in flight, by
 * tenant and in "total"; a sorted set of helpers by deadline, in ms of Redis'
 * clock, 0 when others may take over; of each helper a hash of its entries in
 * flight, by id; of an address of which a failure was told a key, for an hour.
 */
#define NGX_SVC_MAIL_QUEUE     "svc.mail.queue"
#define NGX_SVC_MAIL_PENDING   "svc.mail.pending"
#define NGX_SVC_MAIL_HELPERS   "svc.mail.helpers"
#define NGX_SVC_MAIL_INFLIGHT  "svc.mail.own."
#define NGX_SVC_MAIL_FAILED    "svc.mail.failed."

/* A channel: there is something to take. */
#define NGX_SVC_MAIL_WAKE      "svc.mail.wake"

#define NGX_SVC_MAIL_FIRST     2        /* entry, of an answer's elements */


/*
 * Keys: queue, pending; capacity, capacity of a tenant, tenant, entry, and "1"
 * for one that is to be looked at and not stored.  0: there is room; 1: the
 * queue is full; 2: the tenant's share is.
 */
extern ngx_svc_redis_script_t  ngx_svc_mail_push_script;

/*
 * Keys: helpers, queue, in flight; id, lifetime in ms, how many at most, id of
 * a predecessor or an empty text, "1" to get also what is in flight already.
 * { 1: the helper was known, 0: it was not; length of the queue; entries }.
 * Registers the helper, or prolongs its life; takes from helpers that have
 * ended, and then from the queue.
 */
extern ngx_svc_redis_script_t  ngx_svc_mail_take_script;

/*
 * Keys: in flight, pending, that of a failure's address; id, tenant, "1": it
 * has failed.  The mail leaves Redis.  1: it is the address' first failure
 * within an hour.
 */
extern ngx_svc_redis_script_t  ngx_svc_mail_done_script;

/* Keys: helpers, in flight; id.  What is in flight is anybody's. */
extern ngx_svc_redis_script_t  ngx_svc_mail_leave_script;


#endif /* _NGX_SVC_MAIL_SCRIPT_H_INCLUDED_ */
