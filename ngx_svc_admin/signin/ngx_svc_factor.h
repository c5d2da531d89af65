/*
 * Second factors of the user of a session: what is read before they change, and
 * what is written when there is another one, of whichever type.
 *
 * The factor is stored, and is confirmed, by a statement of its own; what
 * follows from it is the same for all.
 */

#ifndef _NGX_SVC_FACTOR_H_INCLUDED_
#define _NGX_SVC_FACTOR_H_INCLUDED_


#include "ngx_svc_login.h"
#include "ngx_svc_recovery.h"


#define NGX_SVC_FACTORS       20        /* of a user */
#define NGX_SVC_FACTOR_NAME   64        /* characters */

/* Keys that are derived of those of svc_key_file. */

typedef struct {
    ngx_uint_t                 n;
    const ngx_svc_key_t       *first;
    u_char                     keys[NGX_SVC_KEYS][NGX_SVC_KEY_LEN];
} ngx_svc_factor_keys_t;


/* Of the request's pool: the part of a sign-in comes first, in sr->data. */

typedef struct ngx_svc_factor_s  ngx_svc_factor_t;

struct ngx_svc_factor_s {
    ngx_svc_login_t            login;
    ngx_str_t                  id;          /* 16 bytes */
    ngx_str_t                  method;      /* "totp", "passkey" */
    ngx_str_t                  more;        /* methods: "{hwk}"; or none */
    ngx_uint_t                 status;      /* of the answer */

    /*
     * Called when the statement that stores it has unset the tenant, with its
     * result: sets sr->error.
     */
    void                     (*refused)(ngx_svc_request_t *sr, PGresult *res);

    /* what has been read */

    ngx_str_t                  email;
    ngx_str_t                  tenant_name;
    ngx_str_t                  hash;        /* of the password; or none */
    ngx_uint_t                 locked;      /* seconds; 0: it is not */
    ngx_uint_t                 ended;       /* by a lock, as it waited */
    ngx_uint_t                 enrolling;   /* a sign-in waits for it */
    ngx_uint_t                 first;       /* and it is the first one, for */
    ngx_uint_t                 unproved;    /* which the address is shown */
    ngx_uint_t                 verified;    /* the address */
    ngx_uint_t                 by_mail;     /* the session began with a code */
    ngx_uint_t                 total;       /* factors, unconfirmed ones too */
    ngx_uint_t                 unconfirmed;

    /* for what is written */

    const ngx_svc_pg_statement_t  *store;   /* what stores and confirms it */
    ngx_str_t                  macs;        /* of the recovery codes */
    ngx_str_t                  macs_key;    /* the id of their key */
    u_char                     codes[NGX_SVC_RECOVERY_CODES]
                                    [NGX_SVC_RECOVERY_LEN];
};

#define ngx_svc_factor_param(field)                                           \
    ngx_svc_param_data(ngx_svc_factor_t, field)


/* The user of a session, and what is to be known before a change. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_factor_read;

/*
 * That the session is alive still, under the user's lock: otherwise there is no
 * tenant for the rest.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_factor_check;

/*
 * The session goes on at login.stage, which a second factor, or the password,
 * has been shown for: method.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_factor_rotate;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_factor_added;


/* A worker's start and end: the keys of recovery codes.  NGX_OK, NGX_ERROR. */
ngx_int_t ngx_svc_factor_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_factor_exit_worker(void);

/* Of a purpose.  NGX_OK, or NGX_ERROR when OpenSSL fails. */
ngx_int_t ngx_svc_factor_derive(ngx_svc_factor_keys_t *derived,
    const ngx_svc_keys_t *keys, const char *label);

/* For a check: makes sr->data.  NULL: memory. */
ngx_svc_factor_t *ngx_svc_factor_create(ngx_svc_request_t *sr, size_t size);

/*
 * For a reply: takes a row of ngx_svc_sql_factor_read.  NGX_OK; NGX_DECLINED
 * with sr->error: no proof is taken from here and now; NGX_ERROR.
 */
ngx_int_t ngx_svc_factor_read(ngx_svc_factor_t *factor, PGresult *res);

/*
 * Whether there may be another one: NGX_OK, or NGX_DECLINED with sr->error.
 */
ngx_int_t ngx_svc_factor_room(ngx_svc_factor_t *factor);

/*
 * Whether the session may add one: whoever knows a password alone does not,
 * where a mail can ask for more.  Likewise.
 */
ngx_int_t ngx_svc_factor_proved(ngx_svc_factor_t *factor);

/*
 * For ngx_svc_request_again(), in the write pool, with id and method set: the
 * user's lock, the check, the statement given, which stores and confirms, or
 * unsets the tenant; then the event, recovery codes if it is the first one, and
 * the session goes on, as a full one when a sign-in has waited for it.
 */
ngx_int_t ngx_svc_factor_add(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *store);

/*
 * Its reply: {"factor", "recoveryCodes"} and the cookies, or what a sign-in
 * that it completes is told.
 */
ngx_int_t ngx_svc_factor_added(ngx_svc_request_t *sr);

/* New recovery codes, and their MACs in factor->macs.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_factor_codes(ngx_svc_factor_t *factor);
void ngx_svc_factor_write_codes(ngx_svc_json_writer_t *w,
    ngx_svc_factor_t *factor);

/*
 * The MAC of a code that is shown, of the n-th key.  NGX_OK; NGX_DONE: there is
 * no such key; NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_factor_code_mac(const ngx_svc_login_t *login, ngx_uint_t n,
    const u_char code[NGX_SVC_RECOVERY_LEN], u_char mac[NGX_SVC_SHA256_LEN]);

/*
 * For a reply to a write whose check did not say "go": 401, the session has
 * ended.
 */
ngx_int_t ngx_svc_factor_ended(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_FACTOR_H_INCLUDED_ */
