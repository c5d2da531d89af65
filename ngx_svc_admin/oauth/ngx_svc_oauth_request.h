/*
 * Authorization requests (RFC 6749, 4.1.1; OpenID Connect Core, 3.1.2.1): what
 * the endpoint shares with the API of the page that asks users.
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


#define NGX_SVC_OAUTH_CODE  43      /* base64url of NGX_SVC_OAUTH_SECRET */

/*
 * Our own parameter: what the user decided on the page, for one request alone.
 */
#define NGX_SVC_OAUTH_DECIDED  "decided"

/*
 * Our own parameter: a new sign-in is needed, no older than this time (seconds
 * since the epoch).
 */
#define NGX_SVC_OAUTH_AUTH_AFTER  "auth_after"

#define NGX_SVC_OAUTH_PROMPT_NONE     0x01
#define NGX_SVC_OAUTH_PROMPT_LOGIN    0x02      /* "select_account", too */
#define NGX_SVC_OAUTH_PROMPT_CONSENT  0x04
#define NGX_SVC_OAUTH_PROMPT_CREATE   0x08      /* always with _LOGIN */


/* How a client wants its answer. */

typedef enum {
    NGX_SVC_OAUTH_MODE_QUERY = 0,
    NGX_SVC_OAUTH_MODE_FRAGMENT,
    NGX_SVC_OAUTH_MODE_FORM_POST
} ngx_svc_oauth_mode_e;


typedef struct ngx_svc_oauth_request_s  ngx_svc_oauth_request_t;


/*
 * sr->data.  It is of the request's pool, as is everything it points to.  A
 * statement's parameter is NULL when its member has no data.
 */

struct ngx_svc_oauth_request_s {
    ngx_svc_oauth_t                oauth;       /* must be first; the client */

    ngx_str_t                      redirect_uri;
    ngx_str_t                      before;      /* of a loopback URI: what is */
    ngx_str_t                      behind;      /* before and behind its port;
                                                   no data: it is none */
    ngx_svc_oauth_mode_e           mode;
    ngx_str_t                      state;
    ngx_str_t                      nonce;
    ngx_str_t                      challenge;   /* PKCE's, decoded */
    ngx_str_t                      jkt;         /* "dpop_jkt", decoded */
    ngx_str_t                      resources;   /* the text of an array */
    ngx_str_t                      resource_keys;   /* an array in the same
                                                       order */
    ngx_str_t                      max_age;     /* seconds, as text */
    ngx_str_t                      auth_after;  /* seconds since the epoch, as
                                                   text */
    ngx_str_t                      again;       /* a boolean: a new sign-in is
                                                   asked for */
    ngx_str_t                      ask;         /* a boolean: a new consent is
                                                   asked for */
    ngx_str_t                      acr;         /* an array: classes of a sign-
                                                   in, the most wanted first */
    ngx_str_t                      passkey_methods;     /* when a class is */
    ngx_str_t                      password_methods;    /* asked for: arrays, */
    ngx_str_t                      code_methods;        /* for the class */
    ngx_str_t                      acr_needed;  /* a boolean: the sign-in must
                                                   be of one of them */
    ngx_str_t                      claims;      /* that are asked for: an array
                                                   as in svc.oauth_grant */
    ngx_str_t                      subject;     /* the user whom the client
                                                   asks for */
    ngx_uint_t                     prompt;      /* NGX_SVC_OAUTH_PROMPT_... */

    /*
     * The check that has found a fault, which is in error: "request", "target"
     * or "scope".  The client is told at this place among the statement's own
     * checks, when its redirect URI is known.
     */
    ngx_str_t                      fault;

    /* The user of id_token_hint; empty: the hint is not one of ours. */
    ngx_str_t                      hint;
    void                          *hint_jws;    /* until it is verified */

    ngx_str_t                      digest;      /* of the session's token; no
                                                   data: there is no session */
    ngx_str_t                      code;        /* that the client may get */
    ngx_str_t                      code_digest;

    ngx_str_t                      decision;    /* "approve" or "deny" */
    ngx_str_t                      user_id;     /* whom the page has shown */
    ngx_str_t                      shown_scopes;    /* arrays: what the page */
    ngx_str_t                      shown_resources;     /* has shown */

    ngx_str_t                      policy;      /* the version of the access
                                                   policy that was judged */

    ngx_str_t                      decided;     /* NGX_SVC_OAUTH_DECIDED of the
                                                   address, sealed */

    /*
     * A request that was pushed (RFC 9126): the address has request_uri, and
     * maybe since; the parameters are stored.
     */
    ngx_str_t                      pushed;      /* digest of request_uri; no
                                                   data: it was not pushed */
    ngx_str_t                      request_uri;
    ngx_str_t                      since;       /* the address's "auth_after" */
    ngx_str_t                      params;      /* as they are stored */
    ngx_str_t                      browser;     /* digest of the cookie */
    ngx_str_t                      slug;        /* the tenant's */
    unsigned                       spent:1;     /* the client has got a code or
                                                   an error for it */
    ngx_int_t                    (*then)(ngx_svc_oauth_request_t *ar);
                                                /* called after a round trip */

    ngx_svc_oauth_login_e          login;
    const ngx_svc_pg_statement_t  *statement;

    ngx_svc_error_t                error;       /* what the fault is */
};

#define ngx_svc_oauth_request_param(field)                                    \
    ngx_svc_param_data(ngx_svc_oauth_request_t, field)


/*
 * Takes a query apart, into sr->data.  Call it in a prepare.  If the request
 * was pushed, only what its address has is known then: the client and
 * ar->pushed.  Returns NGX_OK, also with a fault; NGX_DECLINED with sr->error
 * set: the browser is not sent to the client; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_parse(ngx_svc_request_t *sr,
    const ngx_str_t *query, ngx_svc_oauth_request_t **request);

/* Makes sr->data, which asks for nothing yet; returns NULL without memory. */
ngx_svc_oauth_request_t *ngx_svc_oauth_request_new(ngx_svc_request_t *sr);

/*
 * Takes the parameters in ar->oauth.form, except the client's.  Returns what
 * ngx_svc_oauth_request_parse() does.
 */
ngx_int_t ngx_svc_oauth_request_form(ngx_svc_oauth_request_t *ar);

/*
 * Takes the session of the cookie, if there is one, for the credential.  Call
 * it in the prepare of a public route.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_session(ngx_svc_oauth_request_t *ar);

/*
 * Checks that session, so that PostgreSQL learns that it is used.  Call it in
 * the reply.  A session that was not let in is no error: the request has no
 * session.
 */
void ngx_svc_oauth_request_seen(ngx_svc_oauth_request_t *ar);

/*
 * Sets ar->digest to that of the request's session.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_digest(ngx_svc_oauth_request_t *ar);

/* Makes ar->code and its digest.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_request_code(ngx_svc_oauth_request_t *ar);

/*
 * Writes the query once more, with each name and value encoded, and without
 * NGX_SVC_OAUTH_DECIDED.  since: the time that the next sign-in must not be
 * older than, in seconds since the epoch, as text; it takes the place of the
 * parameters that ask for a new sign-in.  No data: these stay as they are.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_query(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *since, ngx_str_t *query);

/*
 * Writes "&", the name, "=" and the value.  Name and value are encoded, which
 * makes them up to three times as long.  Returns the end of what it has
 * written.
 */
u_char *ngx_svc_oauth_request_pair(u_char *p, const char *name,
    const ngx_str_t *value);

/* Returns 1 if the request asks for a sign-in that may have to be a new one. */
ngx_uint_t ngx_svc_oauth_request_fresh(const ngx_svc_oauth_request_t *ar);


#endif /* _NGX_SVC_OAUTH_REQUEST_H_INCLUDED_ */
