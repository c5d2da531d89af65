/*
 * A mail as it is sent: rendered, with its header.  A thread that sends it
 * needs nothing else.
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
    ngx_svc_mail_letter_t  *next;       /* for the sender's list */
    ngx_pool_t             *pool;       /* has all of it, and this struct */
    void                   *data;       /* for the caller */
    ngx_str_t               to;         /* "<ada@acme.test>"; all texts here are
                                           NUL-terminated */
    ngx_str_t               headers[NGX_SVC_MAIL_HEADERS];
    ngx_str_t               text;
    ngx_str_t               html;

    /* the result */

    ngx_uint_t              sent;       /* 1: the server has taken the mail */
    ngx_uint_t              refused;    /* 1: the server never takes this
                                           mail */
    ngx_uint_t              status;     /* the server's last reply; 0: none */
    const char             *error;      /* libcurl's; a literal */
};


/*
 * Renders a mail.  id: NGX_SVC_ENTRY_ID digits, the same in each attempt.  The
 * letter is freed by destroying its pool.  NULL: no memory.
 */
ngx_svc_mail_letter_t *ngx_svc_mail_letter(const ngx_svc_mail_conf_t *conf,
    const ngx_svc_mail_t *mail, const ngx_str_t *id);


#endif /* _NGX_SVC_MAIL_LETTER_H_INCLUDED_ */
