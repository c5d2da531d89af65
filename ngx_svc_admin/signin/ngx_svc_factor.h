/*
 * Second factors of the user of a session: what is read before they change, and
 * what is written when one is added, of whichever type.
 *
 * Each type has a statement of its own that stores and confirms the factor;
 * what is written after that is the same for all types.
 */

#ifndef _NGX_SVC_FACTOR_H_INCLUDED_
#define _NGX_SVC_FACTOR_H_INCLUDED_


#include "ngx_svc_login.h"
#include "ngx_svc_recovery.h"


#define NGX_SVC_FACTORS       20        /* of a user, at most */
#define NGX_SVC_FACTOR_NAME   64        /* characters */

/* Keys that are derived from those of svc_key_file. */

typedef struct {
    ngx_uint_t                 n;
    const ngx_svc_key_t       *first;
    u_char                     keys[NGX_SVC_KEYS][NGX_SVC_KEY_LEN];
} ngx_svc_factor_keys_t;


/* sr->data, in the request's pool.  It begins with the sign-in. */

typedef struct ngx_svc_factor_s  ngx_svc_factor_t;

struct ngx_svc_factor_s {
    ngx_svc_login_t            login;
    ngx_str_t                  id;          /* 16 bytes */
    ngx_str_t                  method;      /* "totp", "passkey" */
    ngx_uint_t                 reauth;      /* 1: it is no second factor */
    ngx_str_t                  more;        /* more methods: "{hwk}"; or none */
    ngx_uint_t                 status;      /* HTTP status of the answer */

    /*
     * Sets sr->error by the result of "store", when that has unset the tenant
     * instead of storing the factor.
     */
    void                     (*refused)(ngx_svc_request_t *sr, PGresult *res);

    /* what has been read */

    ngx_str_t                  email;
    ngx_str_t                  tenant_name;
    ngx_str_t                  hash;        /* the password's; or none */
    ngx_uint_t                 locked;      /* seconds left; 0: not locked */
    ngx_uint_t                 ended;       /* 1: a lock has ended the session
                                               while it was pending */
    ngx_uint_t                 enrolling;   /* 1: the session is pending */
    ngx_uint_t                 first;       /* 1: it waits for the user's
                                               first factor */
    ngx_uint_t                 unproved;    /* 1: that needs the address to be
                                               proved before */
    ngx_uint_t                 verified;    /* 1: the address is verified */
    ngx_uint_t                 by_mail;     /* 1: the session began with a code
                                               or a link by mail */
    ngx_uint_t                 forced;      /* 1: the address must come in by a
                                               connection */
    ngx_uint_t                 total;       /* factors, unconfirmed ones too */
    ngx_uint_t                 unconfirmed;

    /* for what is written */

    const ngx_svc_pg_statement_t  *store;   /* stores and confirms the factor */
    ngx_str_t                  macs;        /* array of recovery codes' MACs */
    ngx_str_t                  macs_key;    /* id of the key of the MACs */
    u_char                     codes[NGX_SVC_RECOVERY_CODES]
                                    [NGX_SVC_RECOVERY_LEN];
};

#define ngx_svc_factor_param(field)                                           \
    ngx_svc_param_data(ngx_svc_factor_t, field)


/* Reads the session's user, and what must be known before factors change. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_factor_read;

/*
 * Checks under the user's lock that the session has not ended; or else unsets
 * the tenant for the statements after it.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_factor_check;

/*
 * ..._rotate gives the session a new cookie, and the stage login.stage, after a
 * second factor, or the password, has been presented, as "method" says.
 * ..._added stores the recovery codes of a first factor, and the event.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_factor_rotate;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_factor_added;


/*
 * Call these at the start and at the end of a worker: they make and wipe the
 * keys of recovery codes.  _init_worker() returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_factor_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_factor_exit_worker(void);

/*
 * Derives keys for the purpose that label names.  Returns NGX_OK, or NGX_ERROR
 * when OpenSSL fails.
 */
ngx_int_t ngx_svc_factor_derive(ngx_svc_factor_keys_t *derived,
    const ngx_svc_keys_t *keys, const char *label);

/* For a check: makes sr->data.  Returns NULL when memory runs out. */
ngx_svc_factor_t *ngx_svc_factor_create(ngx_svc_request_t *sr, size_t size);

/*
 * For a reply: takes a row of ngx_svc_sql_factor_read.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set when ngx_svc_login_bars() lets no proof be
 * taken; NGX_ERROR.
 */
ngx_int_t ngx_svc_factor_read(ngx_svc_factor_t *factor, PGresult *res);

/*
 * Tells whether the user may have another factor, and the session may add one.
 * Returns NGX_OK, or NGX_DECLINED with sr->error set.
 */
ngx_int_t ngx_svc_factor_room(ngx_svc_factor_t *factor);

/*
 * Tells whether the session may add a factor: where svc_mail is on, one of the
 * stage "enroll" must have proved the address, as a password alone is not
 * enough.  Returns NGX_OK, or NGX_DECLINED with sr->error set.
 */
ngx_int_t ngx_svc_factor_proved(ngx_svc_factor_t *factor);

/*
 * For ngx_svc_request_again(), in the write pool, with id and method set: adds
 * the user's lock, the check, "store", which stores and confirms the factor or
 * unsets the tenant, and then ..._added and ..._rotate; also what completes a
 * sign-in that has waited for nothing but the factor.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_factor_add(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *store);

/*
 * The reply to that write: sends {"factor", "recoveryCodes"} and the cookies,
 * or an error.
 */
ngx_int_t ngx_svc_factor_added(ngx_svc_request_t *sr);

/*
 * Makes new recovery codes, and their MACs in factor->macs.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_factor_codes(ngx_svc_factor_t *factor);

/* Writes these codes as "recoveryCodes". */
void ngx_svc_factor_write_codes(ngx_svc_json_writer_t *w,
    ngx_svc_factor_t *factor);

/*
 * Computes the MAC of a code that is presented, with the n-th key.  Returns
 * NGX_OK; NGX_DONE when there is no such key; NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_factor_code_mac(const ngx_svc_login_t *login, ngx_uint_t n,
    const u_char code[NGX_SVC_RECOVERY_LEN], u_char mac[NGX_SVC_SHA256_LEN]);

/*
 * For a reply to a write with ngx_svc_sql_factor_check: tells whether the
 * session has not ended.
 */
ngx_uint_t ngx_svc_factor_checked(ngx_svc_request_t *sr);

/* For such a reply: answers 401, as the session has ended. */
ngx_int_t ngx_svc_factor_ended(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_FACTOR_H_INCLUDED_ */
