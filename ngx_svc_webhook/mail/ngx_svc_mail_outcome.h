/*
 * The outcome of a mail, for the metrics, the error log and the audit log.
 */

#ifndef _NGX_SVC_MAIL_OUTCOME_H_INCLUDED_
#define _NGX_SVC_MAIL_OUTCOME_H_INCLUDED_


#include "ngx_svc_mail.h"
#include "ngx_svc_pg.h"


#define NGX_SVC_MAIL_FAILED_KEY  64     /* bytes, at most */


typedef enum {
    NGX_SVC_MAIL_SENT = 0,
    NGX_SVC_MAIL_REJECTED,              /* the server said 5xx */
    NGX_SVC_MAIL_GIVEN_UP,              /* all attempts have failed */
    NGX_SVC_MAIL_EXPIRED
} ngx_svc_mail_outcome_e;

typedef struct {
    ngx_svc_mail_outcome_e   outcome;
    ngx_str_t                id;        /* the mail's id */
    const ngx_svc_mail_t    *mail;
    ngx_uint_t               attempts;
    ngx_uint_t               status;    /* last SMTP reply; 0: none */
    const char              *error;     /* a literal */
} ngx_svc_mail_result_t;


/* Called at the helper's start.  NGX_ERROR: OpenSSL fails. */
ngx_int_t ngx_svc_mail_outcome_init(void);

/*
 * Counts the outcome, and logs a mail that was not sent, without its text and
 * its address.
 */
void ngx_svc_mail_outcome(const ngx_svc_mail_result_t *result);

/*
 * Writes the Redis key by which an address has its first failure reported
 * only; returns its end.  The key does not tell the address.
 */
u_char *ngx_svc_mail_outcome_key(u_char key[NGX_SVC_MAIL_FAILED_KEY],
    const ngx_svc_mail_t *mail);

/*
 * Writes the audit event, and calls done() when it is written or cannot be;
 * result and what it points to must live until then.  NGX_ERROR: no memory,
 * and done() is not called.
 */
ngx_int_t ngx_svc_mail_outcome_audit(const ngx_svc_mail_result_t *result,
    void (*done)(void *data), void *data);


#endif /* _NGX_SVC_MAIL_OUTCOME_H_INCLUDED_ */
