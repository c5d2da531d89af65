/*
 * Webhooks: the configuration, and a delivery.
 *
 * A worker that has committed a change pushes a delivery for each endpoint that
 * takes the event to a list in Redis (ngx_svc_webhook_queue.c).  The helper, a
 * process that worker 0 forks (ngx_svc_webhook_helper.c), moves them into its
 * in-flight set (ngx_svc_webhook_inflight.c), delivers them
 * (ngx_svc_webhook_deliver.c), and acknowledges them when their outcome is
 * final (ngx_svc_webhook_ack.c), which it notes in PostgreSQL too
 * (ngx_svc_webhook_note.c).  Events that went missing on the way it finds in the
 * audit log (ngx_svc_webhook_outbox.c).
 */

#ifndef _NGX_SVC_WEBHOOK_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_H_INCLUDED_


#include "ngx_svc_addr.h"
#include "ngx_svc_conf.h"
#include "ngx_svc_mail_conf.h"
#include "ngx_svc_push_conf.h"


#define NGX_SVC_WEBHOOK_ATTEMPTS   3
#define NGX_SVC_WEBHOOK_SECRET     64   /* hexadecimal digits */
#define NGX_SVC_WEBHOOK_ID         32   /* likewise, of events and deliveries */

/* In Redis.  A tenant's id, or "*": its endpoints have changed. */
#define NGX_SVC_WEBHOOK_CHANNEL    "svc.webhook.changed"


typedef struct {
    ngx_flag_t        on;
    ngx_uint_t        capacity;         /* deliveries that may be pending */
    ngx_uint_t        tenant_capacity;  /* of one tenant */
    ngx_uint_t        endpoint_capacity;    /* of one endpoint, in a helper */
    ngx_uint_t        concurrency;      /* attempts at the same time */
    ngx_uint_t        tenant_concurrency;
    ngx_uint_t        endpoint_concurrency;
    ngx_msec_t        outbox;           /* ms that an event may take before it
                                           is queued from there; 0: never */
    ngx_msec_t        connect_timeout;
    ngx_msec_t        timeout;          /* of an attempt */
    ngx_msec_t        shutdown_timeout; /* of attempts when nginx ends */
    ngx_str_t         ca_file;          /* NUL-terminated */
    ngx_str_t         proxy;            /* NUL-terminated; empty: none */
    ngx_array_t       allow;            /* ngx_svc_cidr_t, of private targets
                                           that are not refused */
    ngx_log_t        *log;              /* "nginx -t" writes to it, at "notice";
                                           gone once modules are initialised */
    ngx_svc_mail_conf_t  mail;
    ngx_svc_push_conf_t  push;
    ngx_flag_t        logout;           /* logout tokens */
} ngx_svc_webhook_conf_t;


/*
 * One event for one endpoint.  In one block of malloc(): the queue makes it,
 * and frees it behind ngx_svc_webhook_ack_final().  All text points
 * into the block.
 */

typedef struct {
    void             *backlog;          /* the scheduler's */
    ngx_str_t         id;               /* X-Svc-Delivery */
    ngx_str_t         event_id;         /* "id" of the body */
    ngx_str_t         event;            /* its name */
    ngx_str_t         tenant;           /* UUIDs, as text */
    ngx_str_t         endpoint;
    ngx_str_t         body;
    ngx_uint_t        attempts;         /* that have ended; of another helper
                                           that ended: have started */

    /* private to the queue */

    ngx_str_t         head;             /* of the entry, behind a byte that is
                                           free: to acknowledge it */
    ngx_str_t         signed_text;      /* behind its MAC */
    const void       *key;              /* of the MAC */
    uint64_t          started;          /* number of the latest attempt, of all
                                           that this helper has started */
    uint64_t          ended;            /* the same, of the outcome's */

    ngx_str_node_t    node;             /* of those in flight, by id */
    ngx_queue_t       outcome;          /* waits to be acknowledged, or is on
                                           its way */
    unsigned          ack:2;
    unsigned          changed:1;        /* since it is on its way */
    unsigned          final:1;          /* in flight no more */
    unsigned          requeued:1;
} ngx_svc_webhook_delivery_t;


/*
 * The name by which a helper has what it has taken, for as long as Redis, or
 * PostgreSQL, has heard of it.
 */

typedef struct {
    ngx_str_t         key;              /* in Redis: a prefix, and the name */
    ngx_str_t         name;             /* NGX_SVC_WEBHOOK_ID digits of it */
    ngx_str_t         before;           /* of one that has ended, until others
                                           know; or empty */
    ngx_msec_t        asked;            /* when it was last told */
    ngx_msec_t        confirmed;        /* the same, of the last answer */
    u_char            text[2 * NGX_SVC_WEBHOOK_ID];
    u_char            last[NGX_SVC_WEBHOOK_ID];
} ngx_svc_webhook_owner_t;


extern ngx_module_t  ngx_http_svc_webhook_module;


/* Whether there is a helper process, for any of what it does. */
#define ngx_svc_webhook_helps(wcf)                                            \
    ((wcf)->on || (wcf)->mail.url.len || (wcf)->push.on || (wcf)->logout)


/* In a worker or the helper, while there is one. */
ngx_svc_webhook_conf_t *ngx_svc_webhook_conf(void);

/* A new id, of NGX_SVC_WEBHOOK_ID digits; NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_webhook_id(u_char *id);

/* The prefix is no longer than an id; it, and before, may be empty. */
void ngx_svc_webhook_owner(ngx_svc_webhook_owner_t *owner, const char *prefix,
    const u_char *id, const ngx_str_t *before);

/* For how many ms nothing has been confirmed. */
#define ngx_svc_webhook_owner_age(owner)                                      \
    (ngx_current_msec - (owner)->confirmed)


#endif /* _NGX_SVC_WEBHOOK_H_INCLUDED_ */
