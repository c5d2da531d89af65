/*
 * Mails to users, for the module that sends them.
 */

#ifndef _NGX_SVC_MAIL_H_INCLUDED_
#define _NGX_SVC_MAIL_H_INCLUDED_


#include "ngx_svc_common.h"


typedef enum {
    NGX_SVC_MAIL_SIGN_IN = 0,           /* a code and a link to sign in with */
    NGX_SVC_MAIL_VERIFY,                /* an address is to be verified */
    NGX_SVC_MAIL_SIGNUP,                /* an address is to be verified, before
                                           there is a user */
    NGX_SVC_MAIL_EXISTS,                /* signed up with a user's address */
    NGX_SVC_MAIL_RESET,                 /* a link to set a password */
    NGX_SVC_MAIL_INVITE,
    NGX_SVC_MAIL_MFA,                   /* a code, as a second factor */
    NGX_SVC_MAIL_CHANGED,               /* how a user signs in has changed */
    NGX_SVC_MAIL_NEW_DEVICE,
    NGX_SVC_MAIL_LOCKED,
    NGX_SVC_MAIL_KINDS
} ngx_svc_mail_kind_e;


/* Where a field that may be empty is empty, the mail does without it. */

typedef struct {
    ngx_svc_mail_kind_e   kind;
    ngx_uint_t            nobody;       /* 1: there is no recipient: the work is
                                           the same, and nothing is sent */
    time_t                not_after;    /* the mail is of no use later */
    ngx_str_t             tenant;       /* its UUID, as text */
    ngx_str_t             to;           /* a checked e-mail address */
    ngx_str_t             name;         /* the recipient's; may be empty */
    ngx_str_t             locale;       /* "de", "de-AT"; may be empty */
    ngx_str_t             tenant_name;
    ngx_str_t             primary;      /* "#rrggbb"; may be empty */
    ngx_str_t             logo_url;     /* may be empty */
    ngx_str_t             code;         /* if the kind has one */
    ngx_str_t             link;         /* if the kind has one */
    ngx_str_t             ip;           /* may be empty */
    ngx_str_t             country;      /* may be empty */
} ngx_svc_mail_t;


/*
 * The functions of the module that sends mails.  ready and send do what
 * ngx_svc_mail_ready() and ngx_svc_mail_send() promise; drop counts and logs a
 * mail that is not sent.
 */

typedef struct {
    ngx_uint_t          (*ready)(void);
    ngx_int_t           (*send)(const ngx_svc_mail_t *mail);
    void                (*drop)(const char *why);
} ngx_svc_mail_sender_t;


/* Returns the name of a kind as templates and the log have it: "sign_in". */
NGX_SVC_API const ngx_str_t *ngx_svc_mail_kind(ngx_svc_mail_kind_e kind);

/*
 * Returns 1 if a mail can be sent now.  A route that must mail asks before it
 * looks anything up, and answers 503 if it cannot, whoever the recipient would
 * be.
 */
NGX_SVC_API ngx_uint_t ngx_svc_mail_ready(void);

/*
 * Sends a mail, after a commit.  It does not wait, and keeps nothing of the
 * mail.  Returns NGX_OK when the mail is on its way (if Redis then has no room
 * for it, that is counted and logged); NGX_DECLINED when the sender is not
 * ready, or the address is none; NGX_ERROR when memory or OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_mail_send(const ngx_svc_mail_t *mail);

/*
 * Sends a mail that a request can do without: it is dropped when the sender is
 * not ready, which is counted and logged.
 */
NGX_SVC_API void ngx_svc_mail_tell(const ngx_svc_mail_t *mail);

/* Sets the module that sends mails in this worker; NULL: there is none. */
NGX_SVC_API void ngx_svc_mail_listen(const ngx_svc_mail_sender_t *sender);


#endif /* _NGX_SVC_MAIL_H_INCLUDED_ */
