/*
 * A mail as it is sent: rendered, with its header, ready for a thread that
 * touches nothing else.
 */

#ifndef _NGX_SVC_MAIL_LETTER_H_INCLUDED_
#define _NGX_SVC_MAIL_LETTER_H_INCLUDED_


#include "ngx_svc_mail.h"
#include "ngx_svc_mail_conf.h"

#include <ngx_event.h>


typedef enum {
    NGX_SVC_MAIL_H_FROM = 0,
    NGX_SVC_MAIL_H_TO,
    NGX_SVC_MAIL_H_SUBJECT,
    NGX_SVC_MAIL_H_DATE,
    NGX_SVC_MAIL_H_ID,
    NGX_SVC_MAIL_H_AUTO,
    NGX_SVC_MAIL_H_TYPE,
    NGX_SVC_MAIL_HEADERS
} ngx_svc_mail_header_e;


typedef struct ngx_svc_mail_letter_s  ngx_svc_mail_letter_t;

struct ngx_svc_mail_letter_s {
    ngx_svc_mail_letter_t  *next;       /* the sender's */
    ngx_pool_t             *pool;       /* all of it, this too */
    void                   *data;       /* the caller's */
    ngx_str_t               to;         /* "<ada@acme.test>"; all text here is
                                           NUL-terminated */
    ngx_str_t               headers[NGX_SVC_MAIL_HEADERS];
    ngx_str_t               text;
    ngx_str_t               html;

    /* what came of it */

    ngx_uint_t              sent;       /* 1: the server has taken it */
    ngx_uint_t              refused;    /* 1: it will not take the mail */
    ngx_uint_t              status;     /* the server's last one, 0: none */
    const char             *error;      /* libcurl's; a literal */
};


/*
 * id: of NGX_SVC_MAIL_ID digits, the same in each attempt.  To be destroyed
 * with its pool.  NULL: memory.
 */
ngx_svc_mail_letter_t *ngx_svc_mail_letter(const ngx_svc_mail_conf_t *conf,
    const ngx_svc_mail_t *mail, const ngx_str_t *id);


#endif /* _NGX_SVC_MAIL_LETTER_H_INCLUDED_ */
