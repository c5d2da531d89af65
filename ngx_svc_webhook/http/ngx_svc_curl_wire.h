/*
 * Limits what a receiver may send over a TLS connection, whatever its content:
 * bytes, TLS messages, and how much of a handshake is read in one iteration of
 * the event loop.
 */

#ifndef _NGX_SVC_CURL_WIRE_H_INCLUDED_
#define _NGX_SVC_CURL_WIRE_H_INCLUDED_


#include "ngx_svc_webhook.h"

#include <curl/curl.h>
#include <openssl/ssl.h>


typedef enum {
    NGX_SVC_CURL_WITHIN = 0,
    NGX_SVC_CURL_LONG_HANDSHAKE,
    NGX_SVC_CURL_LONG_ANSWER,
    NGX_SVC_CURL_MESSAGES
} ngx_svc_curl_excess_e;


typedef struct ngx_svc_curl_wire_s  ngx_svc_curl_wire_t;


/*
 * The reader of a connection, in the struct of a request.  event is posted
 * when excess is set; no more is read from then on.
 */

typedef struct {
    ngx_svc_curl_wire_t    *wire;           /* or NULL; wire->reader points
                                               back */
    ngx_queue_t             sockets;        /* ngx_connection_t that libcurl
                                               watches for this request */
    ngx_event_t            *event;
    size_t                  limit;          /* bytes of an answer, with its
                                               framing */
    ngx_svc_curl_excess_e   excess;
    unsigned                direct:1;       /* no step waits for others */
    unsigned                urgent:1;       /* its steps come before others */
    unsigned                connected:1;    /* the request has begun */
} ngx_svc_curl_reader_t;


/* Called at the helper's start.  NGX_ERROR: no memory. */
ngx_int_t ngx_svc_curl_wire_init(void);

/*
 * Counts the connections of a context, made by the reader.  NGX_ERROR: no
 * memory.
 */
ngx_int_t ngx_svc_curl_wire_context(SSL_CTX *ctx,
    ngx_svc_curl_reader_t *reader);

/* Called when a request begins on a handle's connection, new or kept. */
void ngx_svc_curl_wire_request(CURL *curl, ngx_svc_curl_reader_t *reader);

/* Called when a request ends, maybe before it has a connection. */
void ngx_svc_curl_wire_release(ngx_svc_curl_reader_t *reader);

/* Called before libcurl is: each handshake may read a part again. */
void ngx_svc_curl_wire_iteration(void);


#endif /* _NGX_SVC_CURL_WIRE_H_INCLUDED_ */
