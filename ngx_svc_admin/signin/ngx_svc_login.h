/*
 * A sign-in: what its request says, what is read for it, and what it writes.
 *
 * The limits in Redis answer first. A round trip reads, the proof is verified,
 * and a round trip writes under a lock of the user, after it has looked again
 * at what was read.
 */

#ifndef _NGX_SVC_LOGIN_H_INCLUDED_
#define _NGX_SVC_LOGIN_H_INCLUDED_


#include "ngx_svc_access.h"
#include "ngx_svc_limit.h"
#include "ngx_svc_password_queue.h"
#include "ngx_svc_risk.h"
#include "ngx_svc_signin.h"
#include "ngx_svc_stored.h"


#define NGX_SVC_ADMIN_SLUG    63        /* bytes */


/* Why a sign-in fails, as the audit log has it. */

typedef enum {
    NGX_SVC_LOGIN_UNKNOWN = 0,
    NGX_SVC_LOGIN_WRONG,
    NGX_SVC_LOGIN_INACTIVE,
    NGX_SVC_LOGIN_NO_PASSWORD,
    NGX_SVC_LOGIN_BLOCKED,              /* the tenant blocks the address */
    NGX_SVC_LOGIN_POLICY,
    NGX_SVC_LOGIN_RISK
} ngx_svc_login_reason_e;


typedef struct ngx_svc_login_s   ngx_svc_login_t;
typedef struct ngx_svc_method_s  ngx_svc_method_t;
typedef struct ngx_svc_login_directory_s  ngx_svc_login_directory_t;

/* How a method of ngx_svc_method.h begins a session. */

typedef struct {
    ngx_str_t                  methods;     /* of svc.session: "{password}" */
    ngx_uint_t                 factor;      /* 1: it is a second factor, too */
    ngx_uint_t                 unguessed;   /* 1: there is nothing to guess: a
                                               failure does not count for the
                                               lock, and a success does not
                                               end one */
    ngx_svc_error_e            error;       /* the error of each failure */
    const char                *wrong;       /* its message */
    ngx_int_t                (*lost)(ngx_svc_request_t *sr);
                                            /* sets sr->error of a proof that
                                               another request has used up;
                                               NULL: it is a failure */
    const ngx_svc_pg_statement_t  *check;   /* :login_checked */
    const ngx_svc_pg_statement_t  *session; /* stores the session; NULL: as
                                               signin_session_new does */
    const ngx_svc_pg_statement_t  *user_done;

    /*
     * Adds, before the session is stored, what a success changes of the proof.
     * Returns NGX_OK or NGX_ERROR.  Or NULL.
     */
    ngx_int_t                (*proof)(ngx_svc_request_t *sr);

    /* called after the commit, and calls ngx_svc_login_completed(); or NULL */

    ngx_svc_pg_committed_pt    committed;

    /*
     * Answers a sign-in that is complete, as a reply does; NULL: with the
     * session.
     */
    ngx_int_t                (*answer)(ngx_svc_login_t *login);
} ngx_svc_login_method_t;


/*
 * A mailed code, and maybe a link, either a new one or one that is presented.
 * Its strings are the request pool's; those that nobody may find are wiped
 * with the pool.
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
    ngx_str_t                  data;        /* sealed, for the verification */
} ngx_svc_email_challenge_t;


/* Who asks, for which tenant, as the request says. */

typedef struct {
    ngx_str_t                  email;
    ngx_str_t                  mac;         /* of the key of the address */
    ngx_str_t                  slug;        /* the tenant's; no data: none */
    ngx_uint_t                 named;       /* 1: the body names the tenant */
    ngx_str_t                  host;
    ngx_str_t                  request_id;
    ngx_str_t                  old_session; /* digest of the cookie; or none */
    ngx_uint_t                 stored;      /* 1: the password is one that is
                                               stored here */
    ngx_str_t                  device;      /* value of its cookie */
    u_char                     device_hash[NGX_SVC_SHA256_LEN];
} ngx_svc_login_asked_t;


/* What is read of the user. */

typedef struct {
    ngx_uint_t                 enrolled;    /* 1: there is a second factor */
    ngx_uint_t                 unfailed;    /* 1: no failure is to be taken
                                               back */
    ngx_uint_t                 few_sessions;    /* 1: no session, */
    ngx_uint_t                 few_devices;     /* no device is too many */
    ngx_str_t                  begun_ip;    /* address of the first step, of a
                                               sign-in of several requests */
    ngx_msec_t                 begun_age;   /* ms since then; 0: unknown */
} ngx_svc_login_read_t;


typedef struct {
    ngx_uint_t                 enabled;     /* 1: the tenant looks at risks */
    ngx_uint_t                 mfa_from;    /* a score */
    ngx_uint_t                 deny_from;   /* a score */
    ngx_svc_risk_t             found;
    ngx_svc_access_action_e    action;      /* of the risk alone */
    ngx_str_t                  signals;     /* text of those found */
} ngx_svc_login_risk_t;


typedef struct {
    ngx_str_t                  text;        /* normalised */
    ngx_str_t                  sent;        /* as it came */
    const ngx_svc_error_t     *bad;         /* why it can be none that is stored
                                               here; NULL: it may be one */
    ngx_str_t                  version;     /* of the stored one, as text */
    ngx_str_t                  stored;      /* the hash; no data: none */
    ngx_str_t                  rehash;      /* sealed; or none */
    ngx_uint_t                 expired;
    ngx_msec_t                 began;       /* 0: no password is compared */
    ngx_msec_t                 floor;       /* ms; 0: that of hashes */
} ngx_svc_login_password_t;


/* What is written of a success or of a failure. */

typedef struct {
    ngx_str_t                  stage;
    ngx_str_t                  methods;     /* no data: those of the method */
    ngx_uint_t                 factor;      /* 1: a second factor is
                                               presented */
    ngx_str_t                  reason;      /* no data: that of the enum */
} ngx_svc_login_written_t;


/*
 * What a directory does for a sign-in whose password is its: the configuration
 * has it where svc_federation is on.
 */

struct ngx_svc_login_directory_s {
    size_t                     size;        /* of sr->data, which begins with a
                                               ngx_svc_login_t */

    /*
     * For a reply, in place of a hash: asks it, and ends the sign-in.  id is
     * the connection's, as text.
     */
    ngx_int_t                (*ask)(ngx_svc_login_t *login,
                                    const ngx_str_t *id);
};


/* sr->data, of the request's pool. */

struct ngx_svc_login_s {
    ngx_svc_signin_key_t       session;     /* first */
    ngx_svc_request_t         *sr;
    const ngx_svc_login_method_t  *method;  /* NULL: it is no sign-in, or the
                                               method is not known yet */
    ngx_svc_limit_t            limit;
    ngx_int_t                (*next)(ngx_svc_login_t *login);
    ngx_uint_t                 invalid;     /* 1: sr->error says how */
    ngx_uint_t                 checked;     /* 1: the limits have answered */
    ngx_event_t                timer;       /* delays a refusal */

    ngx_svc_login_asked_t      asked;
    ngx_svc_risk_client_t      client;
    ngx_svc_email_challenge_t  mailed;
    ngx_svc_login_password_t   password;

    ngx_svc_stored_row_t       row;         /* ids of tenant and user */
    ngx_str_t                  user;        /* its id; no data: nobody */
    ngx_svc_login_read_t       read;
    ngx_svc_login_risk_t       risk;

    ngx_svc_login_reason_e     reason;      /* unless it succeeds */
    ngx_svc_access_action_e    action;      /* the strictest of policy and
                                               risk */
    ngx_svc_stage_e            stage;
    ngx_svc_login_written_t    written;
};


#define ngx_svc_login_param(field)  ngx_svc_param_data(ngx_svc_login_t, field)


#endif /* _NGX_SVC_LOGIN_H_INCLUDED_ */
