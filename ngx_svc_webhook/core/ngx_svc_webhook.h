/*
 * Webhooks: the configuration, and a delivery.
 *
 * A worker that has committed a change queues a delivery for each endpoint
 * that takes the event, in a list in Redis (ngx_svc_webhook_enqueue.c).  The
 * helper, a process that worker 0 forks (ngx_svc_helper.c), takes them
 * (ngx_svc_webhook_queue.c) into its in-flight set
 * (ngx_svc_webhook_inflight.c), delivers them (ngx_svc_webhook_deliver.c), and
 * acknowledges them when their outcome is final (ngx_svc_webhook_ack.c), which
 * it also notes in PostgreSQL (ngx_svc_webhook_note.c).  Events that were lost
 * on the way are found in the audit log (ngx_svc_webhook_outbox.c).
 */

#ifndef _NGX_SVC_WEBHOOK_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_H_INCLUDED_


#include "ngx_svc_addr.h"
#include "ngx_svc_conf.h"
#include "ngx_svc_mail_conf.h"
#include "ngx_svc_push_conf.h"


#define NGX_SVC_WEBHOOK_ATTEMPTS   3
#define NGX_SVC_WEBHOOK_SECRET     64   /* hexadecimal digits */
#define NGX_SVC_ID_DIGITS          32   /* hexadecimal digits, of an event or a
                                           delivery */

/*
 * A channel in Redis.  A message is the id of a tenant whose endpoints have
 * changed, or "*".
 */
#define NGX_SVC_WEBHOOK_CHANNEL    "svc.webhook.changed"


typedef struct {
    ngx_flag_t        on;
    ngx_uint_t        capacity;         /* pending deliveries, at most */
    ngx_uint_t        tenant_capacity;  /* pending deliveries of a tenant */
    ngx_uint_t        endpoint_capacity;    /* deliveries of an endpoint that
                                               wait in a helper */
    ngx_uint_t        concurrency;      /* attempts at a time */
    ngx_uint_t        tenant_concurrency;
    ngx_uint_t        endpoint_concurrency;
    ngx_msec_t        outbox;           /* ms until an event that is still
                                           missing is queued from the audit log;
                                           0: never */
    ngx_msec_t        connect_timeout;
    ngx_msec_t        timeout;          /* ms, of an attempt */
    ngx_msec_t        shutdown_timeout; /* ms that attempts may take when nginx
                                           ends */
    ngx_str_t         ca_file;          /* NUL-terminated */
    ngx_str_t         proxy;            /* NUL-terminated; empty: none */
    ngx_array_t       allow;            /* ngx_svc_cidr_t; private addresses
                                           that are allowed */
    ngx_log_t        *log;              /* written to by "nginx -t", at
                                           "notice"; gone when modules are
                                           initialised */
    ngx_svc_mail_conf_t  mail;
    ngx_svc_push_conf_t  push;
    ngx_flag_t        logout;           /* logout tokens are sent */
    ngx_flag_t        fetch;            /* workers' fetches are made */
    ngx_uint_t        fetches;          /* of them at a time */
} ngx_svc_webhook_conf_t;


/*
 * One event for one endpoint, in one block of malloc().  The queue makes it,
 * and frees it after ngx_svc_webhook_ack_final().  All texts point into the
 * block.
 */

typedef struct {
    void             *backlog;          /* for the scheduler */
    ngx_str_t         id;               /* X-Svc-Delivery */
    ngx_str_t         event_id;         /* "id" of the body */
    ngx_str_t         event;            /* the event's name */
    ngx_str_t         tenant;           /* UUID, as text */
    ngx_str_t         endpoint;
    ngx_str_t         body;
    ngx_uint_t        attempts;         /* attempts that have ended; of a helper
                                           that died: have started */

    /* for the queue */

    ngx_str_t         head;             /* entry up to its attempts; the byte
                                           before it is free for an
                                           acknowledgement */
    ngx_str_t         signed_text;      /* entry after the MAC */
    const void       *key;              /* the MAC's key */
    uint64_t          started;          /* number of the latest attempt, among
                                           all that this helper has started */
    uint64_t          ended;            /* number of the attempt that the
                                           outcome is of */

    ngx_str_node_t    node;             /* in the in-flight set, by id */
    ngx_queue_t       outcome;          /* waits to be acknowledged, or is being
                                           acknowledged */
    unsigned          ack:2;
    unsigned          changed:1;        /* since it was sent */
    unsigned          final:1;          /* not in flight any more */
    unsigned          requeued:1;
} ngx_svc_webhook_delivery_t;


/*
 * The name under which a helper has taken work, as long as Redis or PostgreSQL
 * knows it.
 */

typedef struct {
    ngx_str_t         key;              /* in Redis: a prefix and the name */
    ngx_str_t         name;             /* NGX_SVC_ID_DIGITS digits */
    ngx_str_t         before;           /* name of a helper that has ended,
                                           until Redis or PostgreSQL knows; or
                                           empty */
    ngx_msec_t        asked;            /* when a call was last sent */
    ngx_msec_t        confirmed;        /* when the last answered call was
                                           sent */
    u_char            text[2 * NGX_SVC_ID_DIGITS];
    u_char            last[NGX_SVC_ID_DIGITS];
} ngx_svc_helper_owner_t;


extern ngx_module_t  ngx_http_svc_webhook_module;


/* Whether there is a helper process, for any of its lanes. */
#define ngx_svc_helper_on(wcf)                                                \
    ((wcf)->on || (wcf)->mail.url.len || (wcf)->push.on || (wcf)->logout      \
     || (wcf)->fetch)


/* Returns the configuration; called in a worker or in the helper. */
ngx_svc_webhook_conf_t *ngx_svc_webhook_conf(void);

/* Makes a new id of NGX_SVC_ID_DIGITS digits; returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_random_id(u_char *id);

/*
 * Sets an owner.  The prefix is not longer than an id; the prefix and before
 * may be empty.
 */
void ngx_svc_helper_owner(ngx_svc_helper_owner_t *owner, const char *prefix,
    const u_char *id, const ngx_str_t *before);

/* ms since the last answered call was sent */
#define ngx_svc_helper_owner_age(owner)                                       \
    (ngx_current_msec - (owner)->confirmed)


#endif /* _NGX_SVC_WEBHOOK_H_INCLUDED_ */
