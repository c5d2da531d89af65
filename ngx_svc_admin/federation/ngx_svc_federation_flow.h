/*
 * A flow: the journey of a browser to an identity provider of its tenant's, and
 * back.
 *
 * It begins with a row that has digests of its state and of the browser's
 * cookie.  Whoever comes back with both takes the row, which is good once.  The
 * provider is asked what its code stands for; then a round trip reads whom that
 * is, and one writes.
 */

#ifndef _NGX_SVC_FEDERATION_FLOW_H_INCLUDED_
#define _NGX_SVC_FEDERATION_FLOW_H_INCLUDED_


#include "ngx_svc_account.h"
#include "ngx_svc_attribute_map.h"
#include "ngx_svc_fetch.h"
#include "ngx_svc_invitation.h"
#include "ngx_svc_provider.h"


#define NGX_SVC_FEDERATION_TEXT      43     /* base64url of 32 bytes */
#define NGX_SVC_FEDERATION_FINISH    "/v1/auth/federation/finish?flow="
#define NGX_SVC_FEDERATION_KEY       35     /* bytes of a connection's key */

/* ms of all fetches of a request */
#define NGX_SVC_FEDERATION_TIME      8000


/* What a flow is for: the names of svc.federation_flow, in their order. */

typedef enum {
    NGX_SVC_FEDERATION_SIGN_IN = 0,
    NGX_SVC_FEDERATION_TO_LINK,
    NGX_SVC_FEDERATION_STEP_UP,
    NGX_SVC_FEDERATION_INVITE,
    NGX_SVC_FEDERATION_TEST             /* nothing comes of it but its result */
} ngx_svc_federation_purpose_e;


/* How far a flow has come, for the result of a test. */

typedef enum {
    NGX_SVC_FEDERATION_AT_METADATA = 0,
    NGX_SVC_FEDERATION_AT_AUTHORIZATION,
    NGX_SVC_FEDERATION_AT_TOKENS,
    NGX_SVC_FEDERATION_AT_ID_TOKEN,
    NGX_SVC_FEDERATION_AT_CLAIMS,
    NGX_SVC_FEDERATION_AT_MAPPING,
    NGX_SVC_FEDERATION_AT_ROW,
    NGX_SVC_FEDERATION_AT_FACTOR,
    NGX_SVC_FEDERATION_STEPS
} ngx_svc_federation_step_e;


/* What decides who somebody is, in the order of the table of federation.md. */

typedef enum {
    NGX_SVC_FEDERATION_OTHER = 0,       /* all is not as it was */
    NGX_SVC_FEDERATION_LINKED,
    NGX_SVC_FEDERATION_INACTIVE,
    NGX_SVC_FEDERATION_UNCOVERED,       /* the user may do more than whoever has
                                           configured the connection */
    NGX_SVC_FEDERATION_UNVERIFIED,
    NGX_SVC_FEDERATION_FORCED,          /* the address must come in by another
                                           connection */
    NGX_SVC_FEDERATION_HELD,            /* a user has the address, and must
                                           sign in to link it */
    NGX_SVC_FEDERATION_LINK,
    NGX_SVC_FEDERATION_NEW,
    NGX_SVC_FEDERATION_NOBODY,
    NGX_SVC_FEDERATION_CONFLICT,        /* of a session: somebody else's, or the
                                           user has another one */
    NGX_SVC_FEDERATION_STRANGER,        /* of a step-up: it is not the user's */
    NGX_SVC_FEDERATION_INVITED,
    NGX_SVC_FEDERATION_MISMATCH,        /* the invitation is somebody else's */
    NGX_SVC_FEDERATION_UNINVITED,       /* it is not good any more */
    NGX_SVC_FEDERATION_MATCHES
} ngx_svc_federation_match_e;


/* A row of svc.social, in the request's pool. */

typedef struct {
    ngx_str_t                  id;          /* 16 bytes */
    ngx_str_t                  key;         /* "google", "oidc-acme" */
    ngx_str_t                  client_id;
    ngx_str_t                  secret;      /* no data: none; Apple's is a
                                               key */
    ngx_str_t                  team_id;     /* Apple's */
    ngx_str_t                  key_id;      /* Apple's */
    ngx_svc_provider_settings_t  settings;
    ngx_str_t                  document;    /* what its issuer publishes, */
    ngx_str_t                  jwks;        /* as text; no data: not known */
    ngx_str_t                  mapping;     /* of attributes, an object */
    ngx_uint_t                 maps_groups;
    ngx_uint_t                 grouped;     /* 1: it does, or has done so */
    ngx_uint_t                 trust_mfa;
} ngx_svc_federation_connection_t;


/* What has come of a flow; texts are of the request's pool. */

typedef struct {
    ngx_str_t                  subject;
    ngx_str_t                  subject_hash;
    ngx_str_t                  link;        /* id of a new link, 16 bytes */
    ngx_str_t                  sealed;      /* the subject, for that id */
    ngx_str_t                  email;       /* no data: none */
    ngx_str_t                  domain;      /* of its key; no data: none */
    ngx_uint_t                 verified;    /* 1: the address is proved */
    ngx_str_t                  first_name;
    ngx_str_t                  last_name;
    ngx_str_t                  display_name;
    ngx_str_t                  attributes[NGX_SVC_ATTRIBUTES];
                                            /* those that are mapped, but for
                                               "email" */
    ngx_str_t                  groups;      /* a JSON array; no data: it is not
                                               said */
    ngx_uint_t                 overage;     /* 1: there are too many to say */
    ngx_str_t                  acr;
    ngx_str_t                  sid;         /* SHA-256; no data: none */
    ngx_str_t                  auth_time;   /* s, as text; no data: not said */
    ngx_uint_t                 recent;      /* 1: that is within 12 hours */
    ngx_uint_t                 factors;     /* kinds of them, by "amr" */
} ngx_svc_federation_proof_t;


/*
 * sr->data, in the request's pool.  It begins with the sign-in, which that of
 * who is invited begins with, too.
 */

typedef struct ngx_svc_federation_flow_s  ngx_svc_federation_flow_t;

/* What is looked at again once newer keys are there. */

typedef struct {
    const char                *what;        /* "ID token" */
    const char                *lacks;       /* why it has no key */
    ngx_int_t                (*check)(ngx_svc_federation_flow_t *flow);
    ngx_int_t                (*over)(ngx_svc_federation_flow_t *flow,
                                     ngx_int_t rc);
} ngx_svc_federation_keys_t;


/* sr->data, in the request's pool.  It begins with the sign-in. */

struct ngx_svc_federation_flow_s {
    union {
        ngx_svc_login_t        login;
        ngx_svc_invitation_t   invited;
    };

    ngx_svc_federation_purpose_e  purpose;
    ngx_svc_federation_step_e  step;        /* the one that is under way */
    ngx_str_t                  key;         /* of the connection, as asked, or
                                               as the path has it */
    ngx_str_t                  return_to;   /* no data: none */
    ngx_str_t                  hint;        /* an address; no data: none */
    ngx_uint_t                 again;       /* 1: people must sign in there once
                                               more */
    ngx_str_t                  max_age;     /* s, since they have; no data:
                                               any */
    ngx_str_t                  acr_values;  /* with spaces between them; no
                                               data: none */

    /* the row */

    ngx_str_t                  id;
    ngx_str_t                  state;
    ngx_str_t                  state_hash;
    ngx_str_t                  cookie;      /* no data: none that is ours */
    ngx_str_t                  cookie_hash; /* with the row's id */
    ngx_str_t                  nonce;
    ngx_str_t                  verifier;    /* of PKCE */
    ngx_str_t                  verifier_sealed;

    /* what the browser has come back with */

    ngx_str_t                  code;
    ngx_str_t                  issuer;
    ngx_str_t                  refusal;     /* "error" */
    ngx_str_t                  refusal_text;
    ngx_str_t                  user;        /* Apple's, a JSON object */
    ngx_uint_t                 posted;      /* 1: it is a form of another site,
                                               and comes without the cookie */
    ngx_uint_t                 finishes;    /* 1: the flow has its proof */
    ngx_str_t                  kept;        /* that, as it was sealed */
    ngx_uint_t                 mailable;    /* 1: a code by mail may prove that
                                               the address is the user's */
    ngx_uint_t                 mailed;      /* 1: one does */
    const ngx_svc_pg_statement_t  *keeps;   /* is written with a refusal, and
                                               stores "kept"; NULL: nothing is
                                               kept */
    ngx_str_t                  profile;     /* GitHub's, a JSON object */
    time_t                     asked;       /* since when the person must have
                                               signed in there; 0: any */
    ngx_str_t                  id_token;
    ngx_str_t                  access_token;
    ngx_str_t                  sub;         /* of the ID token */
    const cJSON               *claims;      /* of the ID token */
    const cJSON               *userinfo;    /* NULL: it was not asked */

    ngx_svc_federation_connection_t  connection;
    ngx_svc_fetch_t            fetch;
    ngx_msec_t                 until;       /* all fetches are over */
    ngx_uint_t                 held;        /* 1: the request's end ends the
                                               fetch */
    ngx_int_t                (*fetched)(ngx_svc_federation_flow_t *flow);
    ngx_svc_federation_keys_t  keys;
    ngx_int_t                (*asked_done)(ngx_svc_federation_flow_t *flow,
                                           ngx_int_t rc);

    ngx_svc_federation_proof_t  proof;
    ngx_svc_federation_match_e  match;
    ngx_str_t                  found;       /* the user's id, as text; no data:
                                               nobody */
    ngx_str_t                  facts;       /* what it was decided by */
    ngx_str_t                  why;         /* for the audit log */
    ngx_str_t                  outcome;     /* of a test, a word */
    ngx_uint_t                 counts;      /* 1: a test has found who has begun
                                               it, and would let him in */
    ngx_uint_t                 proved;      /* 1: the user's own address was,
                                               before the proof came */

    /* of a directory, which has no row here */

    ngx_str_t                  directory;   /* the connection's id, 16 bytes */
    ngx_str_t                  version;     /* its updated_at, as text */
    ngx_str_t                  typed;       /* the id of who has the address
                                               that is typed; no data: nobody */

    /*
     * Is called when it is known whose the proof is: NGX_DECLINED, and the
     * sign-in goes on, or what goes to ngx_http_finalize_request().  NULL: it
     * goes on.
     */
    ngx_int_t                (*known)(ngx_svc_federation_flow_t *flow);

    /* is called when the sign-in is written; NULL: nothing is */
    void                     (*complete)(ngx_svc_federation_flow_t *flow);

    /* the reply to that write; NULL: the ordinary one */
    ngx_int_t                (*written)(ngx_svc_request_t *sr);

    /* ends a test that comes no further than flow->step; NULL: it is none */
    ngx_int_t                (*ended)(ngx_svc_federation_flow_t *flow);
};


#define ngx_svc_federation_param(field)                                       \
    ngx_svc_param_data(ngx_svc_federation_flow_t, field)


/* The purposes' names. */
extern const ngx_str_t  ngx_svc_federation_purposes[];

/* A parameter: the name of the flow's purpose. */
#define ngx_svc_federation_param_purpose()                                    \
    { .bind = ngx_svc_federation_bind_purpose }

/* A parameter: the digest of the session that the flow is of; or NULL. */
#define ngx_svc_federation_param_session()                                    \
    { .bind = ngx_svc_federation_bind_session }


ngx_int_t ngx_svc_federation_bind_purpose(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_federation_bind_session(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/* Binds whether a code by mail proves the address. */
ngx_int_t ngx_svc_federation_bind_mailed(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * Makes a flow's id, its state, nonce and verifier, and takes the browser's
 * cookie, or makes one.  Returns NGX_OK; NGX_DECLINED with sr->error set;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_flow_new(ngx_svc_federation_flow_t *flow);

/*
 * Takes the browser's cookie, if there is a good one.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_flow_cookie(ngx_svc_federation_flow_t *flow);

/* Sends the browser its cookie, for another while.  Returns as that does. */
ngx_int_t ngx_svc_federation_flow_set_cookie(ngx_svc_federation_flow_t *flow);

/*
 * Digests a state that is presented.  Returns NGX_OK; NGX_DECLINED when it can
 * be none of ours; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_flow_state(ngx_svc_federation_flow_t *flow);

/* Makes another state, which no provider has seen.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_federation_flow_renew(ngx_svc_federation_flow_t *flow);

/*
 * Copies an id of PostgreSQL's, as 16 bytes, into the request's pool.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_flow_id(ngx_svc_federation_flow_t *flow,
    ngx_str_t *id, const ngx_str_t *text);

/*
 * The redirect URI of the flow's connection, at the host that the browser is
 * at.  The tenant belongs to it: keys of connections are unique within one
 * alone.  It is of the request's pool; no data: memory has run out.
 */
ngx_str_t ngx_svc_federation_flow_redirect(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_FLOW_H_INCLUDED_ */
