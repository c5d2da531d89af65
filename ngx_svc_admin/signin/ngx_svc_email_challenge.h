/*
 * Codes of six digits, and links, that come by mail and are shown: what is kept
 * of them, how they are sent, and what they are held against.
 *
 * Whoever an address belongs to, the work and the rows are the same.
 */

#ifndef _NGX_SVC_EMAIL_CHALLENGE_H_INCLUDED_
#define _NGX_SVC_EMAIL_CHALLENGE_H_INCLUDED_


#include "ngx_svc_login.h"
#include "ngx_svc_mail.h"


/* What there is to show: the code alone, a link too, in that browser alone. */

#define NGX_SVC_EMAIL_CHALLENGE_LINK   0x01
#define NGX_SVC_EMAIL_CHALLENGE_BOUND  0x02


/*
 * One at a time of login->mailed.mac makes a challenge; the tenant of one that
 * is shown, see ngx_svc_sql_signin_tenant; a try of it in the browser whose
 * cookie the request has; for a write: it is used up, and without a row, when
 * somebody else has been faster, there is no tenant for the rest.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_turn;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_tenant;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_try;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_use;


/* A worker's start and end: the keys of codes.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_email_challenge_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_email_challenge_exit_worker(void);

/*
 * As ngx_svc_login_prepare(), of a route that mails: while none can be sent it
 * is 503, before anything is counted or looked up.
 */
ngx_int_t ngx_svc_email_challenge_prepare(ngx_svc_request_t *sr, size_t size,
    const ngx_svc_login_method_t *method,
    ngx_int_t (*take)(ngx_svc_login_t *login));

/*
 * Makes login->mailed, a challenge of that kind, for login->asked.mac unless
 * mailed.mac is set.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_new(ngx_svc_login_t *login,
    const char *kind, ngx_uint_t flags);

/*
 * Makes the mail from the row of a statement that has made a challenge, such as
 * ngx_svc_sql_passwordless_open: to its user, or to login->asked.email.  The
 * caller sets the mail's kind, and "nobody" to 1 when it is to no user.  path:
 * of the page that the link leads to, or NULL; fragment: what precedes the
 * token in the link.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_mail(ngx_svc_login_t *login, PGresult *res,
    const char *path, const char *fragment, ngx_svc_mail_t *mail);

/*
 * Sends it.  NGX_OK; NGX_DECLINED with sr->error: none can be sent just now;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_send(ngx_svc_login_t *login,
    const ngx_svc_mail_t *mail);

/* That error: NGX_DECLINED. */
ngx_int_t ngx_svc_email_challenge_away(ngx_svc_request_t *sr);

/*
 * For a reply: 202, with the id and the end of the row, and the browser's
 * cookie when the challenge is bound to it.
 */
ngx_int_t ngx_svc_email_challenge_accepted(ngx_svc_login_t *login,
    PGresult *res);

/*
 * For a public route with these members: takes what is shown, where it comes
 * from, and the session that the browser has.  As below.
 */
extern const ngx_svc_member_t  ngx_svc_email_shown_members[];
ngx_int_t ngx_svc_email_challenge_shown(ngx_svc_login_t *login,
    const char *kind);

/*
 * Takes what is shown into login->mailed: an id and a code, or a token; where
 * the session says which one it is there is no id, NULL.  NGX_OK; NGX_DECLINED
 * with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_take(ngx_svc_login_t *login, const char *kind,
    const ngx_svc_value_t *id, const ngx_svc_value_t *code,
    const ngx_svc_value_t *token);

/*
 * Holds it against the row of a challenge that is tried, whose id
 * login->mailed then has.  NGX_OK; NGX_DECLINED with sr->error: the code is
 * wrong; NGX_ABORT with sr->error: it is over, or a link of another browser;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_verify(ngx_svc_login_t *login, PGresult *res);

/* sr->error of one that is over: NGX_DECLINED. */
ngx_int_t ngx_svc_email_challenge_over(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_EMAIL_CHALLENGE_H_INCLUDED_ */
