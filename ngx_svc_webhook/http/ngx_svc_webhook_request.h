/*
 * One request over HTTPS, to a server that may do its worst.
 */

#ifndef _NGX_SVC_WEBHOOK_REQUEST_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_REQUEST_H_INCLUDED_


#include "ngx_svc_webhook_curl.h"
#include "ngx_svc_webhook_result.h"


typedef struct ngx_svc_webhook_request_s  ngx_svc_webhook_request_t;

typedef void (*ngx_svc_webhook_request_pt)(ngx_svc_webhook_request_t *r);

/* A part of the answer's body; NGX_ERROR: no more of it is read. */
typedef ngx_int_t (*ngx_svc_webhook_request_body_pt)(
    ngx_svc_webhook_request_t *r, u_char *text, size_t len);


/*
 * In the struct of its maker, zeroed.  Texts are NUL-terminated; they and the
 * body live as long as the request.
 */

struct ngx_svc_webhook_request_s {
    const char                       *method;
    const u_char                     *url;
    const char                       *agent;
    ngx_str_t                         body;     /* without data: none */
    size_t                            limit;    /* bytes that are read of an
                                                   answer */
    ngx_msec_t                        linger;   /* for a body behind its head;
                                                   0: what the timeout leaves */
    ngx_svc_webhook_request_body_pt   sink;     /* or NULL */
    ngx_svc_webhook_request_pt        handler;
    void                             *data;
    unsigned                          connected:1;  /* a connection is likely
                                                       to have been kept */
    unsigned                          once:1;   /* is never sent twice */

    /* what came of it; of the outcomes POSTPONED is one of requests, too */

    ngx_svc_webhook_result_t          result;
    ngx_msec_t                        retry_after;  /* 0: none was named */
    unsigned                          complete:1;   /* so is the answer */
    unsigned                          untrusted:1;  /* the certificate */
    unsigned                          nowhere:1;    /* the name leads to no
                                                       public address */

    /* private */

    CURL                             *curl;
    struct curl_slist                *headers;
    ngx_msec_t                        start;
    size_t                            sent;     /* of a body sent once */
    size_t                            received; /* bytes, of heads and body */
    ngx_svc_webhook_reader_t          reader;
    ngx_event_t                       step;     /* posted: it is to connect, or
                                                   to close */
    ngx_event_t                       end;      /* posted, or a timer: nothing
                                                   more is waited for */
    const char                       *kind;     /* of the last refused one */
    ngx_svc_addr_t                    address;  /* likewise */
    unsigned                          allowed:1;    /* an address was not
                                                       refused */
    unsigned                          answered:1;   /* there is a final head */
    unsigned                          flood:1;  /* more than is read */
    unsigned                          lack:1;   /* of connections, or files */
    unsigned                          spoilt:1; /* its handle is */
};


/*
 * At the helper's start and end, by each of those that make requests; the
 * latter breaks off nothing.
 */
ngx_int_t ngx_svc_webhook_request_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_request_exit(void);

/*
 * Adds a header, before the start; name: with its colon, and a space if there
 * is a value.  Without one libcurl is to leave its own out.  NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_webhook_request_header(ngx_svc_webhook_request_t *r,
    const char *name, const u_char *value, size_t len);

/*
 * The handler is called once, never from within this call; by then the request
 * has been closed.  NGX_ERROR: memory; it is closed too.
 */
ngx_int_t ngx_svc_webhook_request(ngx_svc_webhook_request_t *r);

/* Breaks off a request: its handler will not be called. */
void ngx_svc_webhook_request_close(ngx_svc_webhook_request_t *r);


#endif /* _NGX_SVC_WEBHOOK_REQUEST_H_INCLUDED_ */
