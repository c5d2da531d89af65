/*
 * What a receiver may send over a TLS connection, whatever it is: bytes, TLS
 * messages, and how much of a handshake in one turn of the event loop.
 */

#ifndef _NGX_SVC_WEBHOOK_WIRE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_WIRE_H_INCLUDED_


#include "ngx_svc_webhook.h"

#include <curl/curl.h>
#include <openssl/ssl.h>


typedef enum {
    NGX_SVC_WEBHOOK_WITHIN = 0,
    NGX_SVC_WEBHOOK_LONG_HANDSHAKE,
    NGX_SVC_WEBHOOK_LONG_ANSWER,
    NGX_SVC_WEBHOOK_MESSAGES
} ngx_svc_webhook_excess_e;


typedef struct ngx_svc_webhook_wire_s  ngx_svc_webhook_wire_t;


/*
 * Who reads from a connection: in the struct of an attempt.  event: posted once
 * excess is set; no more is read from then on.
 */

typedef struct {
    ngx_svc_webhook_wire_t    *wire;        /* or NULL, and the other way */
    ngx_queue_t                sockets;     /* ngx_connection_t, which libcurl
                                               watches for it */
    ngx_event_t               *event;
    size_t                     limit;       /* bytes of an answer, with all
                                               that frames it */
    ngx_svc_webhook_excess_e   excess;
    unsigned                   direct:1;    /* no step of it waits */
    unsigned                   connected:1; /* its request has begun */
} ngx_svc_webhook_reader_t;


/* At the helper's start; NGX_ERROR: memory. */
ngx_int_t ngx_svc_webhook_wire_init(void);

/*
 * Connections of the context, which the reader makes, are counted.  NGX_ERROR:
 * memory.
 */
ngx_int_t ngx_svc_webhook_wire_context(SSL_CTX *ctx,
    ngx_svc_webhook_reader_t *reader);

/*
 * A request begins on the connection of a handle, new or not; and ends, in
 * whatever way, maybe before it has one.
 */
void ngx_svc_webhook_wire_request(CURL *curl,
    ngx_svc_webhook_reader_t *reader);
void ngx_svc_webhook_wire_release(ngx_svc_webhook_reader_t *reader);

/* Before libcurl is called: each handshake may read some again. */
void ngx_svc_webhook_wire_turn(void);


#endif /* _NGX_SVC_WEBHOOK_WIRE_H_INCLUDED_ */
