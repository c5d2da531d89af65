/*
 * Challenges by mail, with a code of six digits and maybe a link: how they are
 * made, stored, mailed and verified.
 *
 * The work and the rows are the same for each address, whether or not it is a
 * user's.
 */

#ifndef _NGX_SVC_EMAIL_CHALLENGE_H_INCLUDED_
#define _NGX_SVC_EMAIL_CHALLENGE_H_INCLUDED_


#include "ngx_svc_login.h"
#include "ngx_svc_mail.h"


/*
 * Each mail has a code.  LINK: it has a link, too.  BOUND: the link works only
 * in the browser that has asked for it.
 */

#define NGX_SVC_EMAIL_CHALLENGE_LINK   0x01
#define NGX_SVC_EMAIL_CHALLENGE_BOUND  0x02


/*
 * ..._turn lets one transaction at a time make a challenge for an address,
 * login->mailed.mac.  ..._tenant finds and sets the tenant of the challenge
 * that is presented.  ..._try takes an attempt, and compares the browser's
 * cookie.  ..._use, in a write, marks the challenge as used; when another
 * request has done so, its id is NULL, and the tenant is unset for the
 * statements after it.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_lock;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_tenant;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_try;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_use;


/*
 * Call these at the start and at the end of a worker: they make and free the
 * keys of codes.  _init_worker() returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_email_challenge_exit_worker(void);

/*
 * Does what ngx_svc_login_prepare() does, for a route that sends a mail: it
 * answers 503 while none can be sent, before anything is counted or looked up.
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
 * Makes the mail from a result that begins with :challenge_mailed: to its user,
 * or to login->asked.email.  The caller sets the mail's kind, and "nobody" to 1
 * when it is to no user.  path is that of the page that the link leads to;
 * NULL: there is no link.  fragment precedes the token in the link.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_mail(ngx_svc_login_t *login, PGresult *res,
    const char *path, const char *fragment, ngx_svc_mail_t *mail);

/*
 * Sends the mail.  Returns NGX_OK; NGX_DECLINED with sr->error set when no mail
 * can be sent just now; NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_send(ngx_svc_login_t *login,
    const ngx_svc_mail_t *mail);

/* Sets sr->error to 503: no mail can be sent.  Returns NGX_DECLINED. */
ngx_int_t ngx_svc_email_challenge_away(ngx_svc_request_t *sr);

/*
 * For a reply: sends 202 with the challenge's id and expiry from the row, and
 * the cookie when the challenge is bound to the browser.
 */
ngx_int_t ngx_svc_email_challenge_accepted(ngx_svc_login_t *login,
    PGresult *res);

/*
 * For a public route with these members: takes the code or the token, as
 * ngx_svc_email_challenge_take(), the client, and the browser's session.
 * Returns as that function.
 */
extern const ngx_svc_member_t  ngx_svc_email_presented_members[];
ngx_int_t ngx_svc_email_challenge_presented(ngx_svc_login_t *login,
    const char *kind);

/*
 * Takes what is presented into login->mailed: an id and a code, or a token.  id
 * is NULL where the session tells which challenge it is.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_take(ngx_svc_login_t *login, const char *kind,
    const ngx_svc_value_t *id, const ngx_svc_value_t *code,
    const ngx_svc_value_t *token);

/*
 * Verifies what is presented by a row of :challenge_tried, and sets
 * login->mailed.id.  Returns NGX_OK; NGX_DECLINED with sr->error set when the
 * code is wrong; NGX_ABORT with sr->error set when the challenge is over, or
 * the link is another browser's; NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_verify(ngx_svc_login_t *login, PGresult *res);

/* Sets sr->error to that of a challenge that is over.  Returns NGX_DECLINED. */
ngx_int_t ngx_svc_email_challenge_over(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_EMAIL_CHALLENGE_H_INCLUDED_ */
