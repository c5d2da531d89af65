/*
 * The account of a new user: the method that it begins with, how it is made,
 * and how the user is signed in.
 */

#ifndef _NGX_SVC_ACCOUNT_H_INCLUDED_
#define _NGX_SVC_ACCOUNT_H_INCLUDED_


#include "ngx_svc_login_request.h"


typedef struct ngx_svc_account_s  ngx_svc_account_t;

typedef ngx_int_t (*ngx_svc_account_pt)(ngx_svc_account_t *account);


/* How an account begins with a method of ngx_svc_method.h. */

typedef struct {
    ngx_svc_member_t               member;      /* of a body: the proof */

    /*
     * Takes the proof, the value of that member.  Returns NGX_OK; NGX_DECLINED
     * with sr->error set; NGX_ERROR.
     */
    ngx_int_t                    (*take)(ngx_svc_account_t *account,
                                         const ngx_svc_value_t *proof);

    /*
     * For a reply: checks the proof, and makes account->stored of it.  The row
     * in res has the tenant's policy for passwords, and who the user will be.
     * Then calls account->made(), or from an event ngx_svc_account_made().
     * Returns what a reply returns.
     */
    ngx_int_t                    (*make)(ngx_svc_account_t *account,
                                         PGresult *res);

    /*
     * Stores account->stored, behind the statement that stores the user, and
     * that unsets the tenant when there is none.
     */
    const ngx_svc_pg_statement_t  *store;
} ngx_svc_account_method_t;


/* sr->data, in the request's pool.  It begins with the sign-in. */

struct ngx_svc_account_s {
    ngx_svc_login_t            login;
    const ngx_svc_method_t    *method;
    ngx_str_t                  display_name;    /* no data: none */
    ngx_str_t                  stored;          /* what the method stores */
    ngx_svc_account_pt         made;
    ngx_uint_t                 proved;      /* 1: a mail has proved the
                                               address */
};


#define ngx_svc_account_param(field)                                          \
    ngx_svc_param_data(ngx_svc_account_t, field)


/* Records in the new session that its user has proved the address. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_account_proved;

/*
 * For a reply: makes the id of the new user, and what the method stores
 * (ngx_svc_account_method_t).  Then calls made(), which returns what a reply
 * returns.
 */
ngx_int_t ngx_svc_account_make(ngx_svc_account_t *account, PGresult *res,
    ngx_svc_account_pt made);

/*
 * Called from an event of the method's own, when account->stored is made: rc is
 * NGX_OK; NGX_DECLINED with sr->error set; NGX_ERROR.  Calls account->made(),
 * or answers, and finalizes the request.
 */
void ngx_svc_account_made(ngx_svc_account_t *account, ngx_int_t rc);

/* For a reply: answers sr->error for NGX_DECLINED, or 500 for NGX_ERROR. */
ngx_int_t ngx_svc_account_failed(ngx_svc_request_t *sr, ngx_int_t rc);

/*
 * For a reply: sets the stage of the new user's session by the access policy
 * alone.  There is no risk to read, as nothing is known of a new user.
 */
void ngx_svc_account_stage(ngx_svc_login_t *login);

/*
 * For ngx_svc_request_again(), in the write pool: adds the statements of a list
 * that a NULL ends, the last of which stores the user, that of the method, and
 * those of a sign-in.  The op's hook is signed_in() when the sign-in is
 * complete, or else committed().  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_account_write(ngx_svc_account_t *account,
    const ngx_svc_pg_statement_t *const *list,
    ngx_svc_pg_committed_pt committed, ngx_svc_pg_committed_pt signed_in);

/*
 * For these hooks: emit user.created for each row, and
 * ngx_svc_account_signed_in() emits user.login, too.  store is the last
 * statement of the list.
 */
void ngx_svc_account_committed(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *store);
void ngx_svc_account_signed_in(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *store);


#endif /* _NGX_SVC_ACCOUNT_H_INCLUDED_ */
