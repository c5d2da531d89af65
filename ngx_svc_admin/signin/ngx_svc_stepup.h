/*
 * A step-up: a session shows a second factor, or in place of one that there is
 * not the password.
 *
 * The first round trip takes an attempt of the session's challenge, under its
 * row's lock, so that there are never more of them, and reads what the attempt
 * is held against; then come the limits, and the method; and a write, which
 * uses up what was shown.
 */

#ifndef _NGX_SVC_STEPUP_H_INCLUDED_
#define _NGX_SVC_STEPUP_H_INCLUDED_


#include "ngx_svc_ceremony.h"
#include "ngx_svc_email_challenge.h"


typedef struct {
    ngx_svc_value_t                challenge;
    ngx_svc_value_t                method;
    ngx_svc_value_t                code;
    ngx_svc_value_t                password;
    ngx_svc_value_t                credential;
} ngx_svc_stepup_body_t;

typedef struct ngx_svc_stepup_s         ngx_svc_stepup_t;
typedef struct ngx_svc_stepup_method_s  ngx_svc_stepup_method_t;


/*
 * take: from a body without "method", or with its name: NGX_OK: it is this one;
 * NGX_DONE: it is not; NGX_DECLINED with sr->error; NGX_ERROR.
 *
 * offered: whether the user has it.
 *
 * proves: that the address is the user's, too: all that a sign-in that waits
 * for its first factor has.
 *
 * open: what it takes to ask for it, and then step->opened(); or NULL: nothing.
 * Returns what goes to ngx_http_finalize_request().
 *
 * other: the method whose code has the same shape, when none is named.
 *
 * options: writes what a page needs for it, as "publicKey"; or NULL: nothing.
 * NGX_OK or NGX_ERROR.
 *
 * verify: NGX_OK; NGX_DECLINED: wrong; NGX_ABORT: sr->error is sent;
 * NGX_DONE: ngx_svc_stepup_verified() will be called from an event of its own,
 * for which it holds a reference of the request; NGX_BUSY: 503; NGX_ERROR.
 *
 * use: of the write, under the user's lock; its first column is NULL, and the
 * tenant unset, when somebody else has used up the same.
 *
 * A lock of the account is nothing to a method that cannot be guessed.
 */

struct ngx_svc_stepup_method_s {
    ngx_str_t                      name;
    ngx_uint_t                     guessed;
    ngx_uint_t                     proves;
    const ngx_svc_pg_statement_t  *use;
    ngx_int_t                    (*take)(ngx_svc_stepup_t *step,
                                         ngx_svc_stepup_body_t *body);
    ngx_uint_t                   (*offered)(ngx_svc_stepup_t *step);
    ngx_int_t                    (*open)(ngx_svc_stepup_t *step);
    const ngx_svc_stepup_method_t *other;
    ngx_int_t                    (*options)(ngx_svc_stepup_t *step,
                                            ngx_svc_json_writer_t *w);
    ngx_int_t                    (*verify)(ngx_svc_stepup_t *step);
};


/* Of the request's pool: the factor comes first, in sr->data. */

struct ngx_svc_stepup_s {
    ngx_svc_factor_t               factor;
    const ngx_svc_stepup_method_t *method;

    /* of the request */

    ngx_str_t                      challenge;   /* its id; no data: any */
    u_char                         challenge_id[NGX_SVC_UUID_LEN];
    ngx_uint_t                     named;       /* the method */
    ngx_str_t                      code;
    cJSON                         *credential;

    /* copies of what has been read, which live as long as the request */

    PGresult                      *tried;       /* id, attempts, expires_at */
    PGresult                      *factors;     /* that are confirmed */
    PGresult                      *codes;
    PGresult                      *passkeys;
    PGresult                      *mail;        /* the code that was mailed */
    ngx_svc_ceremony_own_t         own;         /* of those */
    ngx_uint_t                     over;        /* the challenge is */
    ngx_int_t                    (*opened)(ngx_svc_stepup_t *step);
    ngx_int_t                    (*verdict)(ngx_svc_stepup_t *step,
                                            ngx_int_t rc);

    /* for the method's "use" */

    ngx_str_t                      used;        /* the factor's id, a MAC */
    ngx_str_t                      step;        /* of a TOTP, as text */
    u_char                         used_bytes[NGX_SVC_SHA256_LEN];
    u_char                         step_text[NGX_INT64_LEN];
    ngx_svc_ceremony_shown_t       shown;
};


#define ngx_svc_stepup_param(field)                                           \
    ngx_svc_param_data(ngx_svc_stepup_t, field)


/*
 * ngx_svc_passkey_stepup.c, ngx_svc_totp_stepup.c, ngx_svc_email_stepup.c,
 * ngx_svc_password_stepup.c: rows of the table in ngx_svc_stepup_routes.c, and
 * what it prepares of each.
 */
extern const ngx_svc_stepup_method_t  ngx_svc_passkey_stepup;
extern const ngx_svc_stepup_method_t  ngx_svc_totp_stepup;
extern const ngx_svc_stepup_method_t  ngx_svc_email_stepup;
extern const ngx_svc_stepup_method_t  ngx_svc_recovery_stepup;
extern const ngx_svc_stepup_method_t  ngx_svc_password_stepup;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_passkey;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_passkey_wrong;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_totp;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_email;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_email_mailed;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_email_use;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_email_prove;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_recovery;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_password;


/*
 * What the first round trip reads of the session: the factors that count, the
 * MACs of recovery codes; and the check of the write.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_factors;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_codes;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_check;


/* From an event of the method's own; rc as of verify(), for step->verdict(). */
void ngx_svc_stepup_verified(ngx_svc_stepup_t *step, ngx_int_t rc);

/*
 * ngx_svc_stepup_write.c: the write that follows on what verify() has returned,
 * or the answer.  Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_stepup_verdict(ngx_svc_stepup_t *step, ngx_int_t rc);

/*
 * For a reply: copies what the first round trip has read, beside the attempt,
 * counts the request, and calls next(), as ngx_svc_login_limit_then().
 */
ngx_int_t ngx_svc_stepup_limit(ngx_svc_request_t *sr, PGresult *tried,
    ngx_int_t (*next)(ngx_svc_login_t *login));

/* Whether the session may show that. */
ngx_uint_t ngx_svc_stepup_offers(ngx_svc_stepup_t *step,
    const ngx_svc_stepup_method_t *method);

/*
 * ngx_svc_email_stepup.c: the write of such a sign-in, whose address has been
 * shown, and its reply; and where codes go, as it is shown to whoever knows it.
 */
ngx_int_t ngx_svc_stepup_prove(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_stepup_proved(ngx_svc_request_t *sr);
void ngx_svc_email_stepup_hint(ngx_svc_json_writer_t *w,
    ngx_svc_stepup_t *step);

/* The challenge is over, and with it a session that has waited. */
ngx_int_t ngx_svc_stepup_over(ngx_svc_stepup_t *step);


#endif /* _NGX_SVC_STEPUP_H_INCLUDED_ */
