/*
 * The work of a thread on one password.
 */

#ifndef _NGX_SVC_PASSWORD_WORK_H_INCLUDED_
#define _NGX_SVC_PASSWORD_WORK_H_INCLUDED_


#include "ngx_svc_phc.h"


/* When a new string is made from the password. */

typedef enum {
    NGX_SVC_PASSWORD_KEEP = 0,  /* never */
    NGX_SVC_PASSWORD_RENEW,     /* the first string matches, and is outdated */
    NGX_SVC_PASSWORD_NEW        /* no string matches */
} ngx_svc_password_make_e;


typedef struct {
    ngx_svc_phc_cost_t        cost;         /* of new strings, and dummies */
    ngx_str_t                 password;     /* normalized */

    /*
     * Verified in order up to the one that matches.  A string that
     * ngx_svc_phc_parse() refuses cannot be verified: it costs a hash of the
     * configured cost, and does not match.
     */
    ngx_str_t                *strings;
    ngx_uint_t                nstrings;

    /* 1: no user, no strings, but the time that one takes. */
    ngx_uint_t                dummy;

    /*
     * Called first, in the thread: checks whether this may be a password at
     * all.  Unless it returns NGX_OK nothing else is done.  Or NULL.
     */
    ngx_int_t               (*check)(void *data);
    void                     *check_data;

    ngx_svc_password_make_e   make;

    /* The results. */

    ngx_int_t                 rc;           /* NGX_OK; NGX_ERROR: no memory */
    ngx_int_t                 checked;      /* check()'s result, or NGX_OK */
    ngx_int_t                 matched;      /* index in strings; -1: none */
    ngx_int_t                 refused;      /* first string refused; -1: none */
    size_t                    made_len;     /* 0: none was made */
    u_char                    made[NGX_SVC_PHC_LEN];
} ngx_svc_password_work_t;


/*
 * Does the work; may be called in a thread.  When rc is NGX_ERROR the other
 * results mean nothing.  If there is no memory to renew a string, no string is
 * made, and that is no error.
 */
void ngx_svc_password_work(ngx_svc_password_work_t *work);

/*
 * Returns how many hashes the work takes at most, without a renewed string,
 * which is rare: a user's string and a dummy count the same.
 */
ngx_uint_t ngx_svc_password_hashes(const ngx_svc_password_work_t *work);


#endif /* _NGX_SVC_PASSWORD_WORK_H_INCLUDED_ */
