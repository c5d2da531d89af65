/*
 * A method: a way to prove who one is.
 *
 * Each method is one constant object in a folder of its own, method_*, and one
 * row of ngx_svc_methods[].  Whatever depends on the methods that there are
 * goes through that table: which routes there are, what GET /v1/auth/options
 * offers, how accounts begin, step-ups, and what tokens say of a sign-in.
 */

#ifndef _NGX_SVC_METHOD_H_INCLUDED_
#define _NGX_SVC_METHOD_H_INCLUDED_


#include "ngx_svc_account.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_stepup.h"


/*
 * What a proof is together with others, for the "amr" and the "acr" of a token;
 * 0: one factor, whatever else has been presented.
 */

typedef enum {
    NGX_SVC_METHOD_PASSWORD = 0x01,     /* or what another server has asked for
                                           in its place */
    NGX_SVC_METHOD_CODE = 0x02,         /* a password and a code are two
                                           factors; two codes are one */
    NGX_SVC_METHOD_PASSKEY = 0x04       /* it is two factors itself */
} ngx_svc_method_proof_e;


/*
 * How GET /v1/auth/options tells whether the tenant offers it.  The answer is
 * kept for all who ask the same way, so that it must not depend on who asks.
 */

typedef struct {
    const char                    *name;        /* a member of "methods" */

    /*
     * Tells whether the tenant has switched it on and the server can do it, by
     * the row of ngx_svc_sql_signin_options; NULL: each tenant has it.
     */
    ngx_uint_t                   (*offered)(ngx_svc_request_t *sr,
                                            PGresult *res);
} ngx_svc_method_option_t;


struct ngx_svc_method_s {
    ngx_str_t                      name;        /* in svc.session.methods */
    ngx_svc_method_proof_e         proof;
    const char                    *amr;         /* its value of RFC 8176; NULL:
                                                   "proof" has some */
    const ngx_svc_login_method_t  *login;       /* NULL: no session begins
                                                   with it */
    const ngx_svc_account_method_t *account;    /* NULL: no account begins
                                                   with it; one that does
                                                   needs "login" */
    const ngx_svc_stepup_method_t *stepup;      /* NULL: no session presents
                                                   it */
    const ngx_svc_method_option_t *option;      /* NULL: nothing is told */
    ngx_svc_resources_t           *routes;      /* or NULL */
    ngx_svc_resources_t           *mail_routes; /* where svc_mail is on; or
                                                   NULL */

    /* A worker's start, NGX_OK or NGX_ERROR, and its end; or NULL. */
    ngx_int_t                    (*init_worker)(const ngx_svc_keys_t *keys);
    void                         (*exit_worker)(void);
};


#endif /* _NGX_SVC_METHOD_H_INCLUDED_ */
