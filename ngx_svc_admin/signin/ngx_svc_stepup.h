/*
 * A step-up: a session presents a second factor, or, when its user has none,
 * the password.
 *
 * The first round trip takes an attempt of the session's challenge, under its
 * row's lock, so that there are never too many, and reads what the attempt is
 * compared with.  The limits answer next, and then the method verifies.  A
 * write follows, which uses up what was presented.
 */

#ifndef _NGX_SVC_STEPUP_H_INCLUDED_
#define _NGX_SVC_STEPUP_H_INCLUDED_


#include "ngx_svc_factor.h"


#define NGX_SVC_STEPUP_USE  5       /* strings that a "use" binds */


typedef struct {
    ngx_svc_value_t                challenge;
    ngx_svc_value_t                method;
    ngx_svc_value_t                code;
    ngx_svc_value_t                password;
    ngx_svc_value_t                credential;
} ngx_svc_stepup_body_t;

typedef struct ngx_svc_stepup_s  ngx_svc_stepup_t;


/* How a session presents a method of ngx_svc_method.h. */

typedef struct {

    /* 1: it can be guessed: a lock of the account is a lock of it. */
    ngx_uint_t                     guessed;

    /* 1: it is no second factor: it stands in for one while there is none. */
    ngx_uint_t                     first;

    /*
     * 1: its code is six digits.  A code of a request that names no method is
     * tried with each of these that the user has.
     */
    ngx_uint_t                     six_digits;

    /* What the first round trip reads for it; or NULL. */
    const ngx_svc_pg_statement_t  *read;

    /*
     * The write, under the user's lock.  When another request has used up the
     * same proof its first column is NULL, and the tenant is unset.
     */
    const ngx_svc_pg_statement_t  *use;

    /* What a failure writes; NULL: ngx_svc_sql_mfa_failure. */
    const ngx_svc_pg_statement_t  *wrong;

    /*
     * Tells whether a challenge can be opened now: NGX_OK, or NGX_DECLINED with
     * sr->error set; or NULL.
     */
    ngx_int_t                    (*ready)(ngx_svc_request_t *sr);

    /*
     * Takes its proof from a body that has no "method", or this one.  Returns
     * NGX_OK; NGX_DONE when the proof is another method's; NGX_DECLINED with
     * sr->error set; NGX_ERROR.
     */
    ngx_int_t                    (*take)(ngx_svc_stepup_t *step,
                                         ngx_svc_stepup_body_t *body);

    /* Tells whether the user has it. */
    ngx_uint_t                   (*offered)(ngx_svc_stepup_t *step);

    /*
     * Prepares a challenge of it, as a mail does, and then calls
     * step->opened(); or NULL.  Returns what goes to
     * ngx_http_finalize_request().
     */
    ngx_int_t                    (*open)(ngx_svc_stepup_t *step);

    /*
     * Writes its members of a challenge, whether or not it is the challenge's
     * method; or NULL.  Returns NGX_OK or NGX_ERROR.
     */
    ngx_int_t                    (*members)(ngx_svc_stepup_t *step,
                                            ngx_svc_json_writer_t *w);

    /*
     * Returns NGX_OK; NGX_DECLINED: the proof is wrong; NGX_ABORT: sr->error is
     * sent; NGX_DONE: an event calls ngx_svc_stepup_verified(), and the method
     * holds a reference of the request until then; NGX_BUSY: 503; NGX_ERROR.
     */
    ngx_int_t                    (*verify)(ngx_svc_stepup_t *step);

    /*
     * The write that proves the user's address, and its reply, for a sign-in
     * that waits for its first factor; or NULL: the method does not prove it.
     */
    ngx_int_t                    (*prove)(ngx_svc_request_t *sr);
    ngx_int_t                    (*proved)(ngx_svc_request_t *sr);
} ngx_svc_stepup_method_t;


/* What a step-up has of one method; both are of the request's pool. */

typedef struct {
    const ngx_svc_method_t        *method;
    PGresult                      *res;         /* of "read"; or NULL */
    void                          *ctx;         /* the method's own; or NULL */
} ngx_svc_stepup_part_t;


/* sr->data, of the request's pool. */

struct ngx_svc_stepup_s {
    ngx_svc_factor_t               factor;      /* first */
    const ngx_svc_method_t        *method;      /* NULL: none yet */

    /* in the order in which they are offered; a method of NULL ends them */

    ngx_svc_stepup_part_t         *parts;

    /* of the request */

    ngx_str_t                      challenge;   /* its id; no data: any */
    u_char                         challenge_id[NGX_SVC_UUID_LEN];
    ngx_uint_t                     named;       /* 1: "method" is there */
    ngx_str_t                      code;

    /* copies of what was read, of the request's pool */

    PGresult                      *tried;       /* :stepup_tried */
    PGresult                      *factors;     /* that are confirmed */
    ngx_uint_t                     over;        /* 1: the challenge is over */

    ngx_int_t                    (*opened)(ngx_svc_stepup_t *step);
    ngx_int_t                    (*verdict)(ngx_svc_stepup_t *step,
                                            ngx_int_t rc);

    /* what the method's "use" binds; use_bytes may hold the first of them */

    ngx_str_t                      use[NGX_SVC_STEPUP_USE];
    u_char                         use_bytes[NGX_SVC_SHA256_LEN];
};


#define ngx_svc_stepup_param(field)                                           \
    ngx_svc_param_data(ngx_svc_stepup_t, field)


/* What the first round trip reads of the factors that count. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_stepup_factors;


/* What the step-up has of that method, which is one of its parts. */
ngx_svc_stepup_part_t *ngx_svc_stepup_part(ngx_svc_stepup_t *step,
    const ngx_svc_stepup_method_t *stepup);

/*
 * A method's own struct of size bytes, of the request's pool, which is made,
 * zeroed, when it is asked for first.  NULL when memory runs out.
 */
void *ngx_svc_stepup_ctx(ngx_svc_stepup_t *step,
    const ngx_svc_stepup_method_t *stepup, size_t size);

/*
 * Called from an event of the method's own; rc is as of verify().  Calls
 * step->verdict(), and finalizes the request.
 */
void ngx_svc_stepup_verified(ngx_svc_stepup_t *step, ngx_int_t rc);

/*
 * For a reply: copies what the first round trip has read, counts the request,
 * and calls next() as ngx_svc_login_limit_then() does.  tried: the result of
 * the statement that took the attempt.
 */
ngx_int_t ngx_svc_stepup_limit(ngx_svc_request_t *sr, PGresult *tried,
    ngx_int_t (*next)(ngx_svc_login_t *login));

/* Tells whether the session may present that method. */
ngx_uint_t ngx_svc_stepup_offers(ngx_svc_stepup_t *step,
    const ngx_svc_stepup_method_t *stepup);

/*
 * Answers when the challenge is over; a session that has waited for it ends.
 * Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_stepup_over(ngx_svc_stepup_t *step);


#endif /* _NGX_SVC_STEPUP_H_INCLUDED_ */
