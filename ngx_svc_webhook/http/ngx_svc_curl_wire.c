/*
 * Limits what a receiver may send over a TLS connection.
 *
 * A peer can keep OpenSSL and libcurl within one call for as long as bytes
 * come: with TLS messages that carry no data, or with parts of HTTP that reach
 * no callback, such as extensions of chunks.  No timeout runs meanwhile.  So
 * the bytes are counted below both, where OpenSSL reads from its BIO.  Over a
 * limit the BIO is broken.
 *
 * What an iteration of the event loop may read is limited only in the
 * handshake: there libcurl waits for the socket when the BIO says that nothing
 * has come.  After it libcurl 8 looks at the socket itself, and reads again in
 * the same call as long as there is something.
 */

#include "ngx_svc_curl_wire.h"

#include <ngx_event.h>


#define NGX_SVC_CURL_WIRE_BYTES      131072     /* bytes of a handshake, at
                                                   most */
#define NGX_SVC_CURL_WIRE_ITERATION  16384      /* bytes of a handshake in an
                                                   iteration, and of a record */
#define NGX_SVC_CURL_WIRE_MESSAGES   32         /* messages after the
                                                   handshake */


/* A connection, owned by its context, which is of this connection only. */

struct ngx_svc_curl_wire_s {
    ngx_svc_curl_reader_t  *reader;             /* NULL while idle */
    ngx_uint_t              iteration;          /* the last iteration that
                                                   read */
    size_t                  iteration_bytes;
    size_t                  bytes;              /* since a request began */
    size_t                  limit;              /* bytes since a request began,
                                                   at most */
    ngx_uint_t              messages;           /* TLS messages, since a request
                                                   began */
    unsigned                request:1;          /* the handshake has ended */
};


static void ngx_svc_curl_wire_free(void *parent, void *data,
    CRYPTO_EX_DATA *ad, int index, long argl, void *argp);
static void ngx_svc_curl_wire_info(const SSL *ssl, int where, int ret);
static long ngx_svc_curl_wire_bio(BIO *bio, int op, const char *data,
    size_t len, int argi, long argl, int ret, size_t *processed);
static void ngx_svc_curl_wire_message(int write, int version, int type,
    const void *text, size_t len, SSL *ssl, void *data);
static ngx_svc_curl_wire_t *ngx_svc_curl_wire(const SSL *ssl);
static ngx_int_t ngx_svc_curl_wire_may_read(ngx_svc_curl_wire_t *wire);
static void ngx_svc_curl_wire_excess(ngx_svc_curl_wire_t *wire,
    ngx_svc_curl_excess_e excess);
static void ngx_svc_curl_wire_link(ngx_svc_curl_wire_t *wire,
    ngx_svc_curl_reader_t *reader);


static int         ngx_svc_curl_wire_index;
static ngx_uint_t  ngx_svc_curl_wire_iterations;


ngx_int_t
ngx_svc_curl_wire_init(void)
{
    ngx_svc_curl_wire_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL,
                                                       ngx_svc_curl_wire_free);

    if (ngx_svc_curl_wire_index == -1) {
        ngx_log_error(NGX_LOG_EMERG, ngx_cycle->log, 0,
                      "SSL_CTX_get_ex_new_index() failed");
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * Makes SSL_read() return after each TLS message (no AUTO_RETRY); without
 * reading ahead its buffer does not hold the next one.
 */

ngx_int_t
ngx_svc_curl_wire_context(SSL_CTX *ctx, ngx_svc_curl_reader_t *reader)
{
    ngx_svc_curl_wire_t  *wire;

    wire = ngx_calloc(sizeof(ngx_svc_curl_wire_t), ngx_cycle->log);
    if (wire == NULL) {
        return NGX_ERROR;
    }

    if (SSL_CTX_set_ex_data(ctx, ngx_svc_curl_wire_index, wire) != 1) {
        ngx_free(wire);
        return NGX_ERROR;
    }

    wire->limit = NGX_SVC_CURL_WIRE_BYTES;

    ngx_svc_curl_wire_link(wire, reader);

    SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_read_ahead(ctx, 0);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);

    SSL_CTX_set_info_callback(ctx, ngx_svc_curl_wire_info);
    SSL_CTX_set_msg_callback(ctx, ngx_svc_curl_wire_message);

    return NGX_OK;
}


static void
ngx_svc_curl_wire_free(void *parent, void *data, CRYPTO_EX_DATA *ad, int index,
    long argl, void *argp)
{
    ngx_svc_curl_wire_t *wire = data;

    if (wire) {
        ngx_svc_curl_wire_link(wire, NULL);
        ngx_free(wire);
    }
}


/* Sets the BIO's callback before the first byte of a handshake is read. */

static void
ngx_svc_curl_wire_info(const SSL *ssl, int where, int ret)
{
    BIO  *bio;

    bio = SSL_get_rbio(ssl);

    if ((where & SSL_CB_HANDSHAKE_START) && bio
        && BIO_get_callback_ex(bio) == NULL)
    {
        BIO_set_callback_arg(bio, (char *) ngx_svc_curl_wire(ssl));
        BIO_set_callback_ex(bio, ngx_svc_curl_wire_bio);
    }
}


static ngx_svc_curl_wire_t *
ngx_svc_curl_wire(const SSL *ssl)
{
    return SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ngx_svc_curl_wire_index);
}


static long
ngx_svc_curl_wire_bio(BIO *bio, int op, const char *data, size_t len, int argi,
    long argl, int ret, size_t *processed)
{
    ngx_int_t             rc;
    ngx_svc_curl_wire_t  *wire;

    wire = (ngx_svc_curl_wire_t *) BIO_get_callback_arg(bio);

    switch (op) {

    case BIO_CB_READ:

        rc = ngx_svc_curl_wire_may_read(wire);

        if (rc != NGX_OK) {
            BIO_clear_retry_flags(bio);

            if (rc == NGX_AGAIN) {
                BIO_set_retry_read(bio);
            }

            return -1;
        }

        break;

    case BIO_CB_READ|BIO_CB_RETURN:

        if (ret > 0) {
            wire->bytes += *processed;
            wire->iteration_bytes += *processed;
        }

        break;

    default:
        break;
    }

    return ret;
}


/*
 * Returns whether the BIO may read.  NGX_AGAIN: in another iteration;
 * NGX_ERROR: never again.
 */

static ngx_int_t
ngx_svc_curl_wire_may_read(ngx_svc_curl_wire_t *wire)
{
    if (wire->iteration != ngx_svc_curl_wire_iterations) {
        wire->iteration = ngx_svc_curl_wire_iterations;
        wire->iteration_bytes = 0;
    }

    if (wire->messages > NGX_SVC_CURL_WIRE_MESSAGES) {
        ngx_svc_curl_wire_excess(wire, NGX_SVC_CURL_MESSAGES);
        return NGX_ERROR;
    }

    if (wire->bytes >= wire->limit) {
        ngx_svc_curl_wire_excess(wire, wire->request
                                       ? NGX_SVC_CURL_LONG_ANSWER
                                       : NGX_SVC_CURL_LONG_HANDSHAKE);
        return NGX_ERROR;
    }

    return wire->request || wire->iteration_bytes < NGX_SVC_CURL_WIRE_ITERATION
           ? NGX_OK : NGX_AGAIN;
}


static void
ngx_svc_curl_wire_excess(ngx_svc_curl_wire_t *wire,
    ngx_svc_curl_excess_e excess)
{
    ngx_svc_curl_reader_t  *reader;

    reader = wire->reader;

    if (reader && reader->excess == NGX_SVC_CURL_WITHIN) {
        reader->excess = excess;
        ngx_post_event(reader->event, &ngx_posted_events);
    }
}


/* Counts messages after the handshake: tickets, key updates, renegotiation. */

static void
ngx_svc_curl_wire_message(int write, int version, int type, const void *text,
    size_t len, SSL *ssl, void *data)
{
    ngx_svc_curl_wire_t  *wire;

    if (write || type != SSL3_RT_HANDSHAKE) {
        return;
    }

    wire = ngx_svc_curl_wire(ssl);
    wire->messages += wire->request;
}


void
ngx_svc_curl_wire_request(CURL *curl, ngx_svc_curl_reader_t *reader)
{
    ngx_svc_curl_wire_t               *wire;
    const struct curl_tlssessioninfo  *tls;

    reader->connected = 1;

    tls = NULL;

    if (curl_easy_getinfo(curl, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK
        || tls == NULL || tls->internals == NULL)
    {
        return;
    }

    wire = ngx_svc_curl_wire(tls->internals);
    wire->request = 1;
    wire->bytes = 0;
    wire->limit = reader->limit;
    wire->messages = 0;

    ngx_svc_curl_wire_link(wire, reader);
}


void
ngx_svc_curl_wire_release(ngx_svc_curl_reader_t *reader)
{
    if (reader->wire) {
        ngx_svc_curl_wire_link(reader->wire, NULL);
    }
}


/* Links a wire and a reader; each is linked to no other one any more. */

static void
ngx_svc_curl_wire_link(ngx_svc_curl_wire_t *wire,
    ngx_svc_curl_reader_t *reader)
{
    if (wire->reader) {
        wire->reader->wire = NULL;
    }

    wire->reader = reader;

    if (reader) {
        if (reader->wire) {
            reader->wire->reader = NULL;
        }

        reader->wire = wire;
    }
}


void
ngx_svc_curl_wire_iteration(void)
{
    ngx_svc_curl_wire_iterations++;
}
