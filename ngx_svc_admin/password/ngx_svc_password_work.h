/*
 * What a thread does with one password.
 */

#ifndef _NGX_SVC_PASSWORD_WORK_H_INCLUDED_
#define _NGX_SVC_PASSWORD_WORK_H_INCLUDED_


#include "ngx_svc_phc.h"


/* When a new string is made of the password. */

typedef enum {
    NGX_SVC_PASSWORD_KEEP = 0,  /* never */
    NGX_SVC_PASSWORD_RENEW,     /* the first string matches, and is outdated */
    NGX_SVC_PASSWORD_NEW        /* none matches */
} ngx_svc_password_make_e;


typedef struct {
    ngx_svc_phc_cost_t        cost;         /* of new strings, and dummies */
    ngx_str_t                 password;     /* normalized */

    /*
     * Verified in order up to the one that matches.  One that cannot be, since
     * ngx_svc_phc_parse() refuses it, costs a hash of the configured cost and
     * does not match.
     */
    ngx_str_t                *strings;
    ngx_uint_t                nstrings;

    /* No string, but the time of one: of a user that there is not. */
    ngx_uint_t                dummy;

    /*
     * Or NULL; called first, in the thread: whether this may be a password at
     * all.  Unless it returns NGX_OK nothing else is done.
     */
    ngx_int_t               (*check)(void *data);
    void                     *check_data;

    ngx_svc_password_make_e   make;

    /* Results. */

    ngx_int_t                 rc;           /* NGX_OK; NGX_ERROR: no memory */
    ngx_int_t                 checked;      /* what check() returned, or OK */
    ngx_int_t                 matched;      /* index in strings; -1: none */
    ngx_int_t                 refused;      /* the first such; -1: none */
    size_t                    made_len;     /* 0: none was made */
    u_char                    made[NGX_SVC_PHC_LEN];
} ngx_svc_password_work_t;


/*
 * May be called in a thread.  With rc NGX_ERROR the other results say nothing.
 * That RENEW finds no memory for a new string is no error: none is made.
 */
void ngx_svc_password_work(ngx_svc_password_work_t *work);

/*
 * How many hashes it takes at the most, but for one that is renewed, which is
 * rare: what is a user's and what is a dummy count the same.
 */
ngx_uint_t ngx_svc_password_hashes(const ngx_svc_password_work_t *work);


#endif /* _NGX_SVC_PASSWORD_WORK_H_INCLUDED_ */
