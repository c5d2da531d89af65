/*
 * Mails to users, for whoever sends them.
 */

#ifndef _NGX_SVC_MAIL_H_INCLUDED_
#define _NGX_SVC_MAIL_H_INCLUDED_


#include "ngx_svc_common.h"


typedef enum {
    NGX_SVC_MAIL_SIGN_IN = 0,           /* a code and a link to sign in with */
    NGX_SVC_MAIL_VERIFY,                /* an address is to be verified */
    NGX_SVC_MAIL_SIGNUP,                /* the same, before there is a user */
    NGX_SVC_MAIL_EXISTS,                /* signed up with a user's address */
    NGX_SVC_MAIL_RESET,                 /* a link to set a password */
    NGX_SVC_MAIL_INVITE,
    NGX_SVC_MAIL_MFA,                   /* a code, as a second factor */
    NGX_SVC_MAIL_CHANGED,               /* how a user signs in has changed */
    NGX_SVC_MAIL_NEW_DEVICE,
    NGX_SVC_MAIL_LOCKED,
    NGX_SVC_MAIL_KINDS
} ngx_svc_mail_kind_e;


/* What may be empty is left out of the mail. */

typedef struct {
    ngx_svc_mail_kind_e   kind;
    ngx_uint_t            nobody;       /* 1: void, does the same work and is
                                           sent to nobody */
    time_t                not_after;    /* it is of no use later */
    ngx_str_t             tenant;       /* its UUID, as text */
    ngx_str_t             to;           /* a checked e-mail address */
    ngx_str_t             name;         /* whose it is; may be empty */
    ngx_str_t             locale;       /* "de", "de-AT"; may be empty */
    ngx_str_t             tenant_name;
    ngx_str_t             primary;      /* "#rrggbb"; may be empty */
    ngx_str_t             logo_url;     /* may be empty */
    ngx_str_t             code;         /* those that the kind has */
    ngx_str_t             link;
    ngx_str_t             ip;           /* may be empty */
    ngx_str_t             country;      /* may be empty */
} ngx_svc_mail_t;


/*
 * ready: as ngx_svc_mail_ready(); send: as ngx_svc_mail_send(); drop: counts
 * and logs one that is not sent.
 */

typedef struct {
    ngx_uint_t          (*ready)(void);
    ngx_int_t           (*send)(const ngx_svc_mail_t *mail);
    void                (*drop)(const char *why);
} ngx_svc_mail_sender_t;


/* "sign_in": as templates and the log have it. */
NGX_SVC_API const ngx_str_t *ngx_svc_mail_kind(ngx_svc_mail_kind_e kind);

/*
 * 1: a mail that is sent now is on its way.  A route that must mail asks before
 * it looks anything up, and answers 503 otherwise, whoever it would be for.
 */
NGX_SVC_API ngx_uint_t ngx_svc_mail_ready(void);

/*
 * Behind a commit: never waits, keeps nothing of the mail.  NGX_OK: it is on
 * its way; what Redis then has no room for is counted and logged.
 * NGX_DECLINED: not ready, or not an address; NGX_ERROR: memory, or OpenSSL
 * fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_mail_send(const ngx_svc_mail_t *mail);

/*
 * Likewise, for who does without it: one that is not ready is dropped, which is
 * counted and logged.
 */
NGX_SVC_API void ngx_svc_mail_tell(const ngx_svc_mail_t *mail);

/* Who sends, in this worker; NULL: nobody. */
NGX_SVC_API void ngx_svc_mail_listen(const ngx_svc_mail_sender_t *sender);


#endif /* _NGX_SVC_MAIL_H_INCLUDED_ */
