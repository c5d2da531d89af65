/*
 * Authorization requests (RFC 6749, 4.1.1; OpenID Connect Core, 3.1.2.1): what
 * the endpoint, and the API of the page that asks users, have in common.
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


#define NGX_SVC_OAUTH_CODE  43      /* base64url of NGX_SVC_OAUTH_SECRET */

/* A parameter of ours: what was decided on the page; of one request alone. */
#define NGX_SVC_OAUTH_DECIDED  "decided"

/* Likewise: a new sign-in has been asked for, and since when it must be. */
#define NGX_SVC_OAUTH_AUTH_AFTER  "auth_after"

#define NGX_SVC_OAUTH_PROMPT_NONE     0x01
#define NGX_SVC_OAUTH_PROMPT_LOGIN    0x02      /* "select_account", too */
#define NGX_SVC_OAUTH_PROMPT_CONSENT  0x04
#define NGX_SVC_OAUTH_PROMPT_CREATE   0x08      /* and _LOGIN */


/* How a client wants its answer. */

typedef enum {
    NGX_SVC_OAUTH_MODE_QUERY = 0,
    NGX_SVC_OAUTH_MODE_FRAGMENT,
    NGX_SVC_OAUTH_MODE_FORM_POST
} ngx_svc_oauth_mode_e;


typedef struct ngx_svc_oauth_request_s  ngx_svc_oauth_request_t;


/*
 * sr->data; of the request's pool, as all that it points to.  What is a
 * parameter of a statement is NULL when it has no data.
 */

struct ngx_svc_oauth_request_s {
    ngx_svc_oauth_t                oauth;       /* first: the client */

    ngx_str_t                      redirect_uri;
    ngx_str_t                      before;      /* of a loopback URI's port; */
    ngx_str_t                      behind;      /* no data: it is none */
    ngx_svc_oauth_mode_e           mode;
    ngx_str_t                      state;
    ngx_str_t                      nonce;
    ngx_str_t                      challenge;   /* decoded, as jkt */
    ngx_str_t                      jkt;
    ngx_str_t                      resources;   /* arrays, in one order */
    ngx_str_t                      resource_keys;
    ngx_str_t                      max_age;     /* seconds, as text */
    ngx_str_t                      auth_after;  /* since the epoch, likewise */
    ngx_str_t                      again;       /* booleans: a new sign-in, */
    ngx_str_t                      ask;         /*     and a new consent */
    ngx_str_t                      acr;         /* an array: classes of a sign-
                                                   in, the best one first; */
    ngx_str_t                      acr_needed;  /* a boolean: it must be one */
    ngx_str_t                      claims;      /* that are asked for: an array
                                                   as of svc.oauth_grant */
    ngx_str_t                      subject;     /* the user that is meant */
    ngx_uint_t                     prompt;      /* NGX_SVC_OAUTH_PROMPT_... */

    /*
     * What is wrong, said once the client and its redirect URI are known; and
     * before which check: "request", "target" or "scope".
     */
    ngx_str_t                      fault;

    /* The user of id_token_hint; empty: it is not one of ours. */
    ngx_str_t                      hint;
    void                          *hint_jws;    /* while it is not verified */

    ngx_str_t                      digest;      /* of the session; no data:
                                                   there is none */
    ngx_str_t                      code;        /* that may come of it */
    ngx_str_t                      code_digest;

    ngx_str_t                      decision;    /* of the page: "approve" or */
    ngx_str_t                      user_id;     /*     "deny", whose, */
    ngx_str_t                      shown_scopes;        /* and what it has */
    ngx_str_t                      shown_resources;     /* shown: arrays */

    ngx_str_t                      policy;      /* the version of the access
                                                   policy that was judged */

    ngx_str_t                      decided;     /* of the address */

    /*
     * Of one that was pushed (RFC 9126): the address has request_uri, and maybe
     * since; what it asks for is stored.
     */
    ngx_str_t                      pushed;      /* digest of request_uri; no
                                                   data: it is a plain one */
    ngx_str_t                      request_uri;
    ngx_str_t                      since;       /* "auth_after" */
    ngx_str_t                      params;      /* as they are stored */
    ngx_str_t                      browser;     /* digest of its cookie */
    ngx_str_t                      slug;        /* of the client's tenant */
    unsigned                       spent:1;     /* a code or an error has left
                                                   it */
    ngx_int_t                    (*then)(ngx_svc_oauth_request_t *ar);
                                                /* what follows a round trip */

    ngx_svc_oauth_login_e          login;
    const ngx_svc_pg_statement_t  *statement;

    ngx_svc_error_t                error;       /* of fault */
};

#define ngx_svc_oauth_request_param(field)                                    \
    ngx_svc_param_data(ngx_svc_oauth_request_t, field)


/*
 * For a prepare: takes a query apart, into sr->data.  NGX_OK also with a fault;
 * NGX_DECLINED with sr->error: nobody is sent anywhere; NGX_ERROR.  Of one that
 * was pushed no more than the client and ar->pushed is known then.
 */
ngx_int_t ngx_svc_oauth_request_parse(ngx_svc_request_t *sr,
    const ngx_str_t *query, ngx_svc_oauth_request_t **request);

/* The two halves of it: sr->data that asks for nothing yet, or NULL; */
ngx_svc_oauth_request_t *ngx_svc_oauth_request_new(ngx_svc_request_t *sr);

/* and what the parameters in ar->oauth.form ask for.  As above. */
ngx_int_t ngx_svc_oauth_request_form(ngx_svc_oauth_request_t *ar);

/*
 * For a prepare of a public route: takes the session of the cookie, if any, for
 * the credential.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_session(ngx_svc_oauth_request_t *ar);

/*
 * For its reply: of a session that was let in PostgreSQL hears that it is used.
 * What it says of another one is no answer.
 */
void ngx_svc_oauth_request_seen(ngx_svc_oauth_request_t *ar);

/* The digest of the request's session.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_request_digest(ngx_svc_oauth_request_t *ar);

/* A new code.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_request_code(ngx_svc_oauth_request_t *ar);

/*
 * The query once more, each name and value encoded, and without what was
 * decided, and what a new sign-in has done for, when since (seconds since the
 * epoch, as text) says when that must have been; no data: as it was.  NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_query(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *since, ngx_str_t *query);

/*
 * Writes "&", the name and the value, encoded: up to three times as long.
 * Returns what follows it.
 */
u_char *ngx_svc_oauth_request_pair(u_char *p, const char *name,
    const ngx_str_t *value);

/* 1: it asks for a sign-in that is newer than something. */
ngx_uint_t ngx_svc_oauth_request_fresh(const ngx_svc_oauth_request_t *ar);


#endif /* _NGX_SVC_OAUTH_REQUEST_H_INCLUDED_ */
