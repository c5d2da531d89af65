/*
 * An attempt that has failed; between the ngx_svc_webhook_attempt*.c.
 */

#ifndef _NGX_SVC_WEBHOOK_ATTEMPT_ERROR_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ATTEMPT_ERROR_H_INCLUDED_


#include "ngx_svc_webhook_attempt.h"


struct ngx_svc_webhook_attempt_s {
    CURL                        *curl;
    struct curl_slist           *headers;
    ngx_svc_webhook_delivery_t  *delivery;      /* the scheduler's */
    ngx_svc_webhook_attempt_pt   handler;
    void                        *data;
    ngx_msec_t                   start;
    size_t                       received;      /* bytes, of heads and body */
    ngx_svc_webhook_reader_t     reader;
    ngx_event_t                  step;          /* posted: it is to connect, or
                                                   to close */
    ngx_event_t                  end;           /* posted, or a timer: nothing
                                                   more is waited for */
    const char                  *kind;          /* of the last refused one */
    ngx_svc_addr_t               address;       /* likewise */
    ngx_svc_webhook_result_t     result;
    unsigned                     allowed:1;     /* an address was not refused */
    unsigned                     answered:1;    /* there is a final head */
    unsigned                     flood:1;       /* heads without an end */
    unsigned                     lack:1;        /* of connections, or files */
};


/* Sets the outcome, and says in plain words what was wrong. */
void ngx_svc_webhook_attempt_failed(ngx_svc_webhook_attempt_t *attempt,
    CURLcode code);


#endif /* _NGX_SVC_WEBHOOK_ATTEMPT_ERROR_H_INCLUDED_ */
