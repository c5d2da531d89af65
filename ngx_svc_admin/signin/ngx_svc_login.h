/*
 * A sign-in: what is read for it, decided, and written.
 *
 * The limits in Redis come first, then a read, the proof, as the hash of a
 * password in a thread, and a write, which looks again at what has been read,
 * under the user's lock.
 */

#ifndef _NGX_SVC_LOGIN_H_INCLUDED_
#define _NGX_SVC_LOGIN_H_INCLUDED_


#include "ngx_svc_access.h"
#include "ngx_svc_limit.h"
#include "ngx_svc_login_policy.h"
#include "ngx_svc_password_queue.h"
#include "ngx_svc_risk.h"
#include "ngx_svc_signin.h"
#include "ngx_svc_stored.h"


#define NGX_SVC_ADMIN_SLUG    63        /* bytes */


/* Why it fails, as the audit log has it. */

typedef enum {
    NGX_SVC_LOGIN_UNKNOWN = 0,
    NGX_SVC_LOGIN_WRONG,
    NGX_SVC_LOGIN_INACTIVE,
    NGX_SVC_LOGIN_NO_PASSWORD,
    NGX_SVC_LOGIN_BLOCKED,              /* the address, by the administrator */
    NGX_SVC_LOGIN_POLICY,
    NGX_SVC_LOGIN_RISK,
    NGX_SVC_LOGIN_CLONED                /* a passkey has counted backwards */
} ngx_svc_login_reason_e;


/* What is shown first: a password, a passkey, or what has come by mail. */

typedef struct {
    ngx_str_t                  methods;     /* of svc.session: "{password}" */
    ngx_uint_t                 factor;      /* 1: does for a second one, too;
                                               then a failure does not count
                                               for the lock, nor is a success
                                               the end of it */
    ngx_svc_error_e            error;       /* what is said of all failures */
    const char                *wrong;
    ngx_int_t                (*lost)(ngx_svc_request_t *sr);
                                            /* sr->error of what somebody else
                                               has used up; NULL: that */
    const ngx_svc_pg_statement_t  *check;   /* says a verdict */
    const ngx_svc_pg_statement_t  *user_done;
    const ngx_svc_pg_statement_t  *shown;   /* what else is stored of it */
} ngx_svc_login_method_t;


/*
 * A code, and maybe a link, by mail: one that is made, or what of one has come
 * back; of the request's pool, all that nobody may find is wiped with it.
 */

typedef struct {
    ngx_str_t                  kind;        /* "sign_in", as in PostgreSQL */
    ngx_str_t                  id;          /* no data: it is not known */
    ngx_str_t                  mac;         /* of the address */
    ngx_str_t                  code;        /* six digits */
    ngx_str_t                  code_mac;
    ngx_str_t                  token;       /* of the link; or none */
    ngx_str_t                  token_hash;
    ngx_str_t                  binding;     /* of the browser; or none */
    ngx_str_t                  binding_hash;
    ngx_str_t                  data;        /* what is to be; or none */
} ngx_svc_email_challenge_t;


/* Of the request's pool: sr->data. */

typedef struct ngx_svc_login_s  ngx_svc_login_t;

struct ngx_svc_login_s {
    ngx_svc_signin_key_t       session;     /* first */
    ngx_svc_request_t         *sr;
    const ngx_svc_login_method_t  *method;  /* NULL: it is not a sign-in */
    ngx_svc_limit_t            limit;
    ngx_int_t                (*next)(ngx_svc_login_t *login);
    ngx_svc_password_job_t    *job;         /* under way, or NULL */
    ngx_uint_t                 invalid;     /* 1: sr->error says how */
    ngx_uint_t                 checked;     /* 1: the limits have answered */
    ngx_msec_t                 began;       /* 0: with no password */
    ngx_event_t                timer;       /* of what is refused */

    /* of the request */

    ngx_str_t                  email;
    ngx_str_t                  password;    /* normalised */
    ngx_str_t                  slug;        /* no data: none */
    ngx_uint_t                 named;       /* 1: by the body */
    ngx_str_t                  host;
    ngx_str_t                  mac;         /* of the address */
    ngx_str_t                  request_id;
    ngx_str_t                  old_session; /* the cookie's digest; or none */
    ngx_svc_risk_client_t      client;
    ngx_svc_email_challenge_t  mailed;

    /* what has been read */

    ngx_svc_stored_row_t       row;
    ngx_str_t                  user;        /* its id; no data: nobody */
    ngx_str_t                  version;     /* of the password, as text */
    ngx_svc_login_reason_e     reason;      /* unless it succeeds */
    ngx_svc_access_action_e    action;      /* of policy, then of both */
    ngx_svc_risk_t             risk;
    ngx_svc_access_action_e    risk_action;
    ngx_uint_t                 enrolled;
    ngx_uint_t                 unfailed;    /* 1: nothing to take back */
    ngx_uint_t                 expired;
    ngx_uint_t                 few;         /* 1: no session is one too many */
    ngx_uint_t                 few_devices; /* likewise */
    ngx_uint_t                 risky;       /* 1: the tenant looks at risks */
    ngx_uint_t                 risk_mfa;    /* then: from which score on */
    ngx_uint_t                 risk_deny;
    ngx_str_t                  stored;      /* the hash; no data: none */
    ngx_svc_stage_e            stage;
    ngx_uint_t                 trusted;     /* 1: by a second factor */
    ngx_str_t                  begun_ip;    /* of the first step of several; */
    ngx_msec_t                 begun_age;   /* ms, 0: nothing is known of it */

    /* for what is written */

    ngx_str_t                  stage_name;
    ngx_str_t                  methods;     /* none: those of the method */
    ngx_str_t                  signals;
    ngx_str_t                  rehash;      /* sealed; or none */
    ngx_str_t                  reason_name;
    ngx_str_t                  device;      /* the cookie's value */
    u_char                     device_hash[NGX_SVC_SHA256_LEN];
};


#define ngx_svc_login_param(field)  ngx_svc_param_data(ngx_svc_login_t, field)


/* ngx_svc_login_request.c */

/*
 * Takes all there is to take of the request.  NGX_OK; NGX_DECLINED with
 * sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_login_request(ngx_svc_login_t *login);

/*
 * Likewise, but for the session that the browser has: of a route with these
 * members, "email" and "tenant".
 */
extern const ngx_svc_member_t  ngx_svc_login_address_members[];
ngx_int_t ngx_svc_login_address(ngx_svc_login_t *login);

/*
 * The part of it that others need too: where it comes from, and which tenant it
 * is for, unless that is known already, with NULL.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_take_client(ngx_svc_login_t *login,
    ngx_svc_value_t *tenant);

/* Of this, the tenant and the Host alone.  Likewise. */
ngx_int_t ngx_svc_login_take_site(ngx_svc_login_t *login,
    ngx_svc_value_t *tenant);

/* And the session that the browser has, which is to end.  Likewise. */
ngx_int_t ngx_svc_login_take_session(ngx_svc_login_t *login);

/*
 * For a reply: who the user of the request's session is, from a row with the
 * columns _tenant, _user, _email, _password, risk and signals; what it keeps is
 * of the request's pool.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_take_user(ngx_svc_login_t *login, PGresult *res);

/* A copy of a value, of the request's pool.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_login_copy(ngx_svc_login_t *login, ngx_str_t *dst,
    ngx_str_t value);

/* The check of a member that is a tenant's slug (ngx_svc_check_pt). */
ngx_int_t ngx_svc_login_slug(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


/* ngx_svc_login_limit.c */

/*
 * For a public route: makes sr->data, of so many bytes, zeros, which begin with
 * a ngx_svc_login_t, and has take() fill it in: NGX_OK; NGX_DECLINED with
 * sr->error: login->invalid; NGX_ERROR.  Returns NULL: memory, or that.
 */
ngx_svc_login_t *ngx_svc_login_create(ngx_svc_request_t *sr, size_t size,
    const ngx_svc_login_method_t *method,
    ngx_int_t (*take)(ngx_svc_login_t *login));

/*
 * For the prepare of a public route: counts the request, as a login's unless
 * login->limit.family says otherwise.  NGX_OK: the limits
 * have answered; NGX_DONE: they will, and then it is called again; otherwise
 * what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_login_limit(ngx_svc_login_t *login);

/* Such a prepare: the two, and then ngx_svc_login_admitted(). */
ngx_int_t ngx_svc_login_prepare(ngx_svc_request_t *sr, size_t size,
    const ngx_svc_login_method_t *method,
    ngx_int_t (*take)(ngx_svc_login_t *login));

/*
 * Of limits that have answered: NGX_OK; NGX_DECLINED with sr->error: it is one
 * too many, which the audit log is told once in a window.
 */
ngx_int_t ngx_svc_login_limited(ngx_svc_login_t *login);

/*
 * For the reply of a route of sessions, with limit.family set, and limit.mac
 * unless it is that of login->mac: counts the request, and then calls next(),
 * and returns what that returns, or what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_login_limit_then(ngx_svc_login_t *login,
    ngx_int_t (*next)(ngx_svc_login_t *login));

/*
 * Then: adds the route's statements to sr->op.  NGX_OK; NGX_DECLINED with
 * sr->error: it is one too many, or login->invalid; NGX_ERROR.
 */
ngx_int_t ngx_svc_login_admitted(ngx_svc_login_t *login);

/*
 * Of a sign-in whose first step is another request's: takes the columns of
 * how that began, NGX_OK or NGX_ERROR; and, when it is complete, takes so
 * many hits back, of that request and others of before, and of login->mac.
 */
ngx_int_t ngx_svc_login_begun(ngx_svc_login_t *login, PGresult *res);
void ngx_svc_login_give_back(ngx_svc_login_t *login, ngx_uint_t hits);

/* The cookie of a device: its name, and how long it is kept, in seconds. */
extern const ngx_str_t  ngx_svc_login_device_name;
#define NGX_SVC_LOGIN_DEVICE_AGE  (400 * 86400)


/* ngx_svc_login_read.c */

extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_tenant;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_risk;

/*
 * Takes what has been read, of the tenant and of the user, and the policies'
 * decisions.  NGX_OK: what is shown is to be looked at, and login->reason is
 * NGX_SVC_LOGIN_WRONG, unless it fails already; NGX_DECLINED with sr->error;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_login_decide(ngx_svc_login_t *login, PGresult *tenant,
    PGresult *user);

/*
 * And then, before ngx_svc_login_stage(): the risk, from a row of
 * :risk_signals.  Unless login->risky it need not have been read.
 */
void ngx_svc_login_take_risk(ngx_svc_login_t *login, PGresult *risks);

/*
 * Of what is right: how far it comes, or login->risk_action denies it.
 * by_mail: 1: it came by mail.
 */
void ngx_svc_login_stage(ngx_svc_login_t *login, ngx_uint_t by_mail);

/*
 * For a reply, when that was NGX_DECLINED: what is denied is written down, and
 * then sent.
 */
ngx_int_t ngx_svc_login_declined(ngx_svc_login_t *login);

/*
 * Parts of it: of the result of ngx_svc_sql_signin_tenant, likewise; when that
 * has no row, NGX_OK if one was named; of the columns of :login_governance
 * and "locked", seconds or NULL, likewise.
 */
ngx_int_t ngx_svc_login_tenant(ngx_svc_login_t *login, PGresult *res);
ngx_int_t ngx_svc_login_no_tenant(ngx_svc_login_t *login);
ngx_int_t ngx_svc_login_denied(ngx_svc_login_t *login, PGresult *res);


/*
 * Whether a block of the address, "blocked", or the policy refuses to take a
 * proof.  Sets login->action, and login->reason with sr->error.  NGX_OK,
 * NGX_DECLINED or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_bars(ngx_svc_login_t *login, PGresult *res);


/* ngx_svc_login_seen.c */

/*
 * A complete sign-in: where it comes from, then what is mailed of a device that
 * is new, and then the device and the browser; and those that are one too many.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_seen;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_notice;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_device;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_devices;
const ngx_svc_pg_statement_t *ngx_svc_login_notice(ngx_svc_request_t *sr);


/* A parameter: login->trusted. */
ngx_int_t ngx_svc_login_bind_trusted(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


/* ngx_svc_login_write.c */

extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_tenant_write;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_lock;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_check;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_new;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_old;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user_done;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user_kept;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_done;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_rehash;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_made;

/* Adds statements up to a NULL.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_login_calls(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *const *list);

/* The bind of the risk's score. */
ngx_int_t ngx_svc_login_bind_score(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * For ngx_svc_request_again(), in the write pool: adds what a success writes;
 * and the reply to it.
 */
ngx_int_t ngx_svc_login_success(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_login_success_reply(ngx_svc_request_t *sr);

/*
 * Parts of them, for who has statements of his own: what those of the session
 * bind, NGX_OK or NGX_ERROR; and the answer of the stage, of a full one with
 * the result of ngx_svc_sql_signin_session_made.
 */
ngx_int_t ngx_svc_login_begin(ngx_svc_login_t *login);
ngx_int_t ngx_svc_login_end(ngx_svc_login_t *login);

/* Adds the cookie of the device to an answer.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_login_set_device(ngx_svc_login_t *login);

/*
 * What completes a sign-in that has waited for something, NGX_OK or NGX_ERROR;
 * and the committed hook of a write with it: user.login, and the mail about a
 * device that is new.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_waits;
ngx_int_t ngx_svc_login_complete(ngx_svc_request_t *sr);
void ngx_svc_login_completed(const ngx_svc_pg_results_t *results);

/* The event alone, by the results that name tenant and user. */
void ngx_svc_login_emit(PGresult *tenant, PGresult *done);


/* ngx_svc_login_failure.c */


extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_failure;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_denied;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_mfa_failure;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_failed_user;

/*
 * For ngx_svc_request_again(), in the write pool: adds what a failure writes,
 * of nobody, or of a session's user; and the reply to it.
 */
ngx_int_t ngx_svc_login_failure(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_login_failed_again(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_login_failed_by(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *s);
ngx_int_t ngx_svc_login_failure_reply(ngx_svc_request_t *sr);

/*
 * For such a reply: NGX_DECLINED, the failure does not lock the account.
 * Else sets sr->error, has the limits know of the lock, and then calls next(),
 * and returns what that returns, or what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_login_failure_locks(ngx_svc_login_t *login,
    ngx_int_t (*next)(ngx_svc_request_t *sr));


/* ngx_svc_login_refused.c */

/*
 * For a reply behind the hash: sends sr->error, of a sign-in when it has taken
 * the "floor" of svc_password_hash, or a whole multiple of it.
 */
ngx_int_t ngx_svc_login_refused(ngx_svc_login_t *login);

/*
 * For a reply: of a result of ngx_svc_sql_signin_check that does not say "go".
 */
ngx_int_t ngx_svc_login_lost(ngx_svc_request_t *sr, PGresult *res);

/*
 * For a request of a session whose proof is not taken: writes login->reason,
 * and says so.  And of a read that has not returned NGX_OK: that, when it was
 * ngx_svc_login_bars(), and otherwise sr->error, or 500.
 */
ngx_int_t ngx_svc_login_bar(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_login_unread(ngx_svc_request_t *sr, ngx_int_t rc);

/* The one answer to whatever is wrong with what is shown. */
ngx_int_t ngx_svc_login_wrong(ngx_svc_request_t *sr);

/* 403 access_denied. */
ngx_int_t ngx_svc_login_barred(ngx_svc_request_t *sr);

/* 429 account_locked. */
ngx_int_t ngx_svc_login_locked(ngx_svc_request_t *sr, ngx_uint_t seconds);


#endif /* _NGX_SVC_LOGIN_H_INCLUDED_ */
