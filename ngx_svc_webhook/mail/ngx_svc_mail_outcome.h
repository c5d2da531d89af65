/*
 * What became of a mail: in the metrics, the error log and the audit log.
 */

#ifndef _NGX_SVC_MAIL_OUTCOME_H_INCLUDED_
#define _NGX_SVC_MAIL_OUTCOME_H_INCLUDED_


#include "ngx_svc_mail.h"
#include "ngx_svc_pg.h"


#define NGX_SVC_MAIL_FAILED_KEY  64     /* bytes, at most */


typedef enum {
    NGX_SVC_MAIL_SENT = 0,
    NGX_SVC_MAIL_REJECTED,              /* the server said 5xx */
    NGX_SVC_MAIL_GIVEN_UP,              /* the attempts are used up */
    NGX_SVC_MAIL_EXPIRED
} ngx_svc_mail_outcome_e;

typedef struct {
    ngx_svc_mail_outcome_e   outcome;
    ngx_str_t                id;        /* of the mail */
    const ngx_svc_mail_t    *mail;
    ngx_uint_t               attempts;
    ngx_uint_t               status;    /* SMTP's, of the last one; 0: none */
    const char              *error;     /* a literal */
} ngx_svc_mail_result_t;


/* At the helper's start; NGX_ERROR: OpenSSL fails. */
ngx_int_t ngx_svc_mail_outcome_init(void);

/*
 * Counts it, and logs what was not sent: nothing of what it says, nor to whom.
 */
void ngx_svc_mail_outcome(const ngx_svc_mail_result_t *result);

/*
 * The key in Redis of an address that a failure was told of; returns its end.
 * The address is not in it.
 */
u_char *ngx_svc_mail_outcome_key(u_char key[NGX_SVC_MAIL_FAILED_KEY],
    const ngx_svc_mail_t *mail);

/*
 * Writes the audit event, and calls done once it is written or cannot be;
 * result and what it points to live until then.  NGX_ERROR: memory, it is not
 * called.
 */
ngx_int_t ngx_svc_mail_outcome_audit(const ngx_svc_mail_result_t *result,
    void (*done)(void *data), void *data);


#endif /* _NGX_SVC_MAIL_OUTCOME_H_INCLUDED_ */
