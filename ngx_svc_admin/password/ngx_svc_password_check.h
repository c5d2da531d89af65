/*
 * The rules of a policy for a new password, except for those that need the old
 * ones: history, and that it differs from the current one.
 */

#ifndef _NGX_SVC_PASSWORD_CHECK_H_INCLUDED_
#define _NGX_SVC_PASSWORD_CHECK_H_INCLUDED_


#include "ngx_svc_breached.h"
#include "ngx_svc_password_context.h"


#define NGX_SVC_PASSWORD_REASON  256    /* bytes */


/* The policy of one user; members are named as the columns are. */

typedef struct {
    ngx_uint_t  min_length;         /* characters */
    ngx_uint_t  reject_breached;    /* 1 or 0, as those below */
    ngx_uint_t  reject_contextual;
    ngx_uint_t  require_lower;
    ngx_uint_t  require_upper;
    ngx_uint_t  require_digit;
    ngx_uint_t  require_symbol;
    ngx_uint_t  history_count;      /* not checked here, as the next one */
    ngx_uint_t  max_age_days;
} ngx_svc_password_policy_t;

/*
 * A rule's name as the API has it, and a sentence: "minLength: ...".  There is
 * also "maxLength", which holds for all passwords.
 */

typedef struct {
    size_t      len;
    u_char      data[NGX_SVC_PASSWORD_REASON];
} ngx_svc_password_reason_t;


/*
 * Returns NGX_OK when passwords can be checked here; NGX_ERROR: libc has no
 * C.UTF-8, and ngx_errno says why.
 */
ngx_int_t ngx_svc_password_check_conf(void);

/*
 * Makes what the checks of this process need, before there are threads.
 * Returns NGX_OK, or NGX_ERROR as above.
 */
ngx_int_t ngx_svc_password_check_init(void);

/* Frees what was made, if anything, when there are no more threads. */
void ngx_svc_password_check_exit(void);

/*
 * Checks a password of 1 or more bytes, which is normalised, against the
 * policy, n words that are known about its owner, and the file of breached
 * passwords, which may be NULL.  Pure, for a thread: all that it reads must
 * last until it returns, and it keeps no copy of the password.
 *
 * Returns NGX_OK; NGX_DECLINED: *reason has the first rule that the password
 * breaks, in the order length, lower, upper, digit, symbol, contextual,
 * breached; NGX_ERROR: it is not UTF-8, which is the caller's fault.
 */
ngx_int_t ngx_svc_password_check(const ngx_str_t *password,
    const ngx_svc_password_policy_t *policy,
    const ngx_svc_password_word_t *words, ngx_uint_t n,
    const ngx_svc_breached_t *breached, ngx_svc_password_reason_t *reason);


#endif /* _NGX_SVC_PASSWORD_CHECK_H_INCLUDED_ */
