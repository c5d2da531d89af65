/*
 * A session's own address: codes and links that verify it, or another one.
 */

#ifndef _NGX_SVC_OWN_EMAIL_H_INCLUDED_
#define _NGX_SVC_OWN_EMAIL_H_INCLUDED_


#include "ngx_svc_email.h"
#include "ngx_svc_email_challenge.h"
#include "ngx_svc_factor.h"


#define NGX_SVC_OWN_EMAIL_TOKEN  128    /* bytes of what is shown, at most */
#define NGX_SVC_OWN_EMAIL_CODE   16


/* What is shown. */

typedef struct {
    ngx_svc_value_t            code;
    ngx_svc_value_t            token;
} ngx_svc_own_email_body_t;

typedef struct ngx_svc_own_email_s  ngx_svc_own_email_t;

/* right: of what is shown, before the write.  NGX_OK or NGX_ERROR; or NULL. */

typedef struct {
    const char                *kind;
    ngx_int_t                (*right)(ngx_svc_own_email_t *own);
    ngx_int_t                (*write)(ngx_svc_request_t *sr);
    ngx_int_t                (*written)(ngx_svc_request_t *sr);
} ngx_svc_own_email_kind_t;


/* Of the request's pool: the factor comes first, in sr->data. */

struct ngx_svc_own_email_s {
    ngx_svc_factor_t           factor;
    const ngx_svc_own_email_kind_t  *kind;
    PGresult                  *tried;       /* a copy */
    ngx_str_t                  address;     /* another one; or none */
};

#define ngx_svc_own_email_param(field)                                        \
    ngx_svc_param_data(ngx_svc_own_email_t, field)


extern const ngx_svc_member_t  ngx_svc_own_email_members[];


/*
 * Opens a challenge for the user's own address, as it was read, of the session
 * that asks.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_own_email_open;

/*
 * The try of what a session shows, a code of its own, or the token of a link;
 * for ngx_svc_email_challenge_verify().
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_own_email_try;


/*
 * For a check of what mails: makes sr->data.  NULL with sr->error: no mail can
 * be sent just now; or without: memory.
 */
ngx_svc_own_email_t *ngx_svc_own_email_create(ngx_svc_request_t *sr);

/*
 * For the reply to what has opened a challenge, whose result it is: sends a
 * mail of that kind, with a link to a page, with the token behind the fragment,
 * and 202.
 */
ngx_int_t ngx_svc_own_email_mail(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_mail_kind_e kind, const char *path, const char *fragment);

/* For a check of what is shown.  NGX_OK; NGX_DECLINED; NGX_ERROR. */
ngx_int_t ngx_svc_own_email_take(ngx_svc_request_t *sr,
    const ngx_svc_own_email_kind_t *kind, ngx_svc_own_email_body_t *body);

/* For a reply: counts it, holds it against what there is, and writes. */
ngx_int_t ngx_svc_own_email_shown(ngx_svc_request_t *sr);

/*
 * For the reply to the write, which has ngx_svc_sql_factor_check, then
 * ngx_svc_sql_email_challenge_use, and then what stores, whose result it is:
 * whether it is done.  NGX_OK; NGX_DECLINED with sr->error.
 */
ngx_int_t ngx_svc_own_email_done(ngx_svc_request_t *sr, PGresult *stored);


#endif /* _NGX_SVC_OWN_EMAIL_H_INCLUDED_ */
