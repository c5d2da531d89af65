/*
 * One request over HTTPS, to a server that may be hostile.
 */

#ifndef _NGX_SVC_OUTBOUND_H_INCLUDED_
#define _NGX_SVC_OUTBOUND_H_INCLUDED_


#include "ngx_svc_curl.h"
#include "ngx_svc_outbound_result.h"


typedef struct ngx_svc_outbound_s  ngx_svc_outbound_t;

typedef void (*ngx_svc_outbound_pt)(ngx_svc_outbound_t *r);

/* Takes a part of the answer's body.  NGX_ERROR: no more of it is read. */
typedef ngx_int_t (*ngx_svc_outbound_body_pt)(ngx_svc_outbound_t *r,
    u_char *text, size_t len);


/*
 * A request, in the caller's struct, zeroed.  Texts are NUL-terminated; they
 * and the body live as long as the request.
 */

struct ngx_svc_outbound_s {
    const char                 *method;
    const u_char               *url;
    const char                 *agent;
    ngx_str_t                   body;           /* without data: none */
    size_t                      limit;          /* bytes of an answer that are
                                                   read */
    ngx_msec_t                  linger;         /* ms for the body, after the
                                                   head; 0: until the timeout */
    ngx_msec_t                  timeout;        /* ms, at most; 0:
                                                   svc_webhook_timeout */
    const ngx_array_t          *allow;          /* private addresses that it may
                                                   reach; NULL:
                                                   svc_webhook_allow */
    ngx_svc_outbound_pt         head;           /* called with the final head's
                                                   last line; or NULL */
    ngx_svc_outbound_body_pt    sink;           /* or NULL */
    ngx_svc_outbound_pt         handler;
    void                       *data;
    unsigned                    connected:1;        /* a kept connection is
                                                       likely to be used */
    unsigned                    once:1;         /* never sent twice */
    unsigned                    plain:1;        /* "http://", to a loopback
                                                   address */
    unsigned                    urgent:1;       /* a person waits for it */

    /* the result; an outcome can be POSTPONED, too */

    ngx_svc_outbound_result_t   result;
    ngx_msec_t                  retry_after;        /* ms; 0: none was named */
    unsigned                    complete:1;         /* the answer is complete */
    unsigned                    late:1;             /* its time was up */
    unsigned                    untrusted:1;        /* the certificate is not
                                                       trusted */
    unsigned                    nowhere:1;          /* the name leads to no
                                                       public address */

    /* private */

    CURL                       *curl;
    struct curl_slist          *headers;
    ngx_msec_t                  start;
    size_t                      sent;           /* bytes sent of a body that is
                                                   sent once */
    size_t                      received;       /* bytes of heads and body */
    ngx_svc_curl_reader_t       reader;
    ngx_event_t                 step;           /* posted: connects, or
                                                   closes */
    ngx_event_t                 end;            /* posted, or a timer: ends the
                                                   wait for more */
    const char                 *kind;           /* why the last address was
                                                   refused */
    ngx_svc_addr_t              address;        /* the last refused address */
    unsigned                    allowed:1;          /* an address was not
                                                       refused */
    unsigned                    answered:1;         /* a final head has come */
    unsigned                    flood:1;        /* the answer is too long */
    unsigned                    lack:1;         /* we lack connections or
                                                   files */
    unsigned                    spoilt:1;       /* the handle is spoilt */
};


/* Called at the helper's start, by each file that makes requests. */
ngx_int_t ngx_svc_outbound_init(ngx_cycle_t *cycle);

/* Called as often, at the helper's end, when no request is under way. */
void ngx_svc_outbound_exit(void);

/*
 * Adds a header, before the start.  name has its colon, and a space if there
 * is a value; without a value, libcurl leaves its own header out.  NGX_ERROR:
 * no memory.
 */
ngx_int_t ngx_svc_outbound_header(ngx_svc_outbound_t *r, const char *name,
    const u_char *value, size_t len);

/*
 * Begins a request.  The handler is called once, never from within this call,
 * when the request has been closed.  NGX_ERROR: no memory, and it was closed.
 */
ngx_int_t ngx_svc_outbound_request(ngx_svc_outbound_t *r);

/*
 * Finds a header of the answer, for "head".  Returns NGX_OK, with a value that
 * lives until "head" returns; or NGX_DECLINED: it is not there, or has bytes
 * that are not printable ASCII.
 */
ngx_int_t ngx_svc_outbound_answered(ngx_svc_outbound_t *r, const char *name,
    ngx_str_t *value);

/* Breaks off a request: the handler will not be called. */
void ngx_svc_outbound_close(ngx_svc_outbound_t *r);


#endif /* _NGX_SVC_OUTBOUND_H_INCLUDED_ */
