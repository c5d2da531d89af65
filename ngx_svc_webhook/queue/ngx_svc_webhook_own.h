/*
 * Deliveries in the hands of this helper; between the ngx_svc_webhook_queue.c
 * and ngx_svc_webhook_own.c.
 */

#ifndef _NGX_SVC_WEBHOOK_OWN_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OWN_H_INCLUDED_


#include "ngx_svc_webhook_entry.h"
#include "ngx_svc_webhook_queue.h"
#include "ngx_svc_webhook_script.h"


#define NGX_SVC_WEBHOOK_BATCH  256


/* As text. */
typedef u_char  ngx_svc_webhook_number_t[NGX_INT64_LEN];


/* At the helper's start.  hash: name of the hash in Redis, which may change. */
void ngx_svc_webhook_own_init(ngx_log_t *log, ngx_str_t *hash,
    const ngx_svc_webhook_queue_handlers_t *handlers);

/*
 * An entry as it came from Redis: goes to the handler deliver, unless it is in
 * hand already.  What is damaged is dropped.  begun: the number of its
 * attempt that had, for all that Redis knows; or 0.  NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_webhook_own_add(redisReply *entry, ngx_uint_t begun);

/*
 * The deliveries belong to others: outcomes that are not told are sent, the
 * rest is forgotten.  The scheduler frees what it has.
 */
void ngx_svc_webhook_own_forget(void);

/* Sends what is not told. */
void ngx_svc_webhook_own_tell(void);

/* How many are in hand, those whose end is not confirmed too. */
ngx_uint_t ngx_svc_webhook_own_count(void);

/* 1: there is something that is not told, or not confirmed. */
ngx_uint_t ngx_svc_webhook_own_unconfirmed(void);

/* The name of the hash in Redis. */
const ngx_str_t *ngx_svc_webhook_own_hash(void);

/* Called whenever something was confirmed, or was not. */
extern void  (*ngx_svc_webhook_own_told)(void);

/* Called when Redis does not hear of outcomes: what is sent may come twice. */
extern void  (*ngx_svc_webhook_own_stuck)(void);


/*
 * ngx_svc_webhook_own_tell.c: at the helper's start, with who is to free what
 * is in hand no more; nothing is told any more, and what is final is freed.
 */
void ngx_svc_webhook_own_tell_init(ngx_log_t *log, ngx_str_t *hash,
    void (*release)(ngx_svc_webhook_delivery_t *d));
void ngx_svc_webhook_own_tell_forget(void);


#endif /* _NGX_SVC_WEBHOOK_OWN_H_INCLUDED_ */
