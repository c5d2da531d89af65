/*
 * The scripts that move mails in Redis, and the names of the keys.
 */

#ifndef _NGX_SVC_MAIL_SCRIPT_H_INCLUDED_
#define _NGX_SVC_MAIL_SCRIPT_H_INCLUDED_


#include "ngx_svc_redis_script.h"


/*
 * A list of queued entries; a hash that counts queued mails and those in
 * flight, by tenant and in "total"; a sorted set of helpers by deadline, in ms
 * of Redis' clock, 0 when others may take over; a hash of each helper's
 * entries in flight, by id; a key for each address with a reported failure,
 * for an hour.
 */
#define NGX_SVC_MAIL_QUEUE     "svc.mail.queue"
#define NGX_SVC_MAIL_PENDING   "svc.mail.pending"
#define NGX_SVC_MAIL_HELPERS   "svc.mail.helpers"
#define NGX_SVC_MAIL_INFLIGHT  "svc.mail.own."
#define NGX_SVC_MAIL_FAILED    "svc.mail.failed."

/* The channel that tells of mails to be taken. */
#define NGX_SVC_MAIL_WAKE      "svc.mail.wake"

#define NGX_SVC_MAIL_FIRST     2        /* index of the first entry in an
                                           answer */


/*
 * Queues a mail.  Keys: queue, pending.  Arguments: capacity, a tenant's
 * capacity, tenant, entry, and "1" if the mail is only checked, not queued.
 * Returns 0: there is room; 1: the queue is full; 2: the tenant's share is.
 */
extern ngx_svc_redis_script_t  ngx_svc_mail_enqueue_script;

/*
 * Registers the helper, or prolongs its life, and takes mails of helpers that
 * have ended, then those queued.  Keys: helpers, queue, in flight.  Arguments:
 * id, lifetime in ms, number of mails at most, id of a predecessor or an empty
 * text, "1" to get the mails in flight, too.  Returns { 1: the helper was
 * known, or 0; length of the queue; entries }.
 */
extern ngx_svc_redis_script_t  ngx_svc_mail_take_script;

/*
 * Removes a mail.  Keys: in flight, pending, the address' failure.  Arguments:
 * id, tenant, "1" if the mail has failed.  Returns 1 for the first failure of
 * the address within an hour.
 */
extern ngx_svc_redis_script_t  ngx_svc_mail_done_script;

/*
 * Leaves the mails in flight to any helper.  Keys: helpers, in flight;
 * argument: id.
 */
extern ngx_svc_redis_script_t  ngx_svc_mail_leave_script;


#endif /* _NGX_SVC_MAIL_SCRIPT_H_INCLUDED_ */
