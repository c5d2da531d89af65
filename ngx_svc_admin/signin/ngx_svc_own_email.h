/*
 * The address of a session's user: codes and links that verify it, or another
 * one in its place.
 */

#ifndef _NGX_SVC_OWN_EMAIL_H_INCLUDED_
#define _NGX_SVC_OWN_EMAIL_H_INCLUDED_


#include "ngx_svc_email.h"
#include "ngx_svc_email_challenge.h"
#include "ngx_svc_factor.h"


#define NGX_SVC_OWN_EMAIL_TOKEN  128    /* bytes, at most */
#define NGX_SVC_OWN_EMAIL_CODE   16     /* bytes, at most */


/* The body of a request that presents a code, or the token of a link. */

typedef struct {
    ngx_svc_value_t            code;
    ngx_svc_value_t            token;
} ngx_svc_own_email_body_t;

typedef struct ngx_svc_own_email_s  ngx_svc_own_email_t;

/*
 * right() is called when what is presented is right, before the write; or NULL.
 * It returns NGX_OK; NGX_DECLINED with sr->error set; NGX_ERROR.
 */

typedef struct {
    const char                *kind;
    ngx_int_t                (*right)(ngx_svc_own_email_t *own);
    ngx_int_t                (*write)(ngx_svc_request_t *sr);
    ngx_int_t                (*written)(ngx_svc_request_t *sr);
} ngx_svc_own_email_kind_t;


/* sr->data, in the request's pool.  It begins with the factor. */

struct ngx_svc_own_email_s {
    ngx_svc_factor_t           factor;
    const ngx_svc_own_email_kind_t  *kind;
    PGresult                  *tried;       /* copy of the try's result */
    ngx_str_t                  address;     /* the new one; or none */
};

#define ngx_svc_own_email_param(field)                                        \
    ngx_svc_param_data(ngx_svc_own_email_t, field)


extern const ngx_svc_member_t  ngx_svc_own_email_members[];


/* Makes a challenge of the session for its user's address, as it was read. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_own_email_open;

/*
 * Takes an attempt of the challenge of a code, which must be the session's, or
 * of a link; its result is for ngx_svc_email_challenge_verify().
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_own_email_try;


/*
 * For a check of a route that sends a mail: makes sr->data.  Returns NULL with
 * sr->error set when no mail can be sent just now, or without when memory runs
 * out.
 */
ngx_svc_own_email_t *ngx_svc_own_email_create(ngx_svc_request_t *sr);

/*
 * For the reply to a statement that has made a challenge, with its result:
 * sends 202, and a mail of that kind, whose link leads to the page at path, and
 * has the token after the fragment.
 */
ngx_int_t ngx_svc_own_email_mail(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_mail_kind_e kind, const char *path, const char *fragment);

/*
 * For a check: takes the code or the token.  Returns NGX_OK; NGX_DECLINED with
 * sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_own_email_take(ngx_svc_request_t *sr,
    const ngx_svc_own_email_kind_t *kind, ngx_svc_own_email_body_t *body);

/* For a reply: counts the request, verifies what it presents, and writes. */
ngx_int_t ngx_svc_own_email_presented(ngx_svc_request_t *sr);

/*
 * For the reply to a write of ngx_svc_sql_factor_check, then
 * ngx_svc_sql_email_challenge_use, and then a statement that stores, whose
 * result "stored" is: tells whether it is stored.  Returns NGX_OK, or
 * NGX_DECLINED with sr->error set.
 */
ngx_int_t ngx_svc_own_email_done(ngx_svc_request_t *sr, PGresult *stored);


#endif /* _NGX_SVC_OWN_EMAIL_H_INCLUDED_ */
