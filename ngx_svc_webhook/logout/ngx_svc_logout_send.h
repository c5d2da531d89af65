/*
 * One logout token on its way to an application.
 */

#ifndef _NGX_SVC_LOGOUT_SEND_H_INCLUDED_
#define _NGX_SVC_LOGOUT_SEND_H_INCLUDED_


#include "ngx_svc_logout.h"
#include "ngx_svc_webhook_request.h"


typedef struct ngx_svc_logout_send_s  ngx_svc_logout_send_t;

typedef enum {
    NGX_SVC_LOGOUT_DELIVERED = 0,
    NGX_SVC_LOGOUT_RETRIED,             /* another attempt follows */
    NGX_SVC_LOGOUT_ABANDONED,           /* none does */
    NGX_SVC_LOGOUT_REFUSED,             /* its address was, by us */
    NGX_SVC_LOGOUT_POSTPONED,           /* nothing was sent */
    NGX_SVC_LOGOUT_NOBODY               /* nobody wants to hear of it */
} ngx_svc_logout_outcome_e;

/* Of the row's pool. */

struct ngx_svc_logout_send_s {
    ngx_svc_logout_t            row;
    ngx_queue_t                 queue;      /* the lane's */
    ngx_svc_pg_op_t            *op;         /* what becomes of it, or NULL */
    ngx_svc_webhook_request_t   request;
    ngx_str_t                   body;
    void                      (*handler)(ngx_svc_logout_send_t *send,
                                         ngx_svc_logout_outcome_e outcome);
};


/*
 * The handler is called once, never from within this call.  NGX_DECLINED: there
 * is nobody to be told; NGX_ERROR: memory, or the key cannot be opened.  It is
 * not called then.
 */
ngx_int_t ngx_svc_logout_send(ngx_svc_logout_send_t *send,
    const ngx_str_t *base);

/* Breaks it off. */
void ngx_svc_logout_send_close(ngx_svc_logout_send_t *send);


#endif /* _NGX_SVC_LOGOUT_SEND_H_INCLUDED_ */
